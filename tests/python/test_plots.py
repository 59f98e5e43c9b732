"""The plots: the numbers in them are those of the evidence, and what cannot be drawn is refused in clear words."""

from __future__ import annotations

import json
import sys

import linsep
import matplotlib
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from linsep import _engine  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.contour import ContourSet  # noqa: E402

IRIS, KINDS = load_iris(return_X_y=True)
CANCER, GOOD = load_breast_cancer(return_X_y=True)
SETOSA = KINDS == 0
#: Sepal length and width, of setosa and the others: separable.
APART = IRIS[:, :2]
#: Two species that overlap.
MIXED, SPECIES = IRIS[50:], KINDS[50:]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def line(ax, start):
    """The line whose label starts so."""
    (found,) = [each for each in ax.get_lines() if str(each.get_label()).startswith(start)]
    return np.asarray(found.get_xdata(), dtype=float), np.asarray(found.get_ydata(), dtype=float)


def points(ax, label):
    """The points whose label has these words."""
    (found,) = [each for each in ax.collections if label in str(each.get_label())]
    return np.asarray(found.get_offsets())


def corners(ax, style):
    """The corners of the contours that are drawn so."""
    sets = [each for each in ax.collections if isinstance(each, ContourSet) and not each.filled]
    chosen = [each for each in sets if (each.get_linestyles()[0][1] is None) == (style == "solid")]
    return [np.concatenate([path.vertices for path in each.get_paths()]) for each in chosen]


def head_of(ax):
    """The title and the line on how to read it."""
    (told,) = [text.get_text() for text in ax.texts if getattr(text, "xyann", None) == (0, 5)]
    return ax.get_title(loc="left").replace("\n", " "), told.replace("\n", " ")


# ---------------------------------------------------------------------------------------------------------------- trace


def test_the_trace_is_that_of_the_command_line(tmp_path, program):
    values, labels, path = tmp_path / "X.npy", tmp_path / "y.npy", tmp_path / "trace.jsonl"
    np.save(values, APART)
    np.save(labels, SETOSA.astype(int))
    program("train", values, "--labels", labels, "--learner", "perceptron", "--trace", path, "--quiet")
    trace = [json.loads(text) for text in path.read_text().splitlines()]
    estimator = linsep.Perceptron().fit(APART, SETOSA)
    drawn = linsep.plot_trace(estimator, APART, SETOSA)
    for figure in (drawn, linsep.plot_trace(path), linsep.plot_trace(trace)):
        first, second, third, fourth = figure.axes
        updates = [point["update"] for point in trace]
        for ax, start, name in [
            (first, "⟨θₖ", "alignment"),
            (first, "kγ", "alignment_bound"),
            (second, "‖θₖ", "norm_squared"),
            (second, "kR²", "norm_squared_bound"),
        ]:
            x, y = line(ax, start)
            assert x.tolist() == updates and y.tolist() == [point[name] for point in trace]
        _, upper = line(third, "γ* is at most")
        assert upper.tolist() == np.minimum.accumulate([point["margin_upper"] for point in trace]).tolist()
        assert line(fourth, "mistakes so far")[1][-1] == estimator.n_updates_ == updates[-1]
        # The bounds are those of the evidence, but for rounding.
        bound, lower = line(fourth, "(R/γ)²")[1], line(third, "γ* is at least")[1]
        assert bound[0] == bound[1] == pytest.approx(estimator.mistake_bound_, rel=1e-9)
        assert lower[0] == pytest.approx(estimator.margin_interval_[0], rel=1e-9)
        assert upper[-1] >= estimator.margin_interval_[1] * (1 - 1e-12)
        assert head_of(third)[0] == (
            f"The best margin: {_engine.rounded(lower[0], False)} to {_engine.rounded(upper[-1], True)}"
        )
        assert f"{estimator.n_updates_} mistakes" in head_of(fourth)[0]
    # The inequalities of the proof, as they are drawn.
    assert (line(first, "⟨θₖ")[1] >= line(first, "kγ")[1]).all()
    assert (line(second, "‖θₖ")[1] <= line(second, "kR²")[1]).all()


def test_mistakes_after_each_pass():
    estimator = linsep.Perceptron(epochs=7).fit(CANCER, GOOD)
    figure = linsep.plot_trace(estimator, CANCER, GOOD)
    passes, mistakes = line(figure.axes[3], "mistakes so far")
    assert passes.tolist() == list(range(8))
    assert mistakes.tolist() == [0] + [each["updates"] for each in estimator.history_]


