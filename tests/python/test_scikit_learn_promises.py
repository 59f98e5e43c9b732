"""What scikit-learn's own tests promise users of its Perceptron, SGDClassifier and LinearSVC, restated for ours.

Promises about parameters that these estimators do not have (early stopping, coefficients to start from, losses of regression)
have no counterpart.
"""

from __future__ import annotations

import warnings

import linsep
import numpy as np
import pandas as pd
import pytest
from joblib import parallel_backend
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

IRIS, KINDS = load_iris(return_X_y=True)
# Two classes that a line separates, three that lines separate each from the rest, and the four corners of a square.
TWO = np.array([[-2.0, -1.0], [-1.0, -1.0], [-1.0, -2.0], [1.0, 1.0], [1.0, 2.0], [2.0, 1.0]])
SIDES = np.array([1, 1, 1, 2, 2, 2])
NEW, EXPECTED = np.array([[-1.0, -1.0], [2.0, 2.0], [3.0, 2.0]]), [1, 2, 2]
THREE = np.array([[-1, 1], [-0.75, 0.5], [-1.5, 1.5], [1, 1], [0.75, 0.5], [1.5, 1.5], [-1, -1], [0, -0.5], [1, -1]])
OF_THREE = np.repeat([1, 2, 3], 3)

#: Of runs that are meant to end at a limit.
UNFINISHED = "ignore::linsep.ConvergenceWarning"
LOSSES = ("perceptron", "hinge", "log", "squared")
LINEAR = [linsep.Perceptron, linsep.SGDClassifier, linsep.LinearSVM]


# ------------------------------------------------------------------------------------------------- all three of them


@pytest.mark.parametrize("cls", LINEAR)
def test_two_classes_of_any_name(cls):
    for names in (SIDES, np.array(["one", "two"])[SIDES - 1], SIDES == 2):
        fitted = cls(epochs=1000).fit(TWO, names)
        assert fitted.predict(NEW).tolist() == [np.unique(names)[k - 1] for k in EXPECTED]
        assert fitted.coef_.shape == (1, 2) and fitted.intercept_.shape == (1,)
        assert fitted.decision_function(NEW).shape == (3,)


@pytest.mark.parametrize("cls", LINEAR)
def test_three_classes_have_a_boundary_each(cls):
    fitted = cls(epochs=1000).fit(THREE, OF_THREE)
    assert fitted.coef_.shape == (3, 2) and fitted.intercept_.shape == (3,)
    assert fitted.decision_function([[0, 0], [1, 1]]).shape == (2, 3)
    assert fitted.score(THREE, OF_THREE) == 1.0
    # As one estimator for each class finds them.
    rest = OneVsRestClassifier(cls(epochs=1000, scale="none")).fit(THREE, OF_THREE)
    assert np.array_equal(rest.predict(THREE), fitted.predict(THREE))


@pytest.mark.parametrize("cls", LINEAR)
def test_one_class_is_refused(cls):
    with pytest.raises(ValueError, match="at least two classes"):
        cls().fit(TWO, np.ones(6))


@pytest.mark.parametrize("cls", LINEAR)
def test_labels_in_a_column_are_taken_with_a_warning(cls):
    with pytest.warns(DataConversionWarning):
        column = cls().fit(TWO, SIDES[:, None])
    assert np.array_equal(column.coef_, cls().fit(TWO, SIDES).coef_)
    with pytest.raises(ValueError, match="1d"):
        cls().fit(TWO, np.column_stack([SIDES, SIDES]))


@pytest.mark.parametrize("cls", LINEAR)
def test_clones_learn_the_same(cls):
    first = cls(seed=3, bias_scale=2.0).fit(IRIS, KINDS)
    again = clone(first)
    assert not hasattr(again, "coef_")
    assert np.array_equal(again.fit(IRIS, KINDS).coef_, first.coef_)


