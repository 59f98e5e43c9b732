"""The functions: separate, verify, check_separation, compare, tune, theory."""

from __future__ import annotations

import warnings

import linsep
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

X, Y = load_breast_cancer(return_X_y=True)
IRIS, KINDS = load_iris(return_X_y=True)


def test_a_separation_and_its_proof(tmp_path, program):
    found = linsep.separate(X, Y)
    assert found.verdict == "complete" and found.separable and found.witness == []
    lower, upper = found.margin
    assert 0 < lower <= upper
    assert "complete" in repr(found) and "complete" in found._repr_html_()
    assert "separable" in found.explain()
    assert linsep.verify(found, X, Y) and linsep.verify(found.certificate, X, Y).accepted
    path = tmp_path / "proof.cert"
    found.save(path)
    assert linsep.verify(path, X, Y).accepted
    # The command line checks it too, on the same rows.
    values, labels = tmp_path / "X.npy", tmp_path / "y.npy"
    np.save(values, X)
    np.save(labels, Y)
    program("verify", path, values, "--labels", labels)
    # Other labels are other rows.
    flipped = Y.copy()
    flipped[0] = 1 - flipped[0]
    refused = linsep.verify(found, X, flipped)
    assert not refused and refused.record["reason"]
    with pytest.raises(ValueError, match="not a certificate"):
        linsep.verify("nothing\nat all\n", X, Y)
    with pytest.raises(FileNotFoundError):
        linsep.verify(tmp_path / "none", X, Y)


def test_overlap_names_rows():
    rows, labels = np.array([[1.0], [2.0], [3.0]]), ["no", "yes", "no"]
    found = linsep.separate(rows, labels)
    assert found.verdict == "overlap" and {entry["row"] for entry in found.witness} == {0, 1, 2}
    assert sum(entry["share"] for entry in found.witness) == pytest.approx(1)
    blamed = linsep.separate(rows, labels, blame=True).blame
    assert len(blamed) == 1
    kept = [i for i in range(3) if i not in blamed]
    rest = linsep.separate(rows[kept], np.array(labels)[kept]) if len(set(np.array(labels)[kept])) > 1 else None
    assert rest is None or rest.verdict == "complete"


def test_coefficients_say_which_are_infinite():
    # x separates up to the rows at 1, z is noise.
    x = np.array([0.0, 0.5, 1.0, 1.0, 1.5, 2.0])
    z = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0]) * [1, 1, 1, 1, -1, -1]
    y = np.array([0, 0, 0, 1, 1, 1])
    frame = pd.DataFrame({"x": x})
    found = linsep.separate(frame, y)
    assert found.verdict == "quasi-complete"
    assert found.coefficients["x"] == "+inf" and found.coefficients["(intercept)"] == "-inf"
    both = linsep.separate(np.column_stack([x, z]), y)
    assert both.verdict in ("quasi-complete", "complete")


def test_tables_of_sides():
    table = linsep.separate(IRIS, KINDS)
    assert isinstance(table, linsep.SeparationTable) and len(table) == 3
    assert table.verdicts == {"0 | rest": "complete", "1 | rest": "overlap", "2 | rest": "overlap"}
    assert [one.verdict for one in table] == list(table.verdicts.values()) and table[0].separable
    pairs = linsep.separate(IRIS, KINDS, pairs=True)
    assert len(pairs) == 3 and sorted(pairs.verdicts.values()) == ["complete", "complete", "overlap"]
    assert linsep.separate(IRIS, KINDS, positive=0).separable
    assert linsep.separate(IRIS, KINDS, classes=[1, 2]).verdict == "overlap"
    assert linsep.separate(IRIS[:100], KINDS[:100], bias="free").margin[0] > linsep.separate(IRIS[:100], KINDS[:100]).margin[0]
    for arguments, message in [
        ({"positive": 7}, "7"),
        ({"classes": "01"}, "classes='01'"),
        ({"bias": "x"}, "bias='x'"),
        ({"bias": "none", "bias_scale": 2.0}, "bias_scale= needs bias='append'"),
        ({"gap": -1.0}, "gap"),
        ({"columns": "some"}, "columns='some'"),
    ]:
        with pytest.raises(ValueError, match=message):
            linsep.separate(IRIS, KINDS, **arguments)


