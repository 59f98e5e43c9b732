"""A spam classifier: train, judge on messages that it has not seen, choose by probability, save, load.

    python examples/spam.py
"""

import tempfile
from pathlib import Path

import linsep
import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data"

mails = linsep.read(DATA / "spam.csv")
X, y = mails
order = np.random.default_rng(0).permutation(len(X))
train, test = order[:3000], order[3000:]

model = linsep.LogisticRegression().fit(X[train], y[train])
print(f"right on unseen messages: {model.score(X[test], y[test]):.3f}")
print(f"the optimum is missed by at most {model.duality_gap_:.1e} of the objective")

# What speaks most for spam: the weights are in the units of the table.
strongest = np.argsort(model.coef_[0] * X[train].std(axis=0))[::-1][:5]
print("signs of spam:", [mails.feature_names[j] for j in strongest])

# Only what is almost certain goes to the spam folder.
spam = model.classes_.tolist().index("spam")
sure = model.predict_proba(X[test])[:, spam] > 0.95
print(f"moved: {sure.sum()}, of which {np.mean(y[test][sure] == 'spam'):.1%} are spam")

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "spam.model"
    # The file is that of the command line: linsep predict spam.model messages.npy
    model.save(path)
    again = linsep.load(path)
    assert np.array_equal(again.predict(X[test]), model.predict(X[test]))
print("saved and loaded")