def test_a_trace_without_a_separator():
    estimator = linsep.AveragedPerceptron(epochs=3).fit(MIXED, SPECIES)
    figure = linsep.plot_trace(estimator, MIXED, SPECIES)
    first, _, third, fourth = figure.axes
    assert not first.get_lines() and "no separator" in head_of(first)[1]
    assert "at most" in head_of(third)[0] and "no bound is known" in head_of(fourth)[0]


def test_what_has_no_trace(tmp_path):
    with pytest.raises(ValueError, match="LinearSVM does not learn from mistakes"):
        linsep.plot_trace(linsep.LinearSVM().fit(APART, SETOSA), APART, SETOSA)
    with pytest.raises(ValueError, match="X and y are required"):
        linsep.plot_trace(linsep.Perceptron().fit(APART, SETOSA))
    with pytest.raises(ValueError, match="3 classes"):
        linsep.plot_trace(linsep.Perceptron(), IRIS, KINDS)
    with pytest.raises(ValueError, match="shards="):
        linsep.plot_trace(linsep.Perceptron(shards=2), APART, SETOSA)
    with pytest.raises(ValueError, match="class_weight="):
        linsep.plot_trace(linsep.Perceptron(class_weight="balanced"), APART, SETOSA)
    with pytest.raises(TypeError, match="not int"):
        linsep.plot_trace(3)
    with pytest.raises(TypeError, match="list of dicts"):
        linsep.plot_trace([3])
    with pytest.raises(ValueError, match="empty"):
        linsep.plot_trace([])
    with pytest.raises(ValueError, match="no 'epoch'"):
        linsep.plot_trace([{"update": 1}])
    with pytest.raises(FileNotFoundError):
        linsep.plot_trace(tmp_path / "none")
    other = tmp_path / "other"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no trace of linsep"):
        linsep.plot_trace(other)
    other.write_text("3\n")
    with pytest.raises(ValueError, match="no trace of linsep"):
        linsep.plot_trace(other)
    _, one = plt.subplots()
    with pytest.raises(ValueError, match="needs 4"):
        linsep.plot_trace(linsep.Perceptron(), APART, SETOSA, ax=one)


# ------------------------------------------------------------------------------------------------------------- boundary


def test_the_boundary_of_two_features():
    X, y = MIXED[:, 2:], SPECIES
    svm = linsep.LinearSVM(gap=1e-9, epochs=100_000).fit(X, y)
    ax = linsep.plot_boundary(svm, X, y)
    agreements = svm.decision_function(X) * np.where(y == 2, 1, -1)
    assert np.array_equal(points(ax, "1 (50 rows)"), X[y == 1]) and np.array_equal(points(ax, "2 (50 rows)"), X[y == 2])
    assert np.array_equal(points(ax, "mistakes"), X[svm.predict(X) != y])
    assert np.array_equal(points(ax, "on the margin or within"), X[agreements <= 1 + 1e-3])
    # As many support vectors as the evidence counts, but for those that are on the margin without a weight.
    assert len(points(ax, "on the margin or within")) >= svm.evidence_["detail"]["support"]
    (boundary,), (margin,) = corners(ax, "solid"), corners(ax, "dashed")
    np.testing.assert_allclose(svm.decision_function(boundary), 0, atol=1e-9)
    np.testing.assert_allclose(np.abs(svm.decision_function(margin)), 1, atol=1e-9)
    wrong = int((svm.predict(X) != y).sum())
    assert head_of(ax)[0] == f"LinearSVM: {wrong} mistakes on 100 rows" and "boundary" in head_of(ax)[1]
    # The classes differ by their markers, not by colour alone.
    shapes = [each.get_paths()[0].vertices.tolist() for each in ax.collections if "50 rows" in str(each.get_label())]
    assert shapes[0] != shapes[1]


def test_the_widest_margin_and_its_rows():
    widest = linsep.MaxMarginClassifier(scale="none").fit(APART, SETOSA)
    ax = linsep.plot_boundary(widest, APART, SETOSA)
    scores = np.abs(widest.decision_function(APART))
    (margin,) = corners(ax, "dashed")
    np.testing.assert_allclose(np.abs(widest.decision_function(margin)), scores.min(), rtol=1e-9)
    ringed = points(ax, "nearest the boundary")
    assert np.array_equal(ringed, APART[scores <= scores.min() * (1 + 1e-3)])
    # That margin is the one of the evidence.
    weights = np.append(widest.coef_[0], widest.intercept_)
    assert scores.min() / np.linalg.norm(weights) == pytest.approx(widest.margin_interval_[0], rel=1e-6)


