"""What Python users call things: parameters in errors, columns of arrays, categories, no penalty."""

import json
import random
import re
import subprocess
import sys
import textwrap

import linsep
import numpy as np
import pandas as pd
import pytest
from linsep import _engine, estimators
from linsep._base import UNSAID
from linsep._settings import SETTINGS
from scipy.sparse import csc_matrix, csr_matrix

ROWS = np.random.default_rng(3).normal(size=(60, 3))
LABELS = (ROWS[:, 0] + np.random.default_rng(4).normal(size=60) > 0).astype(int)


@pytest.mark.parametrize("learn", [linsep.LogisticRegression, linsep.LinearSVM])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_row_of_weight_zero_is_no_row(learn, sparse):
    random = np.random.default_rng(1)
    rows = (random.random((300, 20)) < 0.2) * random.normal(size=(300, 20))
    rows[7] *= 1000
    labels = random.integers(0, 2, 300)
    weights = np.ones(300)
    weights[7] = 0
    form = csr_matrix if sparse else np.asarray
    kept = np.arange(300) != 7
    with_zero = learn().fit(form(rows), labels, sample_weight=weights)
    without = learn().fit(form(rows[kept]), labels[kept])
    np.testing.assert_allclose(
        with_zero.decision_function(form(rows[kept])), without.decision_function(form(rows[kept])), rtol=1e-4, atol=1e-4
    )


def test_damaged_matrices_are_refused():
    for form in (csr_matrix, csc_matrix):
        for place, value in ((3, 10**8), (3, -1), (-1, 10**8), (0, 1)):
            damaged = form((np.random.default_rng(0).random((9, 9)) < 0.4).astype(float))
            damaged.indptr[place] = value
            with pytest.raises(ValueError, match="indptr is damaged"):
                linsep.Perceptron().fit(damaged, [0, 1, 0, 1, 0, 1, 0, 1, 0])
    damaged = csc_matrix(np.eye(9))
    damaged.indices[2] = 10**6
    with pytest.raises(ValueError, match="indices is damaged"):
        linsep.Perceptron().fit(damaged, [0, 1, 0, 1, 0, 1, 0, 1, 0])


def test_a_state_takes_rows_of_its_width_only():
    state = linsep.State("perceptron", columns=4, classes=[0, 1])
    for form in (np.asarray, csr_matrix):
        with pytest.raises(ValueError, match="X has 3 features, but the state has 4"):
            state.learn(form(ROWS), LABELS)


