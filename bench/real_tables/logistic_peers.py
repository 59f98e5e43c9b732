"""Processor seconds and weights of logistic regression by scikit-learn and LIBLINEAR, rows in memory: training alone.

Arguments: file, C, the class against the rest or "-" for all classes together. One JSON line for each program.
"""

import json
import sys
import time
import warnings

import numpy
from liblinear.liblinearutil import parameter, problem, train
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression

REPEATS = 5


def losses(scores, codes):
    """Σ −ln of the probability of each row's class."""
    if scores.ndim == 1:
        return numpy.logaddexp(0.0, numpy.where(codes == 1, -scores, scores)).sum()
    largest = scores.max(axis=1, keepdims=True)
    sums = largest[:, 0] + numpy.log(numpy.exp(scores - largest).sum(axis=1))
    return (sums - scores[numpy.arange(len(codes)), codes]).sum()


def best_of(run):
    best, result = float("inf"), None
    for _ in range(REPEATS):
        before = time.process_time()
        result = run()
        best = min(best, time.process_time() - before)
        if best > 10:
            break
    return best, result


def tell(name, penalty, intercept, seconds, objective):
    record = {"name": name, "penalty": penalty, "intercept": intercept, "seconds": seconds, "objective": objective}
    print(json.dumps(record), flush=True)


def main():
    path, c, positive = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    x, y = load_svmlight_file(path)
    x.indices, x.indptr = x.indices.astype(numpy.int32), x.indptr.astype(numpy.int32)
    names = numpy.unique(y)
    if positive != "-":
        codes = (y == float(positive)).astype(int)
    else:
        codes = numpy.searchsorted(names, y)
    two = codes.max() == 1
    price = {"l1": lambda w: numpy.abs(w).sum(), "l2": lambda w: 0.5 * (w * w).sum()}
    solvers = [("lbfgs", "l2"), *([("liblinear", "l1")] if two else [])]
    for solver, penalty in solvers:
        ratio = {"l1_ratio": 1.0} if penalty == "l1" else {}
        model = LogisticRegression(C=c, solver=solver, **ratio)
        if solver == "liblinear":
            # Its intercept is a weight like the others; without one the problem is the same.
            model.set_params(fit_intercept=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, _ = best_of(lambda: model.fit(x, codes))
        weights = model.coef_[0] if two else model.coef_.T
        scores = x @ weights + model.intercept_
        objective = price[penalty](weights) + c * losses(scores, codes)
        tell(f"scikit-learn {solver}", penalty, bool(model.fit_intercept), seconds, objective)
    if not two:
        return
    signs = 2.0 * codes - 1.0
    held = problem(signs, x)
    for solver, penalty in ((0, "l2"), (7, "l2"), (6, "l1")):
        seconds, model = best_of(lambda: train(held, parameter(f"-s {solver} -c {c} -q")))
        weights = numpy.array(model.w[: x.shape[1]])
        scores = x @ weights
        # The first label that it met is the positive one.
        if model.label[0] < 0:
            scores = -scores
        tell(f"LIBLINEAR -s {solver}", penalty, False, seconds, price[penalty](weights) + c * losses(scores, codes))


if __name__ == "__main__":
    main()
