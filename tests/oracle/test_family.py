"""The whole family against scikit-learn and plain forms in NumPy; LIBLINEAR has a file of its own."""

import warnings

import numpy
import pytest
from conftest import tensors
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, PassiveAggressiveClassifier, Perceptron, SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from test_scikit_learn import assert_same, fitted, theta


def appended(x, value=1.0):
    return numpy.hstack([x, numpy.full((len(x), 1), value)])


def standardised(table):
    return StandardScaler().fit_transform(table.x)


# The soft-margin support vector machine with weights.


def test_svm_with_class_weights(program, small_table):
    table, c = small_table, 0.1
    record = program.record(
        "train", table.path, "--learner", "svm", "--scale", "standard", "--class-weight", "balanced", "--gap", 1e-6,
        "--C", c, "--epochs", 100_000, *table.arguments,
    )
    x, y = appended(standardised(table)), table.y
    weights = numpy.where(y > 0, len(y) / (2 * (y > 0).sum()), len(y) / (2 * (y < 0).sum()))
    oracle = LinearSVC(loss="hinge", C=c, fit_intercept=False, class_weight="balanced", tol=1e-6, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = oracle.fit(x, y).coef_[0]
    slack = numpy.maximum(0.0, 1.0 - y * (x @ theirs))
    best = 0.5 * theirs @ theirs + c * (weights * slack).sum()
    assert record["converged"]
    assert abs(record["detail"]["primal"] - best) <= 1e-4 * best


# Gradient descent.


@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_descent_comes_close_to_the_optimum(program, table, loss):
    l2 = 0.01
    program.run(
        "train", table.path, "--learner", "sgd", "--loss", loss, "--l2", l2, "--scale", "standard", "--epochs", 300,
        "-o", "model", *table.arguments,
    )
    x, y = appended(standardised(table)), table.y

    def objective(weights):
        agreement = y * (x @ weights)
        losses = numpy.logaddexp(0.0, -agreement) if loss == "log" else numpy.maximum(0.0, 1.0 - agreement)
        return 0.5 * l2 * weights @ weights + losses.mean()

    c = 1.0 / (l2 * len(y))
    if loss == "log":
        oracle = LogisticRegression(C=c, fit_intercept=False, tol=1e-10, max_iter=100_000)
    else:
        oracle = LinearSVC(loss="hinge", C=c, fit_intercept=False, tol=1e-5, max_iter=20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = objective(oracle.fit(x, y).coef_[0])
    found = objective(theta(tensors(program.folder / "model")))
    assert best * (1 - 1e-6) <= found <= best * 1.01


@pytest.mark.parametrize("loss", ["hinge", "log", "squared"])
def test_descent_takes_the_steps_of_scikit_learn(program, table, loss):
    """Constant steps, no penalty, rows in order: the weights are the same, step by step."""
    names = {"hinge": "hinge", "log": "log_loss", "squared": "squared_error"}
    _, model = program.train(
        table.path, "--learner", "sgd", "--loss", loss, "--schedule", "constant", "--step", 0.001, "--l2", 0,
        "--combine", "last", "--bias", "none", "--scale", "standard", "--epochs", 3, *table.arguments,
    )
    oracle = SGDClassifier(
        loss=names[loss], penalty=None, learning_rate="constant", eta0=0.001, shuffle=False, tol=None, max_iter=3,
        fit_intercept=False,
    )
    assert_same(theta(model)[:-1], fitted(oracle, standardised(table), table.y)[:-1])


@pytest.mark.parametrize("aggression, loss", [("capped", "hinge"), ("softened", "squared_hinge")])
@pytest.mark.parametrize("c", [0.01, 1.0])
def test_passive_aggressive(program, table, aggression, loss, c):
    _, model = program.train(
        table.path, "--learner", "passive-aggressive", "--aggression", aggression, "--C", c, "--combine", "last",
        "--bias", "none", "--scale", "standard", "--epochs", 3, *table.arguments,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = PassiveAggressiveClassifier(
            C=c, loss=loss, shuffle=False, tol=None, max_iter=3, fit_intercept=False
        )
        expected = fitted(oracle, standardised(table), table.y)
    assert_same(theta(model)[:-1], expected[:-1], tolerance=1e-7)


# Class weights, and many classes.


@pytest.mark.parametrize("weights", ["balanced", {1: 3.0, -1: 0.5}])
def test_class_weights_of_the_perceptron(program, table, weights):
    if weights == "balanced":
        option = "balanced"
    else:
        option = f"{table.positive}={weights[1]}"
        # All other classes of the table are on the other side.
        others = sorted(set(table.labels) - {table.positive})
        option += "".join(f",{name}={weights[-1]}" for name in others)
    _, model = program.train(
        table.path, "--learner", "perceptron", "--class-weight", option, "--epochs", 5, *table.arguments
    )
    oracle = Perceptron(shuffle=False, tol=None, max_iter=5, class_weight=weights)
    assert_same(theta(model), fitted(oracle, table.x, table.y))


def test_one_against_the_rest(program, iris):
    _, model = program.train(iris.path, "--learner", "perceptron", "--epochs", 7)
    oracle = Perceptron(shuffle=False, tol=None, max_iter=7)
    oracle.fit(iris.x, iris.labels)
    for k in range(3):
        ours = numpy.append(model[f"class.{k}.theta.weights"], model[f"class.{k}.theta.bias"])
        assert_same(ours, numpy.append(oracle.coef_[k], oracle.intercept_[k]))
    labels = program.run("predict", program.folder / "model.safetensors", iris.path).split()
    assert list(oracle.predict(iris.x)) == labels


def plain_multiclass(x, labels, epochs):
    """One vector per class; the strongest rival is the first of the best others."""
    classes = sorted(set(labels))
    weights = numpy.zeros((len(classes), x.shape[1]))
    for _ in range(epochs):
        for row, label in zip(x, labels):
            y = classes.index(label)
            scores = weights @ row
            others = numpy.where(numpy.arange(len(classes)) == y, -numpy.inf, scores)
            rival = int(numpy.argmax(others))
            if scores[y] - scores[rival] <= 0.0:
                weights[y] += row
                weights[rival] -= row
    return weights


def test_multiclass_perceptron(program, iris):
    _, model = program.train(iris.path, "--learner", "multiclass", "--combine", "last", "--epochs", 5)
    expected = plain_multiclass(appended(iris.x), iris.labels, 5)
    ours = numpy.array(
        [numpy.append(model[f"class.{k}.theta.weights"], model[f"class.{k}.theta.bias"]) for k in range(3)]
    )
    assert_same(ours, expected)


# The kernel perceptron, in the twenty lines of the books.


def plain_kernel_scores(x, y, kernel, epochs):
    gram = kernel(x, x)
    alpha = numpy.zeros(len(x))
    for _ in range(epochs):
        mistakes = 0
        for i in range(len(x)):
            if y[i] * ((alpha * y) @ gram[:, i]) <= 0.0:
                alpha[i] += 1.0
                mistakes += 1
        if mistakes == 0:
            break
    return (alpha * y) @ gram


KERNELS = {
    "linear": (["--kernel", "linear"], lambda a, b: a @ b.T),
    "poly": (["--kernel", "poly", "--degree", 3, "--gamma", 0.5], lambda a, b: (0.5 * (a @ b.T)) ** 3),
    "rbf": (
        ["--kernel", "rbf", "--gamma", 0.25],
        lambda a, b: numpy.exp(-0.25 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)),
    ),
}


@pytest.mark.parametrize("name", list(KERNELS))
def test_kernel_perceptron(program, small_table, name):
    options, kernel = KERNELS[name]
    table = small_table
    path, _ = program.train(
        table.path, "--learner", "kernel", *options, "--scale", "standard", "--epochs", 4, *table.arguments
    )
    scores = numpy.array(program.run("predict", path, table.path, "--show", "score").split(), dtype=float)
    scores = scores[table.kept]
    assert_same(scores, plain_kernel_scores(appended(standardised(table)), table.y, kernel, 4))


# The batch perceptron.


@pytest.mark.parametrize("schedule", ["constant", "1/k", "1/sqrt-k", "mean"])
def test_batch_perceptron(program, table, schedule):
    _, model = program.train(
        table.path, "--learner", "batch", "--schedule", schedule, "--scale", "standard", "--epochs", 30, *table.arguments
    )
    z = appended(standardised(table)) * table.y[:, None]
    weights = numpy.zeros(z.shape[1])
    for k in range(1, 31):
        mistakes = z[z @ weights <= 0.0]
        if len(mistakes) == 0:
            break
        step = {"constant": 1.0, "1/k": 1.0 / k, "1/sqrt-k": k**-0.5, "mean": 1.0 / len(mistakes)}[schedule]
        weights = weights + step * mistakes.sum(axis=0)
    assert_same(theta(model), weights)