def test_check_separation_before_a_regression():
    frame = pd.DataFrame({"dose": [1.0, 2, 3, 4, 5, 6], "age": [30.0, 50, 20, 60, 40, 35]})
    y = [0, 0, 0, 1, 1, 1]
    with pytest.warns(linsep.SeparationWarning, match=r"completely separable.*dose \(\+inf\)"):
        found = linsep.check_separation(frame, y)
    assert found.verdict == "complete"
    with pytest.raises(linsep.SeparationError, match="completely"):
        linsep.check_separation(frame, y, on_found="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert linsep.check_separation(frame, y, on_found="ignore").separable
        both = pd.concat([frame, frame])
        assert linsep.check_separation(both, [*y, *(1 - label for label in y)]).verdict == "overlap"
    quasi = pd.DataFrame({"treated": [0.0, 0, 0, 1, 1, 1], "age": [30.0, 40, 50, 60, 40, 35]})
    with pytest.raises(linsep.SeparationError, match=r"quasi-completely.*treated \(\+inf\)"):
        linsep.check_separation(quasi, [0, 1, 0, 1, 1, 1], on_found="raise")
    # A design matrix has its own constant column: none is added.
    design = frame.assign(Intercept=1.0)[["Intercept", "dose", "age"]]
    found = linsep.check_separation(design, y, on_found="ignore")
    assert set(found.coefficients) == {"Intercept", "dose", "age"}

    class Design(np.ndarray):
        class design_info:  # noqa: N801
            column_names = ["Intercept", "dose", "age"]

    matrix = design.to_numpy().view(Design)
    with pytest.warns(linsep.SeparationWarning, match=r"dose"):
        linsep.check_separation(matrix, y)
    assert linsep.check_separation(sparse.csr_matrix(design.to_numpy()), y, on_found="ignore").separable
    with pytest.raises(ValueError, match="3 classes"):
        linsep.check_separation(IRIS, KINDS)
    with pytest.raises(ValueError, match="on_found='shout'"):
        linsep.check_separation(frame, y, on_found="shout")


def test_compare():
    found = linsep.compare(IRIS, KINDS, learners=["perceptron", "svm"], grid={"C": [0.1, 10]})
    assert {entry["label"] for entry in found.learners} == {"perceptron", "svm C=0.1", "svm C=10"}
    assert found.best in ("perceptron", "svm") and "held out" in repr(found)
    assert linsep.compare(IRIS, KINDS, folds=2, max_seconds=1.0).learners
    for arguments, message in [
        ({"learners": ["nothing"]}, "nothing"),
        ({"learners": "svm"}, "learners='svm'"),
        ({"folds": 1}, "folds"),
        ({"metric": "luck"}, "metric='luck'"),
        ({"grid": {"nothing": [1]}}, "nothing"),
    ]:
        with pytest.raises(ValueError, match=message):
            linsep.compare(IRIS, KINDS, **arguments)


def test_theory():
    story = linsep.theory(IRIS[:100], KINDS[:100], max_seconds=2.0)
    assert story.record["status"] == "converged" and story.record["mistakes"] <= story.record["difficulty"]["upper"]
    assert "Novikoff" in repr(story) or "mistakes" in repr(story)
    with pytest.raises(ValueError, match="class"):
        linsep.theory(IRIS, KINDS)
    assert linsep.theory(IRIS, KINDS, positive=0, max_seconds=2.0).record["status"] == "converged"


def test_tune():
    found = linsep.tune(IRIS, KINDS, judge="none", folds=3)
    assert found.chosen in found.candidates and found.estimate is None
    assert found.model.predict(IRIS).tolist().count(0) == 50
    nested = linsep.TunedClassifier(folds=3).fit(IRIS, KINDS)
    assert 0 <= nested.tuned_.estimate["error"] < 0.2 and nested.score(IRIS, KINDS) > 0.9


def test_missing_cells_are_refused_where_they_must_be():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0, 4.0], "b": [1.0, 2, 3, 5]})
    with pytest.raises(ValueError, match="missing"):
        linsep.separate(frame, [0, 1, 0, 1])
    assert linsep.Perceptron().fit(frame, [0, 1, 0, 1]).predict(frame).shape == (4,)
