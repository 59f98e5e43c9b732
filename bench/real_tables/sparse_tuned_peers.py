"""The test error of one tuned linear classifier of another library, as JSON: sparse_tuned_peers.py PEER TRAIN TEST"""

import json
import sys
import warnings

import numpy
from sklearn.datasets import load_svmlight_files
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

# The two solvers that LIBLINEAR chooses C for: logistic regression and the squared hinge.
LIBLINEAR_SOLVERS = {"LIBLINEAR -s 0 -C": 0, "LIBLINEAR -s 2 -C": 2}


def liblinear(solver, train, labels, test):
    from liblinear.liblinearutil import predict, train as fit

    best, _, rate = fit(labels, train, f"-s {solver} -C -q")
    model = fit(labels, train, f"-s {solver} -c {best} -q")
    answers, _, _ = predict([], test, model, "-q")
    return numpy.array(answers), {"C": best, "held out": 100 * (1 - rate)}


def scikit_learn(model, train, labels, test):
    model.fit(train, labels)
    return model.predict(test), {}


def main():
    warnings.simplefilter("ignore")
    peer, *files = sys.argv[1:4]
    train, labels, test, truth = load_svmlight_files(files)
    for rows in (train, test):
        # The loader gives 64-bit columns, which some learners refuse.
        rows.indices, rows.indptr = rows.indices.astype(numpy.int32), rows.indptr.astype(numpy.int32)
    if peer in LIBLINEAR_SOLVERS:
        answers, more = liblinear(LIBLINEAR_SOLVERS[peer], train, labels, test)
    elif peer == "LogisticRegressionCV":
        answers, more = scikit_learn(LogisticRegressionCV(cv=5, max_iter=1000), train, labels, test)
    else:
        grid = {"C": [1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 100]}
        answers, more = scikit_learn(GridSearchCV(LinearSVC(random_state=0), grid, cv=5), train, labels, test)
    print(json.dumps({"error": 100 * float(numpy.mean(answers != truth)), **more}))


if __name__ == "__main__":
    main()