def test_more_weights_than_memory_holds_are_an_error_of_python():
    program = """
        import resource, linsep
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        try:
            linsep.State("perceptron", columns=2**31, classes=[0, 1])
        except MemoryError as error:
            print("MemoryError:", error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert done.stdout.startswith("MemoryError: weights for 2,147,483,648 features"), done


def test_errors_name_parameters_that_there_are():
    gap = pd.DataFrame(ROWS, columns=list("abc"))
    gap.iloc[2, 0] = None
    gap["d"] = "word"
    cases = [
        (lambda: linsep.compare(ROWS, LABELS, folds=1), "folds="),
        (lambda: linsep.tune(ROWS, LABELS, folds=1), "folds="),
        (lambda: linsep.TunedClassifier(folds=1).fit(ROWS, LABELS), "folds="),
        (lambda: linsep.compare(ROWS, LABELS, learners=["nope"]), "learners="),
        (lambda: linsep.compare(ROWS, LABELS, grid={"CC": [1]}), "grid="),
        (lambda: linsep.separate(gap, LABELS), "leave the row out"),
        (lambda: linsep.check_separation(gap, LABELS), "leave the row out"),
        (lambda: linsep.theory(gap, LABELS), "leave the row out"),
        (lambda: linsep.Perceptron(bias_scale="x").fit(ROWS, LABELS), "bias_scale='x': expected a number"),
        (lambda: linsep.State(columns=3, bias_scale="x"), "bias_scale='x': expected a number"),
    ]
    for run, told in cases:
        with pytest.raises(ValueError) as raised:
            run()
        text = str(raised.value)
        assert told in text and not re.search(r"holdout=|missing=|na=|learner=|options=|--", text), text


def test_the_text_of_a_report_names_what_python_has():
    found = linsep.separate(ROWS, ROWS[:, 0] > 0)
    assert "save(path)" in found.explain() and "output=" not in found.explain()
    story = str(linsep.theory(ROWS, ROWS[:, 0] > 0))
    assert not re.search(r"^- .*:$", story, re.MULTILINE) and not story.rstrip().endswith("What to do next")


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_columns_of_arrays_are_counted_as_python_counts(form):
    rows = np.random.default_rng(5).integers(-3, 4, size=(80, 3)).astype(float)
    labels = np.random.default_rng(6).integers(0, 2, 80)
    # A column that only rows of one class have: quasi-complete separation.
    rows[:, 1] = labels * (np.arange(80) % 5 == 0)
    with pytest.warns(linsep.SeparationWarning, match=r"x1 \(\+inf\)"):
        found = linsep.check_separation(form(rows), labels)
    assert found.coefficients["x1"] == "+inf" and set(found.coefficients) == {"(intercept)", "x0", "x1", "x2"}
    assert linsep.separate(form(rows), labels).coefficients["x1"] == "+inf"


def test_no_penalty_is_said_as_scikit_learn_says_it():
    none = linsep.LogisticRegression(penalty=None).fit(ROWS, LABELS)
    said = linsep.LogisticRegression(penalty="none").fit(ROWS, LABELS)
    assert np.array_equal(none.coef_, said.coef_)
    assert not np.allclose(none.coef_, linsep.LogisticRegression().fit(ROWS, LABELS).coef_)


def test_categories_are_words_and_truth_values_are_numbers():
    codes = np.arange(60) % 3
    middle = (codes == 1).astype(int)
    frame = pd.DataFrame({"g": pd.Categorical(codes)})
    assert linsep.LogisticRegression().fit(frame, middle).score(frame, middle) == 1.0
    truth = pd.DataFrame({"t": np.array([True, False, None] * 20, dtype=object), "x": ROWS[:, 0]})
    fitted = linsep.Perceptron(epochs=1).fit(truth, LABELS)
    assert [name for name in fitted.model_.feature_names if name.startswith("t=")] == [], fitted.model_.feature_names
    with pytest.raises(ValueError, match="half a character"):
        linsep.Perceptron().fit(pd.DataFrame({"w": np.array(["a", "\ud800"] * 30, dtype=object)}, dtype=object), LABELS)


@pytest.mark.parametrize("count", [1, 255, 256, 257, 1000])
def test_rows_are_predicted_alike_in_any_number(count):
    rows = np.random.default_rng(7).normal(size=(1000, 4))
    labels = (rows[:, 0] > 0).astype(int)
    for learn in (linsep.VotedPerceptron, linsep.KernelPerceptron):
        fitted = learn(epochs=2).fit(rows[:200], labels[:200])
        assert np.array_equal(fitted.decision_function(rows)[:count], fitted.decision_function(rows[:count]))


def test_a_specification_has_every_parameter_at_its_place():
    """Random parameters, read back from the specification that an estimator makes of them."""
    r = random.Random(9)
    shown = {entry["name"]: entry for entry in json.loads(_engine.settings())}
    assert {name: entry["at"] for name, entry in shown.items()} == {name: place for name, (place, _, _) in SETTINGS.items()}
    seen = set()
    for _ in range(400):
        cls = getattr(linsep, r.choice(estimators.__all__))
        given = {}
        for name in r.sample(cls._settings, r.randint(0, min(4, len(cls._settings)))):
            entry = shown[name]
            values = {
                "whole": lambda: r.randint(2, 2**40),
                "number": lambda: r.random() * 10 ** r.randint(-9, 9),
                "flag": lambda: True,
                "class_weight": lambda: {"a": 2.0, "b": 0.1},
                "choice": lambda entry=entry: r.choice(entry["values"])["name"],
            }
            given[name] = values[entry["kind"]]()
        spec = cls(**given)._spec()
        for name, value in given.items():
            place, kind, words = SETTINGS[name]
            found = spec
            for part in place.split("."):
                found = found.get(part) if isinstance(found, dict) else None
            if kind == "class_weight":
                assert found == {"named": [["a", 2.0], ["b", 0.1]]}
            elif value == UNSAID.get(name):
                assert found is None, (cls, name, spec)
            else:
                assert found == words.get(value, value), (cls, name, spec)
                seen.add(name)
    assert seen >= set(SETTINGS) - {"class_weight"}
