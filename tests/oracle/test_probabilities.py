"""Probabilities: those of logistic regression are scikit-learn's, and so are the measures."""

import numpy
import pytest
from conftest import PROBLEMS, Table
from scipy.special import expit
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.preprocessing import StandardScaler


def shown(program, model, table, what="probability"):
    path = program.folder / f"{what}.txt"
    program.run("predict", model, table.path, "--show", what, "-o", path, "-q")
    return numpy.loadtxt(path, delimiter=",", ndmin=2)


@pytest.mark.parametrize("price", [0.01, 1.0])
@pytest.mark.parametrize("name", ["setosa", "breast_cancer"])
def test_natural_probabilities(program, name, price):
    table = Table(*PROBLEMS[name])
    model = program.folder / "model"
    program.record(
        "train", table.path, "--learner", "logistic", "--C", repr(price), "--gap", "1e-12", "--scale", "standard",
        "-o", model, *table.arguments,
    )  # fmt: skip
    x = StandardScaler().fit_transform(table.x)
    peer = LogisticRegression(C=price, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(x, table.y)
    theirs = peer.predict_proba(x)[:, 1]
    ours = shown(program, model, table)[:, 0]
    assert numpy.abs(ours - theirs).max() < 1e-6
    record = program.record("evaluate", model, table.path)["probabilities"]
    truth = table.y > 0
    assert record["log_loss"] == pytest.approx(log_loss(truth, ours), rel=1e-9)
    assert record["brier"] == pytest.approx(brier_score_loss(truth, ours), rel=1e-9)


def test_many_classes(program, iris):
    model = program.folder / "model"
    program.record(
        "train", iris.path, "--learner", "logistic", "--C", "1", "--gap", "1e-12", "--scale", "standard", "-o", model
    )
    x = StandardScaler().fit_transform(iris.x)
    peer = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(x, iris.labels)
    theirs, ours = peer.predict_proba(x), shown(program, model, iris)
    assert numpy.abs(ours - theirs).max() < 1e-6
    record = program.record("evaluate", model, iris.path)["probabilities"]
    own = numpy.searchsorted(peer.classes_, iris.labels)
    assert record["log_loss"] == pytest.approx(log_loss(iris.labels, ours), rel=1e-9)
    assert record["brier"] == pytest.approx(((ours - numpy.eye(3)[own]) ** 2).sum(axis=1).mean(), rel=1e-9)


@pytest.mark.parametrize("name", ["setosa", "breast_cancer"])
def test_the_sigmoid_that_is_kept(program, name):
    table = Table(*PROBLEMS[name])
    model = program.folder / "model"
    program.record("train", table.path, "--learner", "svm", "--probabilities", "-o", model, *table.arguments)
    scores = shown(program, model, table, "score")[:, 0]
    ours = shown(program, model, table)[:, 0]
    kept = program.record("inspect", model)["probabilities"]
    assert kept["kind"] == "sigmoid"
    assert ours == pytest.approx(expit(kept["slope"] * scores + kept["intercept"]), abs=1e-12)
    truth = table.y > 0
    record = program.record("evaluate", model, table.path)["probabilities"]
    assert record["log_loss"] == pytest.approx(log_loss(truth, ours), rel=1e-9)
    assert record["brier"] == pytest.approx(brier_score_loss(truth, ours), rel=1e-9)
    share, mean = calibration_curve(truth, ours, n_bins=10)
    bins = record["bins"]
    assert [each["observed"] for each in bins] == pytest.approx(share)
    assert [each["mean_probability"] for each in bins] == pytest.approx(mean)
