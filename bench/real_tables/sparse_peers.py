"""Test errors of scikit-learn's linear classifiers with their defaults, as JSON: sparse_peers.py TRAIN TEST"""

import json
import sys
import warnings

import numpy
from sklearn import linear_model
from sklearn.datasets import load_svmlight_files
from sklearn.svm import LinearSVC

LEARNERS = {
    "LinearSVC": LinearSVC,
    "LogisticRegression": linear_model.LogisticRegression,
    "SGDClassifier": linear_model.SGDClassifier,
    "Perceptron": linear_model.Perceptron,
    # It is to leave scikit-learn.
    "PassiveAggressive": getattr(linear_model, "PassiveAggressiveClassifier", None),
}


def main():
    warnings.simplefilter("ignore")
    train, train_labels, test, test_labels = load_svmlight_files(sys.argv[1:3])
    for rows in (train, test):
        # The loader gives 64-bit columns, which some learners refuse.
        rows.indices, rows.indptr = rows.indices.astype(numpy.int32), rows.indptr.astype(numpy.int32)
    errors = {}
    for name, learner in LEARNERS.items():
        if learner is None:
            continue
        seeded = {} if name == "LogisticRegression" else {"random_state": 0}
        model = learner(**seeded).fit(train, train_labels)
        errors[name] = 100 * float(numpy.mean(model.predict(test) != test_labels))
    print(json.dumps(errors))


if __name__ == "__main__":
    main()
