"""Models for other programs: ONNX files run by onnxruntime, and estimators of scikit-learn, with the same predictions."""

from __future__ import annotations

import pickle
import sys
import warnings

import linsep
import numpy as np
import onnxruntime
import pandas as pd
import pytest
import sklearn.base
from conftest import ROOT
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.utils.validation import check_is_fitted

SETS = {
    "iris": load_iris(return_X_y=True),
    "breast_cancer": load_breast_cancer(return_X_y=True),
    "wine": load_wine(return_X_y=True),
}
#: Every estimator whose decision function is linear, and what it is in scikit-learn.
LINEAR = {
    "Perceptron": "Perceptron",
    "AveragedPerceptron": "Perceptron",
    "MarginPerceptron": "Perceptron",
    "BatchPerceptron": "Perceptron",
    "PocketPerceptron": "Perceptron",
    "LiftedPerceptron": "Perceptron",
    "MulticlassPerceptron": "Perceptron",
    "SGDClassifier": "SGDClassifier",
    "PassiveAggressiveClassifier": "SGDClassifier",
    "LinearSVM": "LinearSVC",
    "LogisticRegression": "LogisticRegression",
    "MaxMarginClassifier": "LinearSVC",
    "TunedClassifier": None,
}


def fitted(name, X, y, **parameters):
    if name == "TunedClassifier":
        parameters = {"judge": "none", **parameters}
    return getattr(linsep, name)(**parameters).fit(X, y)


def run(file, X):
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    return dict(zip(file.outputs, session.run(file.outputs, X), strict=True))