@pytest.mark.parametrize("cls", LINEAR)
def test_an_estimator_can_be_fitted_to_other_data(cls):
    estimator = cls().fit(IRIS, KINDS)
    estimator.fit(TWO, SIDES)
    assert estimator.classes_.tolist() == [1, 2] and estimator.n_features_in_ == 2
    assert np.array_equal(estimator.coef_, cls().fit(TWO, SIDES).coef_)


@pytest.mark.filterwarnings(UNFINISHED)
@pytest.mark.parametrize("cls", LINEAR)
def test_sparse_rows_are_the_same_rows(cls):
    dense = cls(scale="none").fit(IRIS, KINDS)
    for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix):
        again = cls(scale="none").fit(form(IRIS), KINDS)
        assert np.allclose(again.coef_, dense.coef_, rtol=1e-6)
        assert np.array_equal(again.predict(form(IRIS)), dense.predict(IRIS))


@pytest.mark.parametrize("cls", LINEAR)
def test_single_and_double_precision_agree(cls):
    narrow = IRIS.astype(np.float32)
    one, other = cls().fit(narrow, KINDS), cls().fit(narrow.astype(np.float64), KINDS)
    assert np.array_equal(one.model_.coef, other.model_.coef) and np.array_equal(one.model_.intercept, other.model_.intercept)
    assert np.array_equal(one.predict(narrow), other.predict(narrow))


@pytest.mark.filterwarnings(UNFINISHED)
@pytest.mark.parametrize("cls", LINEAR)
def test_a_seed_repeats_a_run_and_another_differs(cls):
    X, y = make_classification(300, 20, flip_y=0.2, random_state=0)
    # What minimises an objective is the same from every order, but for the last digits.
    runs = [cls(seed=seed, epochs=5).fit(X, y).coef_ for seed in (7, 7, 8)]
    assert np.array_equal(runs[0], runs[1]) and not np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize("cls", LINEAR)
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_every_backend_gives_the_same(cls, backend):
    alone = OneVsRestClassifier(cls()).fit(IRIS, KINDS)
    with parallel_backend(backend, n_jobs=2):
        together = OneVsRestClassifier(cls(), n_jobs=2).fit(IRIS, KINDS)
    for one, other in zip(alone.estimators_, together.estimators_, strict=True):
        assert np.array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("cls", LINEAR)
def test_predictions_are_the_signs_and_the_largest_of_the_scores(cls):
    for rows, labels in ((IRIS, KINDS), (IRIS[:100], KINDS[:100])):
        fitted = cls().fit(rows, labels)
        scores = fitted.decision_function(rows)
        best = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        assert np.array_equal(fitted.classes_[best], fitted.predict(rows))


def test_the_perceptron_is_good_on_iris():
    """The last weights of a run over classes that overlap are those of its last mistake; their mean is steady."""
    for rows in (IRIS, sparse.csr_matrix(IRIS)):
        assert linsep.AveragedPerceptron().fit(rows, KINDS).score(rows, KINDS) > 0.7
        assert linsep.Perceptron(epochs=100).fit(rows, KINDS == 0).score(rows, KINDS == 0) == 1.0


# ------------------------------------------------------------------------------------------------------------ weights


def steady(cls, **settings):
    """Steps of one size: those that adapt to each feature make up for small weights."""
    steps = {"schedule": "constant"} if cls is linsep.SGDClassifier else {}
    return cls(epochs=1000, scale="none", **steps, **settings)


@pytest.mark.parametrize("cls", LINEAR)
def test_a_heavy_class_draws_the_boundary(cls):
    X = np.array([[-1.0, -1.0], [-1.0, 0.0], [-0.8, -1.0], [1.0, 1.0], [1.0, 0.0]])
    y = [1, 1, 1, -1, -1]
    plain, light = steady(cls).fit(X, y), steady(cls, class_weight={1: 0.001}).fit(X, y)
    assert plain.predict([[0.2, -1.0]]).tolist() == [1]
    assert light.decision_function([[0.2, -1.0]])[0] < plain.decision_function([[0.2, -1.0]])[0]


