"""The other programs of the race, each as one process: a solver, rows, labels; prints what it decided and how long.

Only the solving is timed: reading the rows and handing them over is not.
"""

import json
import sys
import time
import warnings

import numpy
from scipy.optimize import linprog
from sklearn.svm import LinearSVC


def appended(x, y):
    """z with the appended coordinate 1."""
    return numpy.hstack([x, numpy.ones((len(x), 1), x.dtype)]).astype(float) * y[:, None]


def feasible(z, method):
    """Some w with Zw ≥ 1, or none."""
    n, d = z.shape
    start = time.perf_counter()
    done = linprog(numpy.zeros(d), A_ub=-z, b_ub=-numpy.ones(n), bounds=(None, None), method=method)
    verdict = {0: "complete", 2: "not complete"}.get(done.status, done.message)
    return verdict, time.perf_counter() - start


def hull(z, method):
    """λ ≥ 0 with Zᵀλ = 0 and Σλ = 1, or none: the dual problem, with as few constraints as features."""
    n, d = z.shape
    start = time.perf_counter()
    system, right = numpy.vstack([z.T, numpy.ones(n)]), numpy.append(numpy.zeros(d), 1.0)
    done = linprog(numpy.zeros(n), A_eq=system, b_eq=right, bounds=(0, None), method=method)
    verdict = {0: "not complete", 2: "complete"}.get(done.status, done.message)
    return verdict, time.perf_counter() - start


def liblinear(x, y, price):
    """A soft margin at a high price: without mistakes it shows that the rows are separable; otherwise it shows nothing."""
    start = time.perf_counter()
    model = LinearSVC(loss="hinge", C=price, tol=1e-6, max_iter=2000).fit(x, y)
    verdict = "complete" if (model.predict(x) == y).all() else "still makes mistakes"
    return verdict, time.perf_counter() - start


SOLVERS = {
    "highs-primal": lambda x, y: feasible(appended(x, y), "highs-ds"),
    "highs-dual": lambda x, y: hull(appended(x, y), "highs-ds"),
    "highs-ipm": lambda x, y: hull(appended(x, y), "highs-ipm"),
    # Without the appended coordinate, for rows that have their own.
    "highs-primal-origin": lambda x, y: feasible(x * y[:, None], "highs"),
    "highs-dual-origin": lambda x, y: hull(x * y[:, None], "highs"),
    "liblinear": lambda x, y: liblinear(x.astype(float), y, 1e6),
}


def main():
    warnings.filterwarnings("ignore")
    solver, rows, labels = sys.argv[1:]
    x, y = numpy.load(rows), numpy.load(labels)
    verdict, seconds = SOLVERS[solver](x, y)
    print(json.dumps({"verdict": verdict, "seconds": seconds}))


if __name__ == "__main__":
    main()