def test_the_plane_of_the_weights():
    logistic = linsep.LogisticRegression().fit(CANCER, GOOD)
    ax = linsep.plot_boundary(logistic, CANCER, GOOD)
    spread = CANCER.std(axis=0)
    length = np.linalg.norm(logistic.coef_[0] * spread)
    for which in (0, 1):
        drawn = points(ax, f"{which} (")
        np.testing.assert_allclose(drawn[:, 0], logistic.decision_function(CANCER[GOOD == which]) / length, rtol=1e-9)
    wrong = logistic.predict(CANCER) != GOOD
    np.testing.assert_allclose(
        points(ax, "mistakes")[:, 0], logistic.decision_function(CANCER[wrong]) / length, rtol=1e-9
    )
    # The second axis is the direction across with the most spread: no other has more.
    scaled = (CANCER - CANCER.mean(axis=0)) / spread
    direction = logistic.coef_[0] * spread / length
    across = scaled - np.outer(scaled @ direction, direction)
    second = np.concatenate([points(ax, "0 (")[:, 1], points(ax, "1 (")[:, 1]])
    most = np.linalg.eigvalsh(across.T @ across)[-1]
    assert (second**2).sum() == pytest.approx(most, rel=1e-9)
    assert f"{100 * most / (across**2).sum():.2f} %" in ax.get_ylabel()
    # The boundary is at 0; there is no margin where rows are on the wrong side.
    (boundary,) = [each for each in ax.get_lines() if len(each.get_xdata()) == 2]
    assert list(boundary.get_xdata()) == [0, 0]
    # Where every row is right, the margin is the distance of the nearest.
    apart = linsep.MaxMarginClassifier().fit(IRIS, SETOSA)
    ax = linsep.plot_boundary(apart, IRIS, SETOSA)
    length = np.linalg.norm(apart.coef_[0] * IRIS.std(axis=0))
    half = np.abs(apart.decision_function(IRIS)).min() / length
    at = sorted(float(each.get_xdata()[0]) for each in ax.get_lines())
    assert at == pytest.approx([-half, 0, half], rel=1e-9)


def test_boundaries_that_are_no_lines():
    X, y = MIXED[:, 2:], SPECIES
    for curved in (linsep.KernelPerceptron().fit(X, y), linsep.LogisticRegression(features="splines").fit(X, y)):
        ax = linsep.plot_boundary(curved, X, y)
        corner = corners(ax, "solid")[0]
        scores = curved.decision_function(X)
        assert np.abs(curved.decision_function(corner)).max() < 1e-2 * np.abs(scores).max()
    # Several classes: on each side of a border another class is predicted.
    logistic = linsep.LogisticRegression().fit(IRIS[:, 2:], KINDS)
    ax = linsep.plot_boundary(logistic, IRIS[:, 2:], KINDS)
    for border in corners(ax, "solid"):
        best = np.sort(logistic.decision_function(border), axis=1)
        np.testing.assert_allclose(best[:, -1], best[:, -2], atol=1e-6)
    assert "predicted class changes" in head_of(ax)[1]


def test_more_features_than_rows():
    chosen = np.random.default_rng(0)
    X, y = chosen.normal(size=(12, 40)), np.arange(12) % 2
    averaged = linsep.AveragedPerceptron(scale="none").fit(X, y)
    ax = linsep.plot_boundary(averaged, X, y)
    drawn = np.concatenate([points(ax, "0 ("), points(ax, "1 (")])
    spread = X.std(axis=0)
    length = np.linalg.norm(averaged.coef_[0] * spread)
    rows = np.concatenate([X[y == 0], X[y == 1]])
    np.testing.assert_allclose(drawn[:, 0], averaged.decision_function(rows) / length, rtol=1e-9)
    direction = averaged.coef_[0] * spread / length
    scaled = (X - X.mean(axis=0)) / spread
    across = scaled - np.outer(scaled @ direction, direction)
    assert (drawn[:, 1] ** 2).sum() == pytest.approx(np.linalg.norm(across, 2) ** 2, rel=1e-9)