@pytest.mark.parametrize("cls", LINEAR)
def test_equal_class_weights_are_none(cls):
    X, y = make_blobs(100, centers=2, random_state=3)
    plain = cls(epochs=100).fit(X, y)
    assert np.allclose(cls(epochs=100, class_weight={0: 1.0, 1: 1.0}).fit(X, y).coef_, plain.coef_, rtol=1e-9)
    if cls is not linsep.Perceptron:
        # Of as many rows each.
        assert np.allclose(cls(epochs=100, class_weight="balanced").fit(X, y).coef_, plain.coef_, rtol=1e-9)


@pytest.mark.parametrize("cls", LINEAR)
def test_wrong_class_weights_are_refused(cls):
    for weight in ({0: 0.5}, {"one": 1.0}, [0.5], 0.5, "fair", {1: -1.0}, {1: "heavy"}, {1: np.nan}):
        with pytest.raises(ValueError, match="class"):
            cls(class_weight=weight).fit(TWO, SIDES)


@pytest.mark.parametrize("cls", LINEAR)
def test_weights_of_rows_and_classes_are_multiplied(cls):
    rng = np.random.default_rng(0)
    # No whole numbers: those count rows, as if each were written so often.
    weights = rng.integers(1, 5, len(TWO)) + 0.25
    of_class = {1: 0.5, 2: 0.25}
    product = weights * np.array([of_class[k] for k in SIDES])
    # The weights of rows count in the scale of a feature, those of classes do not.
    one = cls(class_weight=of_class, scale="none").fit(TWO, SIDES, sample_weight=weights)
    other = cls(scale="none").fit(TWO, SIDES, sample_weight=product)
    assert np.allclose(one.coef_, other.coef_, rtol=1e-9) and np.allclose(one.intercept_, other.intercept_, rtol=1e-9)


@pytest.mark.parametrize("cls", [linsep.SGDClassifier, linsep.LinearSVM])
def test_balanced_weights_find_the_minority(cls):
    X, y = make_blobs([400, 40], centers=[[0, 0], [1.5, 1.5]], cluster_std=1.0, random_state=1)
    X = StandardScaler().fit_transform(X)
    scores = [f1_score(y, cls(class_weight=weight).fit(X, y).predict(X)) for weight in (None, "balanced")]
    found = [(cls(class_weight=weight).fit(X, y).predict(X) == 1)[y == 1].mean() for weight in (None, "balanced")]
    assert found[1] > found[0] and min(scores) > 0.3


@pytest.mark.parametrize("cls", LINEAR)
def test_weights_of_rows_draw_the_boundary(cls):
    X = np.array([[-1.0, -1.0], [-1.0, 0.0], [-0.8, -1.0], [1.0, 1.0], [1.0, 0.0]])
    y = [1, 1, 1, -1, -1]
    plain = steady(cls).fit(X, y)
    light = steady(cls).fit(X, y, sample_weight=[0.001] * 3 + [1.0] * 2)
    assert light.decision_function([[0.2, -1.0]])[0] < plain.decision_function([[0.2, -1.0]])[0]
    with pytest.raises(ValueError, match="sample_weight"):
        cls().fit(X, y, sample_weight=np.ones(4))


@pytest.mark.filterwarnings(UNFINISHED)
def test_unit_weights_are_none_and_whole_ones_are_repeated_rows():
    rng = np.random.default_rng(5)
    weights = rng.integers(1, 6, len(IRIS))
    for loss in ("hinge", "squared-hinge"):
        machine = linsep.LinearSVM(loss=loss, scale="none", gap=1e-12, epochs=10**5)
        plain = clone(machine).fit(IRIS, KINDS)
        unit = clone(machine).fit(IRIS, KINDS, sample_weight=np.ones(150))
        assert np.array_equal(plain.coef_, unit.coef_)
        weighted = clone(machine).fit(IRIS, KINDS, sample_weight=weights)
        repeated = clone(machine).fit(np.repeat(IRIS, weights, axis=0), np.repeat(KINDS, weights))
        assert np.allclose(weighted.coef_, repeated.coef_, atol=1e-4)