def is_like(estimator, file, X, given):
    """Compares what an ONNX file gives with what the estimator does."""
    names = np.array([str(label) for label in estimator.classes_])
    assert given["label"].tolist() == [str(label) for label in estimator.predict(X).tolist()]
    scores = given["scores"]
    place = [names.tolist().index(name) for name in file.classes]
    if scores.ndim == 2:
        ordered = np.empty_like(scores)
        ordered[:, place] = scores
        scores = ordered[:, 1] - ordered[:, 0] if len(names) == 2 else ordered
    elif place[1] == 0:
        scores = -scores
    np.testing.assert_allclose(scores, estimator.decision_function(X), rtol=1e-6, atol=1e-6)
    assert ("probabilities" in given) == hasattr(estimator, "predict_proba")
    if "probabilities" in given:
        ordered = np.empty_like(given["probabilities"])
        ordered[:, place] = given["probabilities"]
        np.testing.assert_allclose(ordered, estimator.predict_proba(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("data", SETS)
def test_every_linear_estimator(name, data):
    X, y = SETS[data]
    if name == "MaxMarginClassifier" and data == "iris":
        X, y = X[:100], y[:100]
    estimator = fitted(name, X, y)
    file = estimator.to_onnx(input="f64")
    is_like(estimator, file, X, run(file, {"X": X}))
    # Inputs of 32 bits: what changes is what their rounding changes.
    file = estimator.to_onnx()
    small = X.astype(np.float32)
    is_like(estimator, file, small, run(file, {"X": small}))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs = estimator.to_sklearn(data=X)
    check_is_fitted(theirs)
    assert LINEAR[name] in (None, type(theirs).__name__) and sklearn.base.is_classifier(theirs)
    assert np.array_equal(theirs.predict(X), estimator.predict(X))
    assert np.array_equal(theirs.classes_, estimator.classes_)
    np.testing.assert_allclose(theirs.decision_function(X), estimator.decision_function(X), rtol=1e-6, atol=1e-6)
    # The weights are those of the rows as given, whatever the scaling.
    assert np.array_equal(theirs.coef_, estimator.coef_) and np.array_equal(theirs.intercept_, estimator.intercept_)
    if hasattr(estimator, "predict_proba"):
        np.testing.assert_allclose(theirs.predict_proba(X), estimator.predict_proba(X), rtol=1e-6, atol=1e-6)
    assert theirs.score(X, y) == estimator.score(X, y)


@pytest.mark.parametrize("scale", ["none", "max-abs", "standard", "unit-rows"])
@pytest.mark.parametrize("data", SETS)
def test_every_scaling(scale, data):
    X, y = SETS[data]
    estimator = linsep.LogisticRegression(scale=scale, bias="none", epochs=50).fit(X, y)
    file = estimator.to_onnx(input="f64")
    is_like(estimator, file, X, run(file, {"X": X}))
    theirs = estimator.to_sklearn(X)
    assert type(theirs).__name__ == ("Pipeline" if scale == "unit-rows" else "LogisticRegression")
    for rows in (X, sparse.csr_matrix(X)):
        assert np.array_equal(theirs.predict(rows), estimator.predict(rows))
        np.testing.assert_allclose(theirs.predict_proba(rows), estimator.predict_proba(rows), rtol=1e-6, atol=1e-6)


def test_probabilities_of_gradient_descent():
    X, y = SETS["breast_cancer"]
    estimator = linsep.SGDClassifier(loss="log").fit(X, y)
    theirs = estimator.to_sklearn(X)
    assert theirs.loss == "log_loss"
    np.testing.assert_allclose(theirs.predict_proba(X), estimator.predict_proba(X), rtol=1e-6, atol=1e-9)
    for loss, name in [("hinge", "hinge"), ("perceptron", "perceptron"), ("squared", "squared_error")]:
        theirs = linsep.SGDClassifier(loss=loss).fit(X, y).to_sklearn()
        assert theirs.loss == name and not hasattr(theirs, "predict_proba")


def test_learned_probabilities():
    for data in SETS:
        X, y = SETS[data]
        for name in ("AveragedPerceptron", "LinearSVM"):
            estimator = fitted(name, X, y, probabilities=True)
            file = estimator.to_onnx(input="f64")
            assert file.outputs == ["label", "scores", "probabilities"]
            is_like(estimator, file, X, run(file, {"X": X}))
            with pytest.raises(ValueError, match="calibrated separately.*to_onnx"):
                estimator.to_sklearn()


@pytest.mark.parametrize("name", ["iris", "breast_cancer", "spam"])
def test_tables_of_numbers(name):
    frame = pd.read_csv(ROOT / "data" / f"{name}.csv")
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1]
    estimator = linsep.LogisticRegression().fit(X, y)
    file = estimator.to_onnx(input="f64", data=X)
    (wanted,) = file.inputs
    assert wanted == {"name": "X", "kind": "f64", "columns": list(X.columns), "width": X.shape[1]}
    is_like(estimator, file, X, run(file, {"X": X.to_numpy(dtype=np.float64)}))
    theirs = estimator.to_sklearn(X)
    assert theirs.feature_names_in_.tolist() == list(X.columns)
    assert np.array_equal(theirs.predict(X), estimator.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        theirs.predict(X[X.columns[::-1]])


def test_words_and_missing_cells():
    chosen = np.random.default_rng(0)
    size = chosen.normal(size=300)
    frame = pd.DataFrame(
        {"size": np.where(chosen.random(300) < 0.1, np.nan, size), "colour": chosen.choice(["red", "green", None], 300)}
    )
    y = np.where(size + (frame["colour"] == "red") > 0.3, "yes", "no")
    estimator = linsep.LogisticRegression().fit(frame, y)
    file = estimator.to_onnx(input="f64", data=frame)
    assert [one["kind"] for one in file.inputs] == ["f64", "text"] and file.rounding["rows"] == 300
    columns = {
        "size": frame[["size"]].to_numpy(),
        "colour": frame[["colour"]].fillna("").to_numpy(dtype=object),
    }
    is_like(estimator, file, frame, run(file, columns))
    with pytest.raises(ValueError, match="words of a table.*to_onnx"):
        estimator.to_sklearn()
    numbers = frame[["size"]]
    with pytest.raises(ValueError, match="missing.*to_onnx"):
        linsep.LogisticRegression().fit(numbers, y).to_sklearn()


def test_models_of_files(tmp_path, program):
    data, path = ROOT / "data" / "breast_cancer.csv", tmp_path / "one.model"
    program("train", data, "--learner", "logistic", "-o", path, "--quiet")
    model, rows = linsep.load(path), linsep.read(data)
    out = tmp_path / "one.onnx"
    file = model.to_onnx(out, data=rows)
    # The same file as that of the command line, and the same numbers.
    again = tmp_path / "two.onnx"
    record = program("export", path, again, "--data", data, "--json", "--quiet").stdout
    assert out.read_bytes() == again.read_bytes() == bytes(file)
    import json

    told = json.loads(record)
    assert told["inputs"] == file.inputs and told["classes"] == file.classes and told["outputs"] == file.outputs
    assert {name: told["rounding"][name] for name in ("rows", "other_class", "largest_change")} == {
        name: file.rounding[name] for name in ("rows", "other_class", "largest_change")
    }
    theirs = model.to_sklearn(rows)
    assert np.array_equal(theirs.predict(pd.DataFrame(rows.X, columns=rows.feature_names)), model.predict(rows))
    program("train", data, "--learner", "logistic", "--threshold", "0.2", "-o", path, "--quiet")
    with pytest.raises(ValueError, match="threshold.*to_onnx"):
        linsep.load(path).to_sklearn()
    program("train", data, "--learner", "logistic", "--positive", "malignant", "-o", path, "--quiet")
    sides = linsep.load(path)
    theirs = sides.to_sklearn(rows)
    frame = pd.DataFrame(rows.X, columns=rows.feature_names)
    assert np.array_equal(theirs.predict(frame), sides.predict(rows))
    np.testing.assert_allclose(theirs.decision_function(frame), sides.decision_function(rows), rtol=1e-6, atol=1e-6)


def test_a_class_that_32_bits_change():
    # A boundary between two numbers that are one in 32 bits.
    X = (1 + np.arange(10) * 1e-9)[:, None]
    estimator = linsep.LinearSVM(C=1e6).fit(X, np.arange(10) >= 5)
    # Rounded, all of them are the number 1.
    small = X.astype(np.float32).astype(np.float64)
    expected = np.flatnonzero(estimator.predict(small) != estimator.predict(X))
    assert 0 < len(expected) < 10
    with pytest.warns(linsep.ExportWarning, match=rf"{len(expected)} of 10 rows get another class.*input='f64'") as heard:
        file = estimator.to_onnx(data=X)
    assert heard[0].filename == __file__
    change = np.abs(estimator.decision_function(small) - estimator.decision_function(X)).max()
    assert file.rounding["lines"] == expected.tolist() and file.rounding["rows"] == 10
    assert file.rounding["other_class"] == len(expected)
    assert file.rounding["largest_change"] == pytest.approx(change, rel=1e-9)
    given = run(file, {"X": X.astype(np.float32)})
    assert np.flatnonzero(given["label"] != estimator.predict(X).astype(str)).tolist() == expected.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = estimator.to_onnx(input="f64", data=X)
    assert kept.rounding == file.rounding
    assert run(kept, {"X": X})["label"].tolist() == [str(label) for label in estimator.predict(X).tolist()]
    # A frame with words is looked at as a table.
    frame = pd.DataFrame({"x": X[:, 0], "word": ["a", "b"] * 5})
    table = linsep.LinearSVM(C=1e6).fit(frame, np.arange(10) >= 5)
    rounded = frame.assign(x=small[:, 0])
    expected = np.flatnonzero(table.predict(rounded) != table.predict(frame))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert table.to_onnx(data=frame).rounding["lines"] == expected.tolist()


def test_a_row_on_the_boundary_is_told():
    X, y = np.array([[1.0], [-1.0], [2.0], [-2.0]]), [1, 0, 1, 0]
    estimator = linsep.Perceptron(bias="none", scale="none").fit(X, y)
    on_it = np.array([[3.0], [0.0]])
    # A score of 0 is the second class here, and the first in scikit-learn.
    with pytest.warns(linsep.ExportWarning, match=r"1 of 2 rows? gets? another class \(row 1\)"):
        theirs = estimator.to_sklearn(data=on_it)
    assert estimator.predict(on_it).tolist() == [1, 1] and theirs.predict(on_it).tolist() == [1, 0]


def test_the_file(tmp_path):
    X, y = SETS["iris"]
    estimator = linsep.LogisticRegression().fit(X, y)
    path = tmp_path / "model.onnx"
    file = estimator.to_onnx(path)
    assert isinstance(file, bytes) and path.read_bytes() == file and file.rounding is None
    assert file == estimator.to_onnx(str(path)) == estimator.model_.to_onnx()
    assert "f32 × 4" in repr(file) and "probabilities" in repr(file)
    again = pickle.loads(pickle.dumps(file))
    assert again == file and again.inputs == file.inputs and again.classes == ["0", "1", "2"]
    # Nothing is left where it cannot be written.
    with pytest.raises(FileNotFoundError):
        estimator.to_onnx(tmp_path / "none" / "model.onnx")
    assert [one.name for one in tmp_path.iterdir()] == ["model.onnx"]


def test_what_cannot_be_exported():
    X, y = SETS["breast_cancer"]
    for name in ("VotedPerceptron", "KernelPerceptron", "Memoriser"):
        estimator = getattr(linsep, name)(**({} if name == "Memoriser" else {"epochs": 2})).fit(X, y)
        with pytest.raises(ValueError, match="one weight for each feature"):
            estimator.to_onnx()
        with pytest.raises(ValueError, match="votes, uses a kernel or memorises rows"):
            estimator.to_sklearn()
    bent = linsep.LogisticRegression(features="splines").fit(X, y)
    with pytest.raises(ValueError, match="splines.*to_onnx"):
        bent.to_sklearn()
    file = bent.to_onnx(input="f64")
    is_like(bent, file, X, run(file, {"X": X}))
    estimator = linsep.LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="input='f16'"):
        estimator.to_onnx(input="f16")
    with pytest.raises(ValueError, match="29 features, but the model expects 30"):
        estimator.to_onnx(data=X[:, :29])
    for export in ("to_onnx", "to_sklearn"):
        with pytest.raises(ValueError, match="not fitted"):
            getattr(linsep.Perceptron(), export)()


def test_without_scikit_learn(monkeypatch):
    X, y = SETS["iris"]
    estimator = linsep.Perceptron().fit(X, y)
    for name in [name for name in sys.modules if name == "sklearn" or name.startswith("sklearn.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"to_sklearn needs scikit-learn: pip install scikit-learn"):
        estimator.to_sklearn()


@pytest.mark.parametrize("labels", [["10", "9", "2"], ["10", "9"], [10, 9, 2], ["b", "a"], ["1e1", "9", "x"]])
def test_classes_have_one_order(labels):
    """That of `classes_`, which is NumPy's: strings are sorted as strings, also where they look like numbers."""
    rows = np.random.default_rng(1).normal(size=(90, 3))
    y = np.array(labels)[np.argmax(rows[:, : len(labels)], axis=1)]
    fitted = linsep.LogisticRegression().fit(rows, y)
    assert np.array_equal(fitted.classes_, np.unique(y))
    file = fitted.to_onnx(input="f64")
    assert file.classes == [linsep._labels.label_name(label) for label in fitted.classes_.tolist()] or "1e1" in labels
    session = onnxruntime.InferenceSession(bytes(file))
    label, scores, probabilities = session.run(None, {"X": rows})
    np.testing.assert_allclose(probabilities, fitted.predict_proba(rows), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scores, fitted.decision_function(rows), rtol=1e-9, atol=1e-9)
    assert np.array_equal(np.array(file.classes)[np.argmax(probabilities, axis=1)], label)
    # The model that it holds has no labels of Python: its classes are numbers where all names are.
    own = fitted.model_.to_onnx(input="f64")
    assert sorted(own.classes) == sorted(file.classes)
