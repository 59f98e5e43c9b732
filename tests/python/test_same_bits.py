"""The same bits as the command line: five real sets × every learner, trained through both."""

from __future__ import annotations

import json

import linsep
import numpy as np
import pytest
from conftest import model_content
from linsep import _engine

LEARNERS = {learner["name"]: learner["estimator"] for learner in json.loads(_engine.learners())}
EPOCHS = 4


@pytest.mark.filterwarnings("ignore::linsep.ConvergenceWarning")
@pytest.mark.parametrize("name", ["iris", "breast_cancer", "spam", "wine", "digits"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_model_is_that_of_the_command_line(program, real_sets, tmp_path, name, learner):
    real = real_sets[name]
    path = tmp_path / "cli.model"
    done = program(
        "train", *real.arguments, "--learner", learner, "--epochs", EPOCHS, "-o", path, "-q", expect=(0, 1)
    )
    estimator = getattr(linsep, LEARNERS[learner])(epochs=EPOCHS)
    if not path.exists():
        # No boundary separates the rows: the max-margin learner has no model, on either way.
        assert done.returncode == 1 and learner == "max-margin"
        with pytest.raises(ValueError, match="no boundary separates"):
            estimator.fit(real.X, real.y)
        return
    estimator.fit(real.X, real.y)
    own = tmp_path / "python.model"
    estimator.save(own)
    assert model_content(own.read_bytes()) == model_content(path.read_bytes())
    # Files go both ways.
    loaded = linsep.load(path)
    assert np.array_equal(loaded.predict(real.X).astype(str), estimator.predict(real.X).astype(str))
    if name in ("iris", "breast_cancer", "spam"):
        lines = program("predict", own, real.arguments[0], "-q").stdout.split()
        assert lines == estimator.predict(real.X).astype(str).tolist()


def test_defaults_are_those_of_the_command_line(program, real_sets, tmp_path):
    for learner in ("perceptron", "logistic", "sgd"):
        for name in ("iris", "wine"):
            path = tmp_path / f"{learner}-{name}.model"
            program("train", *real_sets[name].arguments, "--learner", learner, "-o", path, "-q")
            estimator = getattr(linsep, LEARNERS[learner])().fit(real_sets[name].X, real_sets[name].y)
            assert model_content(estimator.model_.to_bytes()) == model_content(path.read_bytes())


@pytest.mark.filterwarnings("ignore::linsep.ConvergenceWarning")
def test_settings_are_those_of_the_command_line(program, real_sets, tmp_path):
    real = real_sets["breast_cancer"]
    for arguments, estimator in [
        (["--learner", "svm", "--C", "10", "--gap", "1e-6"], linsep.LinearSVM(C=10, gap=1e-6)),
        (["--learner", "perceptron", "--shards", "4"], linsep.Perceptron(shards=4)),
        (["--learner", "perceptron", "--shards", "3", "--mixing", "updates"], linsep.Perceptron(shards=3, mixing="updates")),
        (["--learner", "averaged", "--class-weight", "balanced"], linsep.AveragedPerceptron(class_weight="balanced")),
        (["--learner", "sgd", "--loss", "log", "--seed", "7"], linsep.SGDClassifier(loss="log", seed=7)),
        (["--learner", "perceptron", "--bias", "none"], linsep.Perceptron(bias="none")),
        (["--learner", "perceptron", "--bias-scale", "2", "--scale", "max-abs"], linsep.Perceptron(bias_scale=2, scale="max-abs")),
        (["--learner", "perceptron", "--init", "first", "--order", "given"], linsep.Perceptron(init="first", order="given")),
        (["--learner", "kernel", "--kernel", "poly", "--degree", "2", "--epochs", "5"], linsep.KernelPerceptron(kernel="poly", degree=2, epochs=5)),
        (["--learner", "perceptron", "--epochs", "10", "--probabilities"], linsep.Perceptron(epochs=10, probabilities=True)),
        (["--learner", "logistic", "--features", "splines"], linsep.LogisticRegression(features="splines")),
    ]:
        path = tmp_path / "cli.model"
        program("train", *real.arguments, *arguments, "-o", path, "-q")
        estimator.fit(real.X, real.y)
        assert model_content(estimator.model_.to_bytes()) == model_content(path.read_bytes()), arguments


def test_tune_compare_and_separate_are_those_of_the_command_line(program, real_sets, tmp_path):
    iris = real_sets["iris"]
    path = tmp_path / "tuned.model"
    record = json.loads(program("tune", *iris.arguments, "-o", path, "--json", "-q").stdout)
    tuned = linsep.tune(iris.X, iris.y)
    assert tuned.record["candidates"] == record["candidates"] and tuned.record["chosen"] == record["chosen"]
    assert tuned.estimate == record["estimate"]
    assert model_content(tuned.model.to_bytes()) == model_content(path.read_bytes())
    estimator = linsep.TunedClassifier().fit(iris.X, iris.y)
    assert model_content(estimator.model_.to_bytes()) == model_content(path.read_bytes())
    assert estimator.tuned_.chosen == tuned.chosen

    record = json.loads(program("compare", *iris.arguments, "--learners", "perceptron,svm", "--json", "-q").stdout)
    compared = linsep.compare(iris.X, iris.y, learners=["perceptron", "svm"])
    for own, other in zip(compared.learners, record["learners"]):
        assert {**own, "seconds": 0} == {**other, "seconds": 0}

    record = json.loads(program("separate", *iris.arguments, "--json", "-q", expect=(0, 1)).stdout)
    table = linsep.separate(iris.X, iris.y)
    assert [entry["verdict"] for entry in record["table"]] == [one.verdict for one in table]
    assert [entry["margin"] for entry in record["table"]] == [one.record["margin"] for one in table]
