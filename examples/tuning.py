"""Tuning: with a search of scikit-learn over a pipeline, and with the search of linsep.

    python examples/tuning.py          (needs scikit-learn)
"""

from pathlib import Path

import linsep
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

DATA = Path(__file__).resolve().parents[1] / "data"

tumours = linsep.read(DATA / "breast_cancer.csv")
train_X, test_X, train_y, test_y = train_test_split(tumours.X, tumours.y, random_state=0, stratify=tumours.y)

# The estimators are those of scikit-learn: pipelines, clones, searches.
pipeline = make_pipeline(StandardScaler(), linsep.LinearSVM(scale="none"))
search = GridSearchCV(pipeline, {"linearsvm__C": [0.01, 0.1, 1.0], "linearsvm__loss": ["hinge", "squared-hinge"]})
search.fit(train_X, train_y)
print("grid search:", search.best_params_, f"{search.score(test_X, test_y):.3f}")

# One call searches preparation, learner and penalty on the same folds, and says what error to expect of new rows.
tuned = linsep.TunedClassifier(judge="aside").fit(train_X, train_y)
chosen = tuned.tuned_.chosen
estimate = tuned.tuned_.estimate
print(f"tuned: {chosen['learner']}, C={chosen['C']}, features={chosen['features']}")
print(f"expected error {estimate['error']:.3f}, on new rows {1 - tuned.score(test_X, test_y):.3f}")
