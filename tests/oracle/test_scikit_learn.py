"""scikit-learn as oracle: the same data, the same order and the same start must give the same numbers."""

import warnings

import numpy
import pytest
from conftest import tensors
from sklearn import metrics
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler


def assert_same(ours, theirs, tolerance=1e-9):
    """Equal up to rounding, relative to the largest number: sums are made in different orders."""
    ours, theirs = numpy.asarray(ours, dtype=float), numpy.asarray(theirs, dtype=float)
    assert ours.shape == theirs.shape
    largest = max(numpy.abs(theirs).max(initial=0.0), 1e-300)
    assert numpy.abs(ours - theirs).max(initial=0.0) <= tolerance * largest


def theta(model):
    """Weights and bias as one vector."""
    return numpy.append(model["theta.weights"], model.get("theta.bias", [0.0]))


def fitted(estimator, x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(x, y)
    return numpy.append(estimator.coef_[0], estimator.intercept_)


def scikit_learn_perceptron(x, y, epochs, bias=True):
    # Without a tolerance it makes all passes; those after convergence change nothing.
    return fitted(Perceptron(shuffle=False, tol=None, max_iter=epochs, fit_intercept=bias), x, y)


@pytest.mark.parametrize("epochs", [1, 2, 5, 20])
@pytest.mark.parametrize("bias", ["append", "none"])
def test_perceptron(program, table, epochs, bias):
    _, model = program.train(
        table.path, "--learner", "perceptron", "--bias", bias, "--epochs", epochs, *table.arguments
    )
    assert_same(theta(model), scikit_learn_perceptron(table.x, table.y, epochs, bias == "append"))


def plain_averaged(x, y, epochs, bias):
    """The mean of the weights after every row, added up without any trick."""
    x = numpy.hstack([x, numpy.full((len(x), 1), 1.0 if bias == "append" else 0.0)])
    weights, total, seen = numpy.zeros(x.shape[1]), numpy.zeros(x.shape[1]), 0
    for _ in range(epochs):
        mistakes = 0
        for row, sign in zip(x, y):
            if sign * (row @ weights) <= 0.0:
                weights, mistakes = weights + sign * row, mistakes + 1
            total, seen = total + weights, seen + 1
        if mistakes == 0:
            break
    return total / seen


@pytest.mark.parametrize("epochs", [1, 5])
@pytest.mark.parametrize("bias", ["append", "none"])
def test_averaged_against_plain_sums(program, table, epochs, bias):
    _, model = program.train(
        table.path, "--learner", "averaged", "--bias", bias, "--epochs", epochs, *table.arguments
    )
    assert_same(theta(model), plain_averaged(table.x, table.y, epochs, bias))


@pytest.mark.parametrize("epochs", [1, 5])
@pytest.mark.parametrize("bias", ["append", "none"])
def test_averaged(program, table, epochs, bias):
    report = program.record(
        "train", table.path, "--learner", "averaged", "--order", "given", "--bias", bias, "--epochs", epochs,
        "--scale", "none", "-o", "model.safetensors", *table.arguments,
    )
    model = tensors(program.folder / "model.safetensors")
    oracle = SGDClassifier(
        loss="perceptron",
        learning_rate="constant",
        eta0=1.0,
        penalty=None,
        average=True,
        shuffle=False,
        tol=None,
        # scikit-learn would go on averaging the weights that no longer change after a pass without a mistake.
        max_iter=report["epochs"],
        fit_intercept=bias == "append",
    )
    assert_same(theta(model), fitted(oracle, table.x, table.y))


@pytest.mark.parametrize("learner", ["perceptron", "averaged"])
def test_predictions(program, table, learner):
    path, model = program.train(table.path, "--learner", learner, "--epochs", 5, *table.arguments)
    decision = table.x @ model["theta.weights"] + model["theta.bias"]
    scores = numpy.array([float(line) for line in scored(program, path, table)])
    assert_same(scores, decision)
    labels = program.run("predict", path, rows_of(program, table), "--quiet").splitlines()
    assert labels == name_of(table, scores)


def name_of(table, scores):
    """The class on each side; the negative side of one class against the rest has a name of its own."""
    several = len(set(table.labels)) > 2
    negative = f"not {table.positive}" if several else table.negative
    return [table.positive if score >= 0.0 else negative for score in scores]


def rows_of(program, table):
    """A CSV file with the rows of the problem alone: prediction does not choose classes."""
    path = program.folder / "rows.csv"
    if not path.exists():
        header = table.path.read_text().split("\n", 1)[0]
        lines = [",".join([*map(repr, map(float, row)), label]) for row, label in zip(table.x, table.labels)]
        path.write_text("\n".join([header, *lines]) + "\n")
    return path


def scored(program, path, table):
    return program.run("predict", path, rows_of(program, table), "--show", "score", "--quiet").split()


@pytest.mark.parametrize("order", ["given", "shuffle"])
def test_evaluation(program, table, order):
    # In the given order the classes of iris come one after the other, and the result of two passes calls every
    # row negative: the case where precision means nothing.
    path = program.folder / "model.safetensors"
    program.run("train", table.path, "--epochs", 2, "--order", order, "-o", path, *table.arguments)
    found = program.record("evaluate", path, rows_of(program, table))
    scores = numpy.array([float(line) for line in scored(program, path, table)])
    truth, predicted = table.y > 0, scores >= 0.0
    expected = {
        "rows": len(truth),
        "error": metrics.zero_one_loss(truth, predicted),
        "precision": metrics.precision_score(truth, predicted, zero_division=numpy.nan),
        "recall": metrics.recall_score(truth, predicted),
        "f1": metrics.f1_score(truth, predicted),
        "auc": metrics.roc_auc_score(truth, scores),
    }
    for name, number in expected.items():
        # What has no value is null in the record.
        measured = numpy.nan if found[name] is None else found[name]
        assert measured == pytest.approx(number, rel=1e-12, abs=1e-15, nan_ok=True), name
    counts = [
        [found["true_negatives"], found["false_positives"]],
        [found["false_negatives"], found["true_positives"]],
    ]
    assert counts == metrics.confusion_matrix(truth, predicted).tolist()


def test_max_abs_scaling(program, table):
    _, model = program.train(
        table.path, "--scale", "max-abs", "--learner", "perceptron", "--epochs", 3, *table.arguments
    )
    scaler = MaxAbsScaler().fit(table.x)
    assert (model["scale.divisor"] == scaler.scale_).all()
    assert_same(theta(model), scikit_learn_perceptron(scaler.transform(table.x), table.y, 3))


def test_standard_scaling(program, table):
    _, model = program.train(
        table.path, "--scale", "standard", "--learner", "perceptron", "--epochs", 3, *table.arguments
    )
    scaler = StandardScaler().fit(table.x)
    # Feature by feature: their sizes differ by orders of magnitude.
    assert numpy.allclose(model["scale.mean"], scaler.mean_, rtol=1e-11, atol=0.0)
    assert numpy.allclose(model["scale.divisor"], scaler.scale_, rtol=1e-11, atol=0.0)
    assert_same(theta(model), scikit_learn_perceptron(scaler.transform(table.x), table.y, 3))


def test_unit_rows(program, table):
    _, model = program.train(
        table.path, "--scale", "unit-rows", "--learner", "perceptron", "--epochs", 3, *table.arguments
    )
    assert_same(theta(model), scikit_learn_perceptron(Normalizer().fit_transform(table.x), table.y, 3))