def test_rows_of_every_kind(tmp_path, program):
    path = ROOT / "data" / "breast_cancer.csv"
    data = linsep.read(path)
    frame = pd.read_csv(path)
    model = tmp_path / "one.model"
    program("train", path, "--learner", "svm", "-o", model, "--quiet")
    loaded = linsep.load(model)
    drawn = [
        linsep.plot_boundary(loaded, data),
        linsep.plot_boundary(loaded, data.X, data.y),
        linsep.plot_boundary(loaded, frame.iloc[:, :-1], frame.iloc[:, -1]),
        linsep.plot_boundary(loaded, sparse.csr_matrix(data.X), data.y),
        linsep.plot_boundary(linsep.LinearSVM().fit(frame.iloc[:, :-1], frame.iloc[:, -1]), data),
    ]
    first = [points(ax, "malignant") for ax in drawn]
    assert all(np.array_equal(first[0], each) for each in first)
    assert head_of(drawn[0])[0].startswith("svm: ")
    two = frame[["radius_mean", "texture_mean"]] if "radius_mean" in frame else frame.iloc[:, :2]
    ax = linsep.plot_boundary(linsep.Perceptron().fit(two, frame.iloc[:, -1]), two, frame.iloc[:, -1])
    assert [ax.get_xlabel(), ax.get_ylabel()] == list(two.columns)
    # One side against the rest: all classes of the rest are on the same side.
    program("train", ROOT / "data" / "iris.csv", "--positive", "setosa", "-o", model, "--quiet")
    ax = linsep.plot_boundary(linsep.load(model), linsep.read(ROOT / "data" / "iris.csv"))
    assert len(points(ax, "setosa (50 rows)")) == 50 and len(points(ax, "(100 rows)")) == 100
    # One feature: the classes are apart on the second axis.
    ax = linsep.plot_boundary(linsep.Perceptron().fit(IRIS[:, 2:3], SETOSA), IRIS[:, 2:3], SETOSA)
    assert set(points(ax, "True")[:, 1]) == {1.0} and set(points(ax, "False")[:, 1]) == {0.0}


def test_what_has_no_boundary():
    svm = linsep.LinearSVM().fit(APART, SETOSA)
    for source in (3, None, "svm", linsep.separate(APART, SETOSA)):
        with pytest.raises(TypeError, match="fitted estimator of linsep or a linsep.Model"):
            linsep.plot_boundary(source, APART, SETOSA)
    with pytest.raises(ValueError, match="not fitted"):
        linsep.plot_boundary(linsep.LinearSVM(), APART, SETOSA)
    with pytest.raises(ValueError, match="3 classes on 4 features"):
        linsep.plot_boundary(linsep.LogisticRegression().fit(IRIS, KINDS), IRIS, KINDS)
    with pytest.raises(ValueError, match="no linear function"):
        linsep.plot_boundary(linsep.KernelPerceptron().fit(IRIS, SETOSA), IRIS, SETOSA)
    with pytest.raises(ValueError, match="X has 4 features, but the model expects 2"):
        linsep.plot_boundary(svm, IRIS, SETOSA)
    with pytest.raises(ValueError, match="label 'no'"):
        linsep.plot_boundary(svm, APART, ["no"] * 150)
    with pytest.raises(ValueError, match="150 rows and 3 labels"):
        linsep.plot_boundary(svm, APART, SETOSA[:3])
    with pytest.raises(ValueError, match="y is required"):
        linsep.plot_boundary(svm, APART)
    with pytest.raises(ValueError, match="NaN"):
        linsep.plot_boundary(svm, APART * np.nan, SETOSA)
    with pytest.raises(ValueError, match="words or missing cells"):
        linsep.plot_boundary(svm, pd.DataFrame({"a": ["x"], "b": ["y"]}), [True])


# -------------------------------------------------------------------------------------------------------------- compare