# -------------------------------------------------------------------------------------------------------- partial_fit


@pytest.mark.parametrize("cls", [linsep.Perceptron, linsep.SGDClassifier])
def test_partial_fit(cls):
    third = len(IRIS) // 3
    order = np.random.default_rng(0).permutation(len(IRIS))
    X, y = IRIS[order], KINDS[order]
    with pytest.raises(ValueError, match="one class"):
        cls().partial_fit(IRIS[:third], KINDS[:third])
    parts = cls().partial_fit(X[:third], y[:third], classes=np.unique(y))
    assert parts.coef_.shape == (3, 4) and parts.intercept_.shape == (3,)
    assert parts.decision_function(X[:3]).shape == (3, 3)
    parts.partial_fit(X[third:], y[third:])
    assert parts.score(X, y) > 0.6
    with pytest.raises(ValueError, match="balanced"):
        cls(class_weight="balanced").partial_fit(X, y, classes=np.unique(y))
    with pytest.raises(ValueError, match="5 features"):
        parts.partial_fit(np.ones((3, 5)), [0, 1, 2])
    # After a fit it goes on anew, and does not fail.
    assert cls().fit(X, y).partial_fit(X, y).n_iter_ == 1


@pytest.mark.parametrize("schedule", ["constant", "1/k", "1/sqrt-k", "shrinking", "adaptive"])
def test_partial_fit_twice_is_two_passes(schedule):
    options = {"l2": 0.01} if schedule == "shrinking" else {}
    settings = dict(schedule=schedule, order="given", scale="none", step=0.01, **options)
    two = linsep.SGDClassifier(epochs=2, **settings).fit(IRIS, KINDS)
    parts = linsep.SGDClassifier(**settings)
    for _ in range(2):
        parts.partial_fit(IRIS, KINDS)
    # To the bit it is one pass; the sums of an average are rounded at the end of a pass.
    assert np.allclose(two.coef_, parts.coef_, rtol=1e-12) and np.allclose(two.intercept_, parts.intercept_, rtol=1e-12)


# --------------------------------------------------------------------------------------------------- gradient descent


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_separates(loss):
    for schedule in ("adaptive", "constant", "1/sqrt-k"):
        fitted = linsep.SGDClassifier(loss=loss, schedule=schedule, epochs=200).fit(TWO, SIDES)
        assert fitted.predict(NEW).tolist() == EXPECTED, (loss, schedule)


def gradient_descent(X, signs, slope, step, l2, passes):
    """The last weights and the mean over all steps, by the textbook; the bias is one of the weights."""
    rows = np.column_stack([X, np.ones(len(X))])
    theta, total, count = np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), 0
    for _ in range(passes):
        for row, sign in zip(rows, signs, strict=True):
            pull = slope(sign * (row @ theta))
            theta = (1 - step * l2) * theta + step * pull * sign * row
            total, count = total + theta, count + 1
    return theta, total / count


@pytest.mark.parametrize(
    ("loss", "slope"),
    [
        ("hinge", lambda a: float(a < 1)),
        ("log", lambda a: 1 / (1 + np.exp(a))),
        ("squared", lambda a: 1 - a),
    ],
)
def test_last_and_averaged_weights_are_those_of_the_textbook(loss, slope):
    X = StandardScaler().fit_transform(IRIS)
    target = (KINDS == 0).astype(int)
    last, average = gradient_descent(X, 2 * target - 1, slope, 0.01, 0.0, 3)
    for combine, expected in (("last", last), ("average", average)):
        for rows in (X, sparse.csr_matrix(X)):
            fitted = linsep.SGDClassifier(
                loss=loss, schedule="constant", step=0.01, l2=0.0, epochs=3, order="given", scale="none", combine=combine
            ).fit(rows, target)
            found = np.append(fitted.coef_[0], fitted.intercept_)
            assert np.allclose(found, expected, rtol=1e-9, atol=1e-12), (loss, combine)


