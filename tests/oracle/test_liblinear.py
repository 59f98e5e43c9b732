"""LIBLINEAR as oracle: the same soft-margin problem must end at the same objective."""

import numpy
import pytest
from conftest import PROBLEMS, Table, tensors
from liblinear.liblinearutil import train
from sklearn.preprocessing import StandardScaler

# LIBLINEAR's solvers of the same problem, with the appended coordinate in the norm as here.
SOLVERS = {"hinge": 3, "squared-hinge": 1}

# Prices at which LIBLINEAR itself gets there: it gives up after a fixed number of passes.
PRICES = {
    "setosa": [0.01, 0.1, 1.0],
    "virginica": [0.01, 0.1, 1.0],
    "breast_cancer": [0.001, 0.01, 0.1],
    "spam": [0.0001, 0.0003, 0.001],
}


def objective(theta, x, y, price, loss):
    """½‖θ‖² + C Σ loss, from its definition; x has the appended coordinate."""
    short = numpy.maximum(0.0, 1.0 - y * (x @ theta))
    return 0.5 * theta @ theta + price * (short if loss == "hinge" else short**2).sum()


def scaled(table):
    x = StandardScaler().fit_transform(table.x)
    return numpy.hstack([x, numpy.ones((len(x), 1))])


def liblinear(x, y, price, loss, tolerance=1e-9):
    """θ of LIBLINEAR. The appended coordinate is a column of x, which is the same as its option -B 1."""
    model = train(y.tolist(), x, f"-s {SOLVERS[loss]} -c {price!r} -e {tolerance!r} -q")
    # The weights are those of the label that it saw first.
    return numpy.array(model.w[: x.shape[1]]) * model.label[0]


def linsep(program, table, price, loss, gap=1e-8):
    """θ and the report of linsep."""
    path = program.folder / "model.safetensors"
    report = program.record(
        "train", table.path, "--learner", "svm", "--C", repr(price), "--loss", loss, "--gap", repr(gap),
        "--epochs", 200_000, "--scale", "standard", "-o", path, *table.arguments,
    )  # fmt: skip
    model = tensors(path)
    return numpy.append(model["theta.weights"], model["theta.bias"]), report


CASES = [(name, price) for name, prices in PRICES.items() for price in prices]


@pytest.mark.parametrize("loss", SOLVERS)
@pytest.mark.parametrize("name, price", CASES)
def test_objective(program, name, price, loss):
    table = Table(*PROBLEMS[name])
    x = scaled(table)
    theirs = objective(liblinear(x, table.y, price, loss), x, table.y, price, loss)
    theta, report = linsep(program, table, price, loss)
    assert report["status"] == "converged"
    assert objective(theta, x, table.y, price, loss) == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("loss", SOLVERS)
@pytest.mark.parametrize("name", ["virginica", "breast_cancer"])
def test_never_worse_at_a_high_price(program, name, loss):
    """Where LIBLINEAR gives up before its tolerance is met, the proved gap is met all the same."""
    table, price = Table(*PROBLEMS[name]), 10.0
    x = scaled(table)
    theirs = objective(liblinear(x, table.y, price, loss), x, table.y, price, loss)
    theta, report = linsep(program, table, price, loss, gap=1e-6)
    assert report["status"] == "converged"
    assert objective(theta, x, table.y, price, loss) <= theirs * (1.0 + 1e-6)


@pytest.mark.parametrize("loss", SOLVERS)
def test_the_default_gap_is_as_good_as_the_default_tolerance(program, loss):
    """At the defaults of both, neither objective is above what the gap of linsep allows."""
    table, price = Table(*PROBLEMS["spam"]), 0.01
    x = scaled(table)
    best = objective(liblinear(x, table.y, price, loss), x, table.y, price, loss)
    theta, _ = linsep(program, table, price, loss, gap=1e-3)
    assert best * (1.0 - 1e-6) <= objective(theta, x, table.y, price, loss) <= best * (1.0 + 1e-3)
