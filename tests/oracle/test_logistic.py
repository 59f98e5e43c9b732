"""Logistic regression: scikit-learn and LIBLINEAR must not find a smaller objective, nor other probabilities."""

import numpy
import pytest
from conftest import PROBLEMS, Table, tensors
from liblinear.liblinearutil import train
from scipy.special import expit, logsumexp, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

# A peer that gives up early has a larger objective, which is what is asked of it.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PRICES = [0.01, 1.0, 100.0]
# Of the names here: the share of the absolute weights, and scikit-learn's solver of that problem.
PENALTIES = {"l2": (0.0, "lbfgs"), "l1": (1.0, "saga"), "elastic-net": (0.5, "saga")}


def cost(weights, share):
    return share * numpy.abs(weights).sum() + (1 - share) / 2 * (weights**2).sum()


def objective(weights, intercept, x, y, price, share):
    """penalty + C Σ ln(1 + exp(−y·score)), from its definition."""
    return cost(weights, share) + price * numpy.logaddexp(0, -y * (x @ weights + intercept)).sum()


def linsep(program, table, price, penalty, *options):
    path = program.folder / "model.safetensors"
    ratio = ["--l1-ratio", "0.5"] if penalty == "elastic-net" else []
    report = program.record(
        "train", table.path, "--learner", "logistic", "--penalty", penalty, "--C", repr(price), *ratio,
        "--gap", "1e-9", "--scale", "standard", "-o", path, *options,
    )  # fmt: skip
    return tensors(path), report


def check(report, ours, theirs):
    detail = report["detail"]
    assert report["status"] == "converged"
    assert ours == pytest.approx(detail["primal"], rel=1e-9)
    # Theirs is no smaller than what is proved of all weights, and ours is no larger than theirs.
    assert theirs >= detail["dual"] * (1 - 1e-12)
    assert ours <= theirs * (1 + 1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("name", ["setosa", "virginica", "breast_cancer"])
def test_two_classes(program, name, price, penalty):
    table, (share, solver) = Table(*PROBLEMS[name]), PENALTIES[penalty]
    x = StandardScaler().fit_transform(table.x)
    peer = LogisticRegression(C=price, l1_ratio=share, solver=solver, tol=1e-10, max_iter=20_000)
    peer.fit(x, table.y)
    theirs = objective(peer.coef_[0], peer.intercept_[0], x, table.y, price, share)
    model, report = linsep(program, table, price, penalty, *table.arguments)
    weights, intercept = model["theta.weights"], model["theta.bias"][0]
    check(report, objective(weights, intercept, x, table.y, price, share), theirs)
    if penalty == "l2":
        # Probabilities move by the root of what the objective is off.
        assert numpy.abs(expit(x @ weights + intercept) - peer.predict_proba(x)[:, 1]).max() < 1e-4


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("price", PRICES)
def test_many_classes(program, iris, price, penalty):
    share, solver = PENALTIES[penalty]
    x = StandardScaler().fit_transform(iris.x)
    peer = LogisticRegression(C=price, l1_ratio=share, solver=solver, tol=1e-10, max_iter=20_000)
    peer.fit(x, iris.labels)
    own = numpy.searchsorted(peer.classes_, iris.labels)
    scores = peer.decision_function(x)
    theirs = cost(peer.coef_, share) + price * (logsumexp(scores, axis=1) - scores[range(len(x)), own]).sum()
    model, report = linsep(program, iris, price, penalty)
    weights = numpy.array([model[f"class.{k}.theta.weights"] for k in range(3)])
    scores = x @ weights.T + [model[f"class.{k}.theta.bias"][0] for k in range(3)]
    ours = cost(weights, share) + price * (logsumexp(scores, axis=1) - scores[range(len(x)), own]).sum()
    check(report, ours, theirs)
    if penalty == "l2":
        assert numpy.abs(softmax(scores, axis=1) - peer.predict_proba(x)).max() < 1e-4


# LIBLINEAR pays for the intercept too, so the problems are the same where there is none.
@pytest.mark.parametrize("solver, share, penalty", [(0, 0.0, "l2"), (7, 0.0, "l2"), (6, 1.0, "l1")])
@pytest.mark.parametrize("price", [0.01, 1.0])
@pytest.mark.parametrize("name", ["virginica", "breast_cancer", "spam"])
def test_without_an_intercept(program, name, price, solver, share, penalty):
    table = Table(*PROBLEMS[name])
    x = StandardScaler().fit_transform(table.x)
    peer = train(table.y.tolist(), x, f"-s {solver} -c {price!r} -e 1e-9 -q")
    theirs = objective(numpy.array(peer.w[: x.shape[1]]) * peer.label[0], 0.0, x, table.y, price, share)
    model, report = linsep(program, table, price, penalty, "--bias", "none", *table.arguments)
    check(report, objective(model["theta.weights"], 0.0, x, table.y, price, share), theirs)