def test_a_large_penalty_gives_small_weights():
    X, y = make_classification(500, 20, random_state=0)
    small = linsep.SGDClassifier(loss="log", schedule="shrinking", l2=1e5, scale="none").fit(X, y)
    assert np.isfinite(small.coef_).all() and np.abs(small.coef_).max() < 1e-3


def test_huge_gradients_and_numbers_end_well():
    """Finite weights, or an error that says what to do: never NaN."""
    # Longer than any product may be: refused, and scaling is offered.
    huge = IRIS * 1e200
    with pytest.raises(ValueError, match="scale='max-abs'"):
        linsep.SGDClassifier(scale="none").fit(huge, KINDS)
    assert linsep.SGDClassifier().fit(huge, KINDS).score(huge, KINDS) > 0.8
    with pytest.raises(ValueError, match="diverged.*step="):
        linsep.SGDClassifier(loss="squared", schedule="constant", step=10.0, scale="none", epochs=1000).fit(IRIS, KINDS)
    steep = linsep.SGDClassifier(loss="squared", schedule="adaptive", scale="none", epochs=20).fit(IRIS * 1e6, KINDS)
    assert np.isfinite(steep.coef_).all()


def test_probabilities_are_there_for_the_logistic_loss_alone():
    for loss in LOSSES:
        fitted = linsep.SGDClassifier(loss=loss, epochs=50).fit(TWO, SIDES)
        assert hasattr(fitted, "predict_proba") == (loss == "log"), loss
        if loss != "log":
            with pytest.raises(AttributeError, match="probabilities=True"):
                fitted.predict_proba
    # Scores of three classes that were learned one against the rest are no log odds of one another: they are learned.
    with pytest.raises(AttributeError, match="probabilities=True"):
        linsep.SGDClassifier(loss="log").fit(IRIS, KINDS).predict_proba
    for rows, labels, learn in ((IRIS, KINDS, True), (TWO, SIDES, False)):
        fitted = linsep.SGDClassifier(loss="log", epochs=50, probabilities=learn).fit(rows, labels)
        proba = fitted.predict_proba(rows)
        assert np.allclose(proba.sum(axis=1), 1.0) and (proba >= 0).all()
        # The more certain by its score, the more probable.
        scores = fitted.decision_function(rows)
        if scores.ndim == 1:
            assert np.array_equal(np.argsort(scores), np.argsort(proba[:, 1]))
        assert (fitted.classes_[proba.argmax(axis=1)] == fitted.predict(rows)).mean() > 0.95


def test_settings_that_make_no_sense_are_refused():
    for settings, message in [
        ({"loss": "cubic"}, "loss=.*cubic"),
        ({"schedule": "sometimes"}, "schedule=.*sometimes"),
        ({"step": 0}, "step="),
        ({"step": -1.0}, "step="),
        ({"l2": -0.1}, "l2="),
        ({"schedule": "adaptive", "l2": 0.1}, "l2="),
        ({"schedule": "power", "power": 1.5}, "power="),
        ({"combine": "vote"}, "combine=.*vote"),
        ({"epochs": 0}, "epochs="),
    ]:
        with pytest.raises(ValueError, match=message):
            linsep.SGDClassifier(**settings).fit(TWO, SIDES)


def test_searches_on_several_cores():
    search = GridSearchCV(linsep.SGDClassifier(), {"epochs": [1, 10], "loss": ["hinge", "log"]}, n_jobs=2, cv=3)
    assert search.fit(IRIS, KINDS).best_score_ > 0.8