@pytest.mark.parametrize("metric", ["error", "balanced-error", "auc", "f1"])
def test_learners_side_by_side(metric):
    found = linsep.compare(CANCER, GOOD, metric=metric, learners=["perceptron", "svm", "logistic"], folds=3)
    ax = linsep.plot_compare(found)
    values = [100 * entry["value"] for entry in found.learners]
    (bars,) = ax.containers
    x, y = bars.lines[0].get_data()
    assert x.tolist() == values and y.tolist() == [0, 1, 2]
    spans = [segment[:, 0] for segment in bars.lines[2][0].get_segments()]
    for (left, right), entry in zip(spans, found.learners, strict=True):
        assert right - left == pytest.approx(200 * entry["value_error"], rel=1e-9)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [entry["label"] for entry in found.learners]
    assert line(ax, "always")[0].tolist() == [100 * found.record["baseline"]["value"]] * 2
    # The numbers beside it are those of the text.
    beside = [text.get_text() for text in ax.texts if "±" in text.get_text()]
    assert len(beside) == 3 and all(each in found.text for each in beside)
    assert found.learners[0]["label"] in head_of(ax)[0] and "held out once, in 3 folds" in head_of(ax)[1]
    if metric == "error":
        training = line(ax, "on the training rows")[0]
        assert training.tolist() == [100 * entry["training_error"] for entry in found.learners]
    # The best has the smallest value, and stands at the top.
    assert values == sorted(values) and ax.get_ylim()[0] > ax.get_ylim()[1]


def test_learners_by_log_loss_and_without_a_model():
    found = linsep.compare(CANCER, GOOD, metric="log-loss", learners=["logistic"], grid={"C": [0.1, 1]}, folds=3)
    ax = linsep.plot_compare(found)
    assert ax.containers[0].lines[0].get_xdata().tolist() == [entry["value"] for entry in found.learners]
    assert all(each in found.text for each in [text.get_text() for text in ax.texts if "±" in text.get_text()])
    # A learner without a model has no value, and no place.
    found = linsep.compare(MIXED, SPECIES, learners=["svm", "max-margin"], folds=3)
    ax = linsep.plot_compare(found)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["svm"]
    with pytest.raises(ValueError, match="no learner has a value"):
        linsep.plot_compare(linsep.compare(MIXED, SPECIES, learners=["max-margin"], folds=3))
    for wrong in (3, found.record, linsep.Perceptron()):
        with pytest.raises(TypeError, match="linsep.compare"):
            linsep.plot_compare(wrong)


# ---------------------------------------------------------------------------------------------------------- calibration


@pytest.mark.parametrize("name", ["spam", "iris"])
def test_probabilities_that_come_true(name, tmp_path, program):
    path, model = ROOT / "data" / f"{name}.csv", tmp_path / "one.model"
    program("train", path, "--learner", "logistic", "--holdout", "0.5", "-o", model, "--quiet")
    told = json.loads(program("evaluate", model, path, "--json", "--quiet").stdout)["probabilities"]
    ax = linsep.plot_calibration(linsep.load(model), linsep.read(path))
    (bars,) = ax.containers
    x, y = bars.lines[0].get_data()
    np.testing.assert_allclose(x, [each["mean_probability"] for each in told["bins"]], rtol=1e-12)
    assert y.tolist() == [each["observed"] for each in told["bins"]]
    spans = [segment[:, 1] for segment in bars.lines[2][0].get_segments()]
    for span, each in zip(spans, told["bins"], strict=True):
        interval = each["observed_interval"]
        np.testing.assert_allclose(span, [interval["lower"], interval["upper"]], atol=1e-12)
    counts = [text.get_text() for text in ax.texts if text.get_position()[1] == 1.055]
    assert counts == [f"{each['rows']:,}" for each in told["bins"]]
    title = head_of(ax)[0]
    assert f"log loss {told['log_loss']:.4f}" in title and f"Brier {told['brier']:.4f}" in title
    assert f"ECE {told['expected_calibration_error']:.4f}" in title
    assert line(ax, "perfect calibration")[0].tolist() == [0, 1]


def test_what_has_no_calibration():
    logistic = linsep.LogisticRegression().fit(CANCER, GOOD)
    with pytest.raises(ValueError, match="no probabilities: train it with probabilities=True"):
        linsep.plot_calibration(linsep.Perceptron().fit(CANCER, GOOD), CANCER, GOOD)
    with pytest.raises(ValueError, match="y is required"):
        linsep.plot_calibration(logistic, CANCER)
    with pytest.raises(ValueError, match='label "7"'):
        linsep.plot_calibration(logistic, CANCER, [7] * len(GOOD))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        linsep.plot_calibration(logistic, CANCER, GOOD[:5])
    with pytest.raises(TypeError, match="not dict"):
        linsep.plot_calibration({}, CANCER, GOOD)


