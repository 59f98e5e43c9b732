"""Evaluation, explanations, weights and effects are those of the program, by name, and in the shapes of scikit-learn."""

import json
import math

import linsep
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_iris

CANCER, GOOD = load_breast_cancer(return_X_y=True)
IRIS, KINDS = load_iris(return_X_y=True)


def titanic_like():
    random = np.random.default_rng(2)
    frame = pd.DataFrame({
        "age": np.where(random.random(120) < 0.1, np.nan, random.integers(1, 80, 120)),
        "town": random.choice(["Ulm", "Bonn", "Rom"], 120),
        "fare": random.normal(size=120).round(2),
    })  # fmt: skip
    return frame, np.where((frame["town"] == "Ulm") ^ (random.random(120) < 0.2), "yes", "no")


def same(own, theirs):
    """Records that are equal, but for digits that a text may lose."""
    if isinstance(own, dict):
        return own.keys() == theirs.keys() and all(same(own[name], theirs[name]) for name in own)
    if isinstance(own, list):
        return len(own) == len(theirs) and all(map(same, own, theirs))
    return own == theirs or (isinstance(own, float) and math.isclose(own, theirs, rel_tol=1e-12))


@pytest.mark.parametrize("name", ["iris", "breast_cancer", "spam"])
def test_an_evaluation_is_the_record_of_the_program(program, real_sets, tmp_path, name):
    real = real_sets[name]
    estimator = linsep.LogisticRegression(epochs=1000).fit(real.X[::2], real.y[::2])
    path, rows = tmp_path / "own.model", tmp_path / "rows.csv"
    estimator.save(path)
    rest = pd.concat([real.X, real.y], axis=1)[1::2]
    rest.to_csv(rows, index=False)
    found = estimator.evaluate(real.X[1::2], real.y[1::2])
    record = json.loads(program("evaluate", path, rows, "--json").stdout)
    assert same(found.record, record)
    assert same(estimator.model_.evaluate(linsep.read(rows)).record, record)
    printed = program("evaluate", path, rows).stdout
    assert found.text.split()[:6] == printed.split()[:6]


def test_measures_are_those_of_scikit_learn():
    model = linsep.LogisticRegression().fit(CANCER[::2], GOOD[::2])
    X, y = CANCER[1::2], GOOD[1::2]
    found = model.evaluate(X, y)
    assert found.error == pytest.approx(1 - model.score(X, y))
    assert np.array_equal(found.confusion, metrics.confusion_matrix(y, model.predict(X)))
    assert found.record["auc"] == pytest.approx(metrics.roc_auc_score(y, model.decision_function(X)))
    assert found.reliability["log_loss"] == pytest.approx(metrics.log_loss(y, model.predict_proba(X)))
    theirs = metrics.roc_curve(y, model.decision_function(X), drop_intermediate=False)
    for own, other in zip(found.roc, theirs, strict=True):
        assert np.allclose(own, other)
    low, high = found.error_interval
    assert low < found.error < high
    many = linsep.LogisticRegression().fit(IRIS, KINDS)
    found = many.evaluate(csr_matrix(IRIS), KINDS)
    assert np.array_equal(found.confusion, metrics.confusion_matrix(KINDS, many.predict(IRIS)))
    assert found.roc is None and found.classes.tolist() == [0, 1, 2]


def test_classes_have_the_order_of_the_estimator():
    # As words 10 comes before 9.
    names = np.array([9, 10])[GOOD]
    model = linsep.LinearSVM(epochs=10**5).fit(CANCER, names)
    found = model.evaluate(CANCER, names)
    assert found.classes.tolist() == model.classes_.tolist() == [9, 10]
    assert np.array_equal(found.confusion, metrics.confusion_matrix(names, model.predict(CANCER)))
    assert found.reliability is None
    assert [row["class"] for row in model.explain(CANCER[:9])] == model.predict(CANCER[:9]).tolist()


def test_training_rows_and_unknown_labels_are_told_of():
    model = linsep.Perceptron().fit(CANCER, GOOD)
    found = model.evaluate(CANCER, GOOD)
    assert found.record["training_rows"] and "on the training rows" in found.text
    assert "training_rows" not in model.evaluate(CANCER[:-1], GOOD[:-1]).record
    with pytest.raises(ValueError, match='the label "7" is not among the model\'s classes'):
        model.evaluate(CANCER, np.where(np.arange(len(GOOD)) == 3, 7, GOOD))
    with pytest.raises(ValueError, match="X has 2 features"):
        model.evaluate(CANCER[:, :2], GOOD)
    with pytest.raises(ValueError, match="inconsistent"):
        model.evaluate(CANCER, GOOD[:3])