# --------------------------------------------------------------------------------------------- support vector machine


def test_both_losses_of_the_machine_with_and_without_a_bias():
    for loss in ("hinge", "squared-hinge"):
        for bias in ("append", "none"):
            fitted = linsep.LinearSVM(loss=loss, bias=bias).fit(TWO, SIDES)
            assert fitted.predict(NEW).tolist() == EXPECTED
            assert bias == "append" or not fitted.intercept_.any()
    for settings in ({"loss": "log"}, {"loss": "HINGE"}, {"C": 0}, {"C": -1}, {"C": np.inf}, {"C": np.nan}, {"gap": -1.0}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            linsep.LinearSVM(**settings).fit(TWO, SIDES)


def test_the_machine_on_iris():
    fitted = linsep.LinearSVM().fit(IRIS, KINDS)
    assert fitted.score(IRIS, KINDS) > 0.9
    assert np.array_equal(fitted.decision_function(IRIS).argmax(axis=1), fitted.predict(IRIS))


def test_a_larger_bias_coordinate_frees_the_bias():
    """The bias is penalised as one of the weights; the larger its coordinate, the less that matters."""
    X = np.array([[2.0, 1.0], [3.0, 1.0], [1.0, 3.0], [2.0, 3.0]]) + 10
    y = [0, 0, 1, 1]
    machines = [linsep.LinearSVM(loss="squared-hinge", scale="none", bias_scale=scale, epochs=10**5) for scale in (1.0, 30.0)]
    near, far = (abs(machine.fit(X, y).intercept_[0]) for machine in machines)
    assert far > 2 * near and machines[1].score(X, y) == 1.0
    with pytest.raises(ValueError, match="bias_scale="):
        linsep.LinearSVM(bias_scale=0.0).fit(X, y)


def test_a_run_that_ends_early_says_so():
    X, y = make_classification(500, 20, flip_y=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="LinearSVM has not converged: .* within 2 passes; .* raise epochs=") as warned:
        early = linsep.LinearSVM(epochs=2, gap=1e-12, C=100.0).fit(X, y)
    assert issubclass(warned[0].category, linsep.ConvergenceWarning) and warned[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match="raise max_seconds="):
        linsep.LinearSVM(max_seconds=1e-9, gap=1e-12, C=100.0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Without a mistake in a pass there is no end on rows that overlap, and none is promised.
        assert not linsep.Perceptron(epochs=2).fit(X, y).converged_
        whole = linsep.LinearSVM(epochs=10**6, gap=1e-6).fit(X, y)
    assert not early.converged_ and early.status_ == "epoch-limit" and early.duality_gap_ > 1e-12
    assert whole.converged_ and whole.duality_gap_ <= 1e-6


def test_a_gap_that_rounding_does_not_reach_is_no_matter_of_passes():
    X, y = make_classification(500, 20, flip_y=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="raise gap="):
        linsep.LogisticRegression(gap=1e-12, scale="none").fit(X * np.where(np.arange(20) < 10, 1, 1e4), y)


def test_passes_have_the_form_of_scikit_learn():
    X, y = make_classification(100, 5, random_state=0)
    for ours, theirs in ((linsep.LogisticRegression, LogisticRegression), (linsep.LinearSVM, LinearSVC), (linsep.Perceptron, Perceptron)):
        own, other = ours().fit(X, y).n_iter_, theirs().fit(X, y).n_iter_
        assert isinstance(own, int) == isinstance(other, int) and np.shape(own) == np.shape(other)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array, pd.DataFrame])