# ----------------------------------------------------------------------------------------------------------- separation


@pytest.mark.parametrize("bias", ["append", "free"])
def test_the_widest_gap(bias):
    found = linsep.separate(APART, SETOSA, bias=bias)
    ax = linsep.plot_separation(found, APART, SETOSA)
    lower, upper = found.margin
    (boundary,), (margin,) = corners(ax, "solid"), corners(ax, "dashed")
    # Two points of the boundary give its weights; the rows are as far from it as the certificate proves.
    start, end = boundary[0], boundary[-1]
    normal = np.array([end[1] - start[1], start[0] - end[0]])
    constant = -normal @ start
    size = np.hypot(np.linalg.norm(normal), constant if bias == "append" else 0.0)
    distances = np.abs(APART @ normal + constant) / size
    assert lower * (1 - 1e-9) <= distances.min() <= upper * (1 + 1e-9)
    np.testing.assert_allclose(np.abs(margin @ normal + constant) / size, lower, rtol=1e-6)
    ringed = points(ax, "at the margin")
    assert {tuple(point) for point in ringed} == {
        tuple(APART[entry["row"]])
        for entry in found.record["closest_rows"]
        if entry["distance"] <= (1 + 1e-3) * found.record["closest_rows"][0]["distance"]
    }
    assert head_of(ax)[0] == (
        f"Completely separable: the best margin is between {_engine.rounded(lower, False)} and {_engine.rounded(upper, True)}"
    )


def test_the_widest_gap_of_many_features():
    found = linsep.separate(IRIS, KINDS, positive=0)
    ax = linsep.plot_separation(found, IRIS, KINDS)
    left, middle, right = sorted(float(each.get_xdata()[0]) for each in ax.get_lines())
    assert middle == 0 and left == -right < 0
    drawn = np.concatenate([points(ax, "0 (50 rows)"), points(ax, "the rest (100 rows)")])
    assert (points(ax, "0 (50 rows)")[:, 0] >= right * (1 - 1e-9)).all()
    assert (points(ax, "the rest (100 rows)")[:, 0] <= left * (1 - 1e-9)).all() and len(drawn) == 150


def test_rows_that_cannot_all_be_right():
    for X in (MIXED, MIXED[:, :2], MIXED[:, [0]]):
        found = linsep.separate(X, SPECIES)
        assert found.verdict == "overlap"
        ax = linsep.plot_separation(found, X, SPECIES)
        rows = [entry["row"] for entry in found.witness]
        shares = np.array([entry["share"] for entry in found.witness])
        sides = SPECIES[rows]
        ringed = points(ax, "conflicting rows")
        if X.shape[1] == 2:
            assert np.array_equal(ringed, X[rows])
        # At the star, the mixture of the rows of one side is that of the other.
        star = np.array([float(value[0]) for value in line(ax, "the common weighted mean")])
        axes = 1 if X.shape[1] == 1 else 2
        for side in (1, 2):
            own = sides == side
            mixed = shares[own] @ ringed[own] / shares[own].sum()
            np.testing.assert_allclose(mixed[:axes], star[:axes], atol=1e-9)
        count = len(rows)
        assert head_of(ax)[0] == f"Not separable: {count} rows cannot {'both' if count == 2 else 'all'} be on their right sides"
        told = "\n".join(text.get_text() for text in ax.texts)
        assert all(f"row {row}: {100 * share:.2f} %" in told for row, share in zip(rows, shares, strict=True))


def test_rows_on_every_boundary():
    X, y = np.array([[0.0, 1], [0.5, 2], [1, 1], [1, 1], [1.5, 2], [2, 1]]), [0, 0, 0, 1, 1, 1]
    found = linsep.separate(X, y)
    assert found.verdict == "quasi-complete"
    ax = linsep.plot_separation(found, X, y)
    assert np.array_equal(points(ax, "on every boundary"), X[[entry["row"] for entry in found.record["boundary_rows"]]])
    (boundary,) = corners(ax, "solid")
    start, end = boundary[0], boundary[-1]
    normal = np.array([end[1] - start[1], start[0] - end[0]])
    np.testing.assert_allclose((X[[2, 3]] - start) @ normal, 0, atol=1e-9)
    # Through the origin there is no mixture to show, and the rows are ringed all the same.
    origin = linsep.separate(np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), [1, 1, 1, 0], bias="none")
    ax = linsep.plot_separation(origin, np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), [1, 1, 1, 0])
    assert "cannot" in head_of(ax)[0] or "Quasi" in head_of(ax)[0]