def test_a_weight_is_so_many_rows_of_an_evaluation():
    frame, labels = titanic_like()
    counts = np.random.default_rng(0).integers(1, 4, len(labels))
    repeated = np.repeat(np.arange(len(labels)), counts)
    for X in (frame, frame[["fare"]], frame[["fare"]].to_numpy()):
        model = linsep.LogisticRegression().fit(X, labels)
        rows = X.iloc[repeated] if isinstance(X, pd.DataFrame) else X[repeated]
        weighted = model.evaluate(X, labels, sample_weight=counts)
        whole = model.evaluate(rows, labels[repeated])
        assert weighted.record["rows"] == counts.sum() and np.array_equal(weighted.confusion, whole.confusion)
        for name in ("error", "auc", "balanced_error", "error_interval"):
            assert same(weighted.record[name], whole.record[name]), name
        assert all(np.allclose(one, other) for one, other in zip(weighted.roc, whole.roc, strict=True))


def test_parts_of_an_explanation_add_up_to_the_score():
    frame, labels = titanic_like()
    for features in (None, "splines", "pairs"):
        model = linsep.LogisticRegression(features=features).fit(frame, labels)
        scores = model.decision_function(frame)
        for row, score, label in zip(model.explain(frame), scores, model.predict(frame), strict=True):
            assert row["class"] == label and {row["class"], row["other"]} == {"no", "yes"}
            assert row["score"] == pytest.approx(abs(score)) == row["constant"] + sum(part["effect"] for part in row["parts"])
            effects = [part["effect"] for part in row["parts"]]
            assert effects == sorted(effects, reverse=True)
    row = model.explain(frame[:1])[0]
    assert "fare" in {part["feature"] for part in row["parts"]}
    # No sum: what each feature alone is good for.
    kernel = linsep.KernelPerceptron().fit(IRIS, KINDS).explain(IRIS[:2])
    assert all(row["constant"] is None and row["parts"] for row in kernel)


def test_weights_and_effects_are_those_of_inspect(program, tmp_path):
    frame, labels = titanic_like()
    two = linsep.LogisticRegression(features="splines+pairs").fit(frame, labels)
    many = linsep.LogisticRegression().fit(IRIS, np.array(["a", "b", "c"])[KINDS])
    for model in (two, many):
        path = tmp_path / "own.model"
        model.save(path)
        record = json.loads(program("inspect", path, "--json", "--effects", "--top", "1000000").stdout)
        assert same(model.model_.record | json.loads(model.model_._engine.record(None, True)), record)
        each = record["weights"] if model is many else [{**record, "class": "yes"}]
        effects = model.effects()
        assert list(effects) == [own["class"] for own in each]
        for own in each:
            table = [entry for entry in model.weights() if entry["class"] == own["class"]]
            assert table[0]["feature"] == "(intercept)" and table[0]["weight"] == pytest.approx(own["intercept"])
            assert [entry["feature"] for entry in table[1:]] == [entry["feature"] for entry in own["strongest"]]
            found = effects[own["class"]]
            assert same(found["columns"], own["effects"]) and found["constant"] == pytest.approx(own["effects_constant"])
    by_name = {entry["feature"]: entry["weight_per_unit"] for entry in many.weights() if entry["class"] == "b"}
    assert by_name == pytest.approx(dict(zip(["(intercept)", *many.model_.feature_names], [many.intercept_[1], *many.coef_[1]], strict=True)))
    assert len(many.weights(top=2)) == 3 * 3
    for call in (linsep.KernelPerceptron().fit(IRIS, KINDS).weights, linsep.Memoriser().fit(IRIS, KINDS).effects):
        with pytest.raises(AttributeError, match="decision function of this model"):
            call()


def test_what_is_not_fitted_says_so():
    for name in ("weights", "effects"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(linsep.Perceptron(), name)()
    with pytest.raises(ValueError, match="not fitted yet"):
        linsep.Perceptron().explain(IRIS)