def test_single_precision_comes_out_where_it_went_in(form):
    X, y = IRIS, KINDS
    for kind in (np.float32, np.float64):
        rows, labels = form(X.astype(kind)), y
        for cls in (linsep.LogisticRegression, linsep.SGDClassifier, linsep.LinearSVM):
            fitted = cls().fit(rows, labels)
            assert fitted.coef_.dtype == fitted.intercept_.dtype == fitted.decision_function(rows).dtype == kind
            assert np.array_equal(fitted.coef_, fitted.model_.coef.astype(kind))
        logistic = linsep.LogisticRegression().fit(rows, labels)
        assert logistic.predict_proba(rows).dtype == logistic.predict_log_proba(rows).dtype == kind
        # As of scikit-learn: the wider of the two.
        assert logistic.decision_function(form(X)).dtype == np.float64
    theirs = LogisticRegression(max_iter=1000).fit(IRIS.astype(np.float32), KINDS)
    assert theirs.coef_.dtype == theirs.decision_function(IRIS.astype(np.float32)).dtype == np.float32
    assert theirs.decision_function(IRIS).dtype == np.float64


def test_a_warm_start_goes_on_from_the_last_fit():
    X, y = make_classification(200, 5, flip_y=0.2, random_state=3)
    for cls in (linsep.Perceptron, linsep.SGDClassifier, linsep.PassiveAggressiveClassifier, linsep.AveragedPerceptron):
        settings = {"epochs": 1, "order": "given", "scale": "none"}
        once = cls(**settings).fit(X, y)
        warm = cls(**settings, warm_start=True).fit(X, y)
        assert np.array_equal(once.coef_, warm.coef_)
        again = warm.fit(X, y).coef_
        assert not np.array_equal(once.coef_, again)
        # A fit without it forgets.
        assert np.array_equal(once.coef_, warm.set_params(warm_start=False).fit(X, y).coef_)
    # The perceptron has no more state than its weights.
    settings = {"order": "given", "scale": "none"}
    warm = linsep.Perceptron(epochs=1, **settings, warm_start=True).fit(X, y).fit(X, y)
    assert np.array_equal(warm.coef_, linsep.Perceptron(epochs=2, **settings).fit(X, y).coef_)
    with pytest.raises(ValueError, match="warm_start=True: only two classes"):
        linsep.Perceptron(warm_start=True).fit(IRIS, KINDS).fit(IRIS, KINDS)
    with pytest.raises(ValueError, match="the margin learner has no such warm_start=: the dynamic margin needs a start at zero"):
        linsep.MarginPerceptron(warm_start=True).fit(X, y).fit(X, y)
    with pytest.raises(ValueError, match="warm_start='yes': expected True or False"):
        linsep.Perceptron(warm_start="yes").fit(X, y)
    with pytest.raises(ValueError, match="warm_start=True") as raised:
        linsep.Perceptron(warm_start=True, probabilities=True).fit(X, y).fit(X, y)
    assert "init=" not in str(raised.value)


def test_the_machine_finds_what_liblinear_finds():
    X, y = make_classification(300, 10, flip_y=0.1, random_state=2)
    for ours, theirs in (("hinge", "hinge"), ("squared-hinge", "squared_hinge")):
        own = linsep.LinearSVM(loss=ours, scale="none", gap=1e-10, epochs=10**6).fit(X, y)
        other = LinearSVC(loss=theirs, dual=True, tol=1e-9, max_iter=10**6, random_state=0).fit(X, y)
        assert np.allclose(own.coef_, other.coef_, atol=1e-4) and np.allclose(own.intercept_, other.intercept_, atol=1e-4)


@pytest.mark.parametrize("cls", LINEAR)
def test_weights_that_would_be_lost_cannot_be_written(cls):
    fitted = cls().fit(TWO, SIDES)
    before = fitted.predict(NEW).tolist()
    for weights in (fitted.coef_, fitted.intercept_, cls().fit(THREE, OF_THREE).coef_):
        with pytest.raises(ValueError, match="read-only"):
            weights[:] = 0
    with pytest.raises(AttributeError):
        fitted.coef_ = np.zeros((1, 2))
    assert fitted.predict(NEW).tolist() == before