def test_an_undecided_task():
    chosen = np.random.default_rng(0)
    X, y = chosen.normal(size=(3000, 40)), chosen.integers(0, 2, 3000)
    found = linsep.separate(X, y, max_seconds=1e-9)
    assert found.verdict == "undecided"
    ax = linsep.plot_separation(found, X, y)
    title, told = head_of(ax)
    assert title == "Undecided whether a boundary separates the classes" and told == found.record["stopped"]
    assert len(points(ax, "0 (")) + len(points(ax, "1 (")) == 3000


def test_what_is_no_verdict():
    found = linsep.separate(APART, SETOSA)
    with pytest.raises(TypeError, match="not Perceptron"):
        linsep.plot_separation(linsep.Perceptron(), APART, SETOSA)
    table = linsep.separate(IRIS, KINDS)
    with pytest.raises(TypeError, match="several pairs of sides"):
        linsep.plot_separation(table, IRIS, KINDS)
    with pytest.raises(ValueError, match="no certificate"):
        linsep.plot_separation(table[0], IRIS, KINDS)
    with pytest.raises(ValueError, match="not the rows of the verdict"):
        linsep.plot_separation(found, IRIS, SETOSA)
    with pytest.raises(ValueError, match="not the rows of the verdict"):
        linsep.plot_separation(found, APART[:99], SETOSA[:99])


# --------------------------------------------------------------------------------------------------------------- shared


def all_of_them(ax=None):
    given = {} if ax is None else {"ax": ax}
    svm = linsep.LogisticRegression().fit(APART, SETOSA)
    yield linsep.plot_boundary(svm, APART, SETOSA, **given)
    yield linsep.plot_calibration(svm, APART, SETOSA, **given)
    yield linsep.plot_compare(linsep.compare(APART, SETOSA, learners=["perceptron", "passive-aggressive"], folds=2), **given)
    yield linsep.plot_separation(linsep.separate(APART, SETOSA), APART, SETOSA, **given)


def test_axes_that_are_none():
    with pytest.raises(TypeError, match="ax= must be axes of matplotlib, not int"):
        next(all_of_them(3))
    with pytest.raises(TypeError, match="ax= must be axes of matplotlib, not int"):
        linsep.plot_trace(linsep.Perceptron(), APART, SETOSA, ax=[1, 2, 3, 4])


def test_axes_of_the_caller():
    for place in range(4):
        figure, ax = plt.subplots()
        drawn = list(all_of_them(ax))[place]
        assert drawn is ax
        figure.canvas.draw()
    figure, axes = plt.subplots(1, 4)
    assert linsep.plot_trace(linsep.Perceptron(), APART, SETOSA, ax=axes) is figure


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_light_and_dark(style):
    with plt.style.context(style):
        paper = to_hex(plt.rcParams["axes.facecolor"])
        for ax in all_of_them():
            ax.figure.canvas.draw()
            # Nothing that is drawn has the colour of the paper, and the text has that of the style.
            inks = {to_hex(each.get_color()) for each in ax.get_lines() if each.get_linestyle() != "None"}
            assert paper not in inks
            assert {to_hex(text.get_color()) for text in ax.texts} <= {to_hex(plt.rcParams["text.color"])}
            # Nothing is cut off at the edge of the figure.
            box, whole = ax.get_tightbbox(), ax.figure.bbox
            assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= whole.x1 + 1 and box.y1 <= whole.y1 + 1


def test_without_matplotlib(monkeypatch):
    svm = linsep.LinearSVM().fit(APART, SETOSA)
    for name in [name for name in sys.modules if name == "matplotlib" or name.startswith("matplotlib.")]:
        monkeypatch.setitem(sys.modules, name, None)
    for name, arguments in [
        ("plot_trace", (svm, APART, SETOSA)),
        ("plot_boundary", (svm, APART, SETOSA)),
        ("plot_compare", (None,)),
        ("plot_calibration", (svm, APART, SETOSA)),
        ("plot_separation", (None, APART, SETOSA)),
    ]:
        with pytest.raises(ImportError, match=r"plots need matplotlib: pip install matplotlib"):
            getattr(linsep, name)(*arguments)
