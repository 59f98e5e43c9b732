"""What may be given as rows and labels, what is refused and in which words, and that nothing is copied."""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import linsep
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from linsep import _engine
from scipy import sparse
from sklearn.datasets import load_iris

IRIS, LABELS = load_iris(return_X_y=True)
FEW, SIDES = IRIS[:100], LABELS[:100]


def weights(X, y=LABELS, **settings):
    fitted = linsep.Perceptron(epochs=20, **settings).fit(X, y)
    return np.column_stack([fitted.coef_, fitted.intercept_])


def forms(X):
    """The same numbers in every form of array."""
    readonly = X.copy()
    readonly.flags.writeable = False
    spread = np.zeros((2 * len(X), 2 * X.shape[1]))
    spread[::2, ::2] = X
    yield X
    yield np.asfortranarray(X)
    yield readonly
    yield spread[::2, ::2]
    yield X[::-1].copy()[::-1]
    yield X[:, ::-1].copy()[:, ::-1]
    yield X.astype(">f8")
    yield X.astype(np.longdouble)
    yield X.astype(object)
    yield X.tolist()
    yield sparse.csr_matrix(X).toarray()
    unaligned = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not unaligned.flags.aligned
    yield unaligned


def test_every_form_of_an_array_gives_the_same_bits(tmp_path):
    expected = weights(IRIS)
    for number, form in enumerate(forms(IRIS)):
        assert np.array_equal(weights(form), expected), number
    path = tmp_path / "X.npy"
    np.save(path, IRIS)
    assert np.array_equal(weights(np.load(path, mmap_mode="r")), expected)
    whole = (IRIS * 10).round()
    expected = weights(whole)
    for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.float16):
        assert np.array_equal(weights(whole.astype(kind)), expected), kind
    # The same weights, shown in the type of the rows.
    assert np.array_equal(weights(whole.astype(np.float32)), expected.astype(np.float32))
    assert np.array_equal(weights(IRIS > 2), weights((IRIS > 2).astype(float)))


def test_every_form_of_a_sparse_matrix_gives_the_same_bits():
    dense = np.where(IRIS > 2, IRIS, 0)
    csr = sparse.csr_matrix(dense)
    expected = weights(csr)
    stored_zeros = csr.copy()
    stored_zeros.data[::7] = 0
    lacking = csr.copy()
    lacking.data[::7] = 0
    lacking.eliminate_zeros()
    twice = sparse.coo_matrix(
        (np.r_[csr.tocoo().data / 2, csr.tocoo().data / 2], (np.r_[csr.tocoo().row, csr.tocoo().row], np.r_[csr.tocoo().col, csr.tocoo().col])),
        shape=csr.shape,
    )
    unsorted = csr.copy()
    for i in range(csr.shape[0]):
        part = slice(csr.indptr[i], csr.indptr[i + 1])
        unsorted.indices[part] = csr.indices[part][::-1]
        unsorted.data[part] = csr.data[part][::-1]
    unsorted.has_sorted_indices = False
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in (csr.tocsc(), csr.tocoo(), csr.tolil(), csr.todok(), sparse.csr_array(csr), twice, unsorted, wide):
        before = form.copy()
        assert np.array_equal(weights(form), expected), type(form)
        assert (form != before).nnz == 0
    assert np.array_equal(weights(stored_zeros), weights(lacking))
    assert stored_zeros.nnz == csr.nnz
    # Dense rows are the same rows, and are scaled alike here.
    assert np.allclose(weights(dense, scale="none"), weights(csr, scale="none"))


def test_more_room_than_rows_take_is_no_value():
    """SciPy lets the arrays of a matrix be longer than its rows."""
    csr = sparse.csr_matrix(np.where(IRIS > 2, IRIS, 0))
    roomy = csr.copy()
    roomy.data, roomy.indices = np.r_[csr.data, [9.0, np.nan]], np.r_[csr.indices, [0, 77]].astype(np.int32)
    assert np.array_equal(weights(roomy), weights(csr))


def test_masked_cells_are_refused():
    """NumPy forgets the mask when it makes a plain array, and the numbers under it are no values."""
    masked = np.ma.masked_array(IRIS, mask=IRIS > 7)
    with pytest.raises(ValueError, match="masked"):
        linsep.Perceptron().fit(masked, LABELS)
    with pytest.raises(ValueError, match="masked"):
        linsep.Perceptron().fit(IRIS, np.ma.masked_array(LABELS, mask=LABELS == 2))
    with pytest.raises(ValueError, match="masked"):
        linsep.Perceptron().fit(IRIS, LABELS).predict(masked)
    assert np.array_equal(weights(np.ma.masked_array(IRIS)), weights(IRIS))


def test_labels_of_every_kind():
    names = np.array(["setosa", "versicolor", "virginica"])
    for labels in (
        LABELS,
        LABELS.tolist(),
        LABELS.astype(np.uint8),
        LABELS - 1,
        LABELS.astype(float),
        names[LABELS],
        names[LABELS].astype(object),
        pd.Series(names[LABELS]),
        pd.Series(names[LABELS]).astype("category"),
        pl.Series(names[LABELS]),
        names[LABELS].tolist(),
        LABELS * 10**12,
    ):
        fitted = linsep.Perceptron(epochs=20).fit(IRIS, labels)
        assert np.array_equal(np.column_stack([fitted.coef_, fitted.intercept_]), weights(IRIS))
        assert set(fitted.predict(IRIS).tolist()) <= set(np.asarray(labels).tolist())
    flags = linsep.Perceptron().fit(FEW, SIDES == 1)
    assert flags.classes_.dtype == bool and flags.predict(FEW).dtype == bool


def test_numbers_as_words_keep_their_order():
    """NumPy sorts words by their letters, the engine numbers by their value: the signs are those of classes_."""
    nine = linsep.Perceptron().fit(FEW, np.where(SIDES == 0, "9", "10"))
    assert nine.classes_.tolist() == ["10", "9"]
    assert np.array_equal(nine.predict(FEW) == "9", nine.decision_function(FEW) > 0)
    assert np.allclose(FEW @ nine.coef_[0] + nine.intercept_, nine.decision_function(FEW))


BAD = [
    ("one dimension", IRIS[:, 0], LABELS, "Expected 2D array"),
    ("three dimensions", IRIS[None], LABELS, "Expected 2D array"),
    ("a number", 5, LABELS, "array"),
    ("nothing", None, LABELS, None),
    ("no rows", IRIS[:0], LABELS[:0], "0 sample"),
    ("no columns", IRIS[:, :0], LABELS, "0 feature"),
    ("NaN", np.where(IRIS > 7, np.nan, IRIS), LABELS, "NaN"),
    ("infinity", np.where(IRIS > 7, np.inf, IRIS), LABELS, "infinity"),
    ("float32 NaN", np.where(IRIS > 7, np.nan, IRIS).astype(np.float32), LABELS, "NaN"),
    ("complex", IRIS + 1j, LABELS, "[Cc]omplex"),
    ("words", np.full((150, 2), "a"), LABELS, "frame"),
    ("objects", np.full((150, 2), {}), LABELS, "float"),
    ("dates", np.full((150, 2), np.datetime64("2024-01-01")), LABELS, "expected numbers"),
    ("whole numbers beyond float64", np.full((150, 2), 2**60 + 1), LABELS, r"2\*\*53"),
    ("numbers beyond float64", np.full((150, 2), np.longdouble("1e4000")), LABELS, "too large"),
    ("ragged", [[1, 2], [3]], [0, 1], None),
    ("fewer labels", IRIS, LABELS[:-1], "inconsistent"),
    ("no labels", IRIS, None, "y"),
    ("one class", IRIS, np.zeros(150), "one class"),
    ("NaN labels", IRIS, np.where(LABELS == 0, np.nan, LABELS), "NaN"),
    ("missing labels", IRIS, np.where(LABELS == 0, None, "a"), "missing"),
    ("fractions", IRIS, LABELS + 0.5, "continuous"),
    ("complex labels", IRIS, LABELS + 1j, "[Cc]omplex"),
    ("two columns of labels", IRIS, np.column_stack([LABELS, LABELS]), "1d"),
    ("mixed labels", IRIS, np.array([1, "a", 2] * 50, dtype=object), None),
    ("one class by two names", IRIS, np.array(["1", "1.0", "2"])[LABELS], "two names"),
    ("empty labels", IRIS, np.array(["", "a", "b"])[LABELS], "label"),
    ("sparse NaN", sparse.csr_matrix(np.where(IRIS > 7, np.nan, IRIS)), LABELS, "NaN"),
    ("sparse complex", sparse.csr_matrix(IRIS + 1j), LABELS, "[Cc]omplex"),
]


@pytest.mark.parametrize(("X", "y", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_data_is_refused(X, y, message):
    for estimator in (linsep.Perceptron(), linsep.LogisticRegression()):
        try:
            with pytest.raises((ValueError, TypeError), match=message):
                estimator.fit(X, y)
        finally:
            assert not hasattr(estimator, "coef_")


def test_huge_numbers_are_refused_unless_they_are_scaled():
    with pytest.raises(ValueError, match="are supported.*scale='max-abs'"):
        linsep.Perceptron(scale="none").fit(FEW * 1e300, SIDES)
    assert linsep.Perceptron().fit(FEW * 1e300, SIDES).score(FEW * 1e300, SIDES) == 1.0


def test_bad_weights_are_refused():
    for weight, message in [
        (np.ones(3), "sample_weight"),
        (-np.ones(150), "weight"),
        (np.full(150, np.nan), "weight"),
        (np.zeros(150), "weights are zero"),
        (np.ones((150, 2)), "1D"),
        (["a"] * 150, "sample_weight"),
    ]:
        with pytest.raises(ValueError, match=message):
            linsep.Perceptron().fit(IRIS, LABELS, sample_weight=weight)
    with pytest.raises(TypeError):
        linsep.VotedPerceptron().fit(IRIS, LABELS, sample_weight=np.ones(150))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (linsep.Perceptron(epochs=0), "epochs="),
        (linsep.Perceptron(epochs=-1), "epochs=-1"),
        (linsep.Perceptron(epochs=1.5), "epochs=1.5"),
        (linsep.Perceptron(epochs="many"), "epochs='many'"),
        (linsep.Perceptron(epochs=True), "epochs=True"),
        (linsep.Perceptron(epochs=2**70), "epochs="),
        (linsep.Perceptron(epochs=[1]), "epochs="),
        (linsep.Perceptron(scale="large"), "scale='large'"),
        (linsep.Perceptron(order="up"), "order='up'"),
        (linsep.Perceptron(bias="free"), "bias='free'"),
        (linsep.Perceptron(bias="none", bias_scale=2.0), "bias_scale="),
        (linsep.Perceptron(bias_scale=0.0), "bias_scale="),
        (linsep.Perceptron(seed=-1), "seed=-1"),
        (linsep.Perceptron(shards=0), "shards="),
        (linsep.Perceptron(mixing="updates"), "mixing= needs shards="),
        (linsep.Perceptron(max_seconds=float("nan")), "max_seconds=nan"),
        (linsep.Perceptron(max_seconds=-1.0), "max_seconds="),
        (linsep.Perceptron(class_weight="fair"), "class_weight='fair'"),
        (linsep.Perceptron(class_weight={0: -1}), "class"),
        (linsep.Perceptron(class_weight={9: 1}), "class_weight="),
        (linsep.Perceptron(probabilities="yes"), "probabilities='yes'"),
        (linsep.Perceptron(init="somewhere"), "init='somewhere'"),
        (linsep.Perceptron(mistake="negative"), "mistake="),
        (linsep.LinearSVM(C=-1), "C="),
        (linsep.LinearSVM(C="big"), "C="),
        (linsep.LinearSVM(loss="log"), "loss="),
        (linsep.LinearSVM(C=float("inf")), "C=inf"),
        (linsep.KernelPerceptron(degree=3), "degree= is an option of kernel='poly'"),
        (linsep.SGDClassifier(loss="cubic"), "loss="),
        (linsep.TunedClassifier(folds=1), "folds"),
        (linsep.TunedClassifier(metric="luck"), "metric='luck'"),
    ],
    ids=repr,
)
def test_settings_are_refused_in_the_words_of_python(estimator, message):
    with pytest.raises(ValueError) as caught:
        estimator.fit(FEW, SIDES)
    text = str(caught.value)
    assert message in text
    assert "--" not in text and "⟦" not in text


def test_rows_to_predict_are_checked():
    fitted = linsep.Perceptron().fit(IRIS, LABELS)
    for X, message in [
        (IRIS[:, :3], "X has 3 features, but Perceptron is expecting 4 features"),
        (IRIS[0], "Expected 2D array"),
        (np.full((2, 4), np.nan), "NaN"),
        (IRIS[:0], "0 sample"),
        (sparse.csr_matrix(IRIS[:, :3]), "3 features"),
    ]:
        for method in (fitted.predict, fitted.decision_function):
            with pytest.raises(ValueError, match=message):
                method(X)


# -------------------------------------------------------------------------------------------------------------- frames


def table(rows=200):
    """A table with numbers, words, truth values and gaps."""
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows).astype(float),
            "colour, or tint": rng.choice(["red", "NA", "a \"quoted\" blue", "naïve, green"], rows),
            "member": rng.random(rows) < 0.5,
            "income": rng.normal(50_000.1234567, 10_000, rows),
        }
    )
    y = np.where((frame["colour, or tint"] == "red") ^ (frame["age"] > 50), "yes", "no")
    frame.loc[::9, "age"] = np.nan
    frame.loc[::13, "colour, or tint"] = None
    return frame, y


def test_frames_of_every_library_give_the_same_model():
    frame, y = table()
    models = []
    for X in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame, preserve_index=False)):
        fitted = linsep.LogisticRegression().fit(X, y)
        assert fitted.n_features_in_ == 4
        assert fitted.model_.feature_names[:3] == ["age", "member", "income"]
        assert "colour, or tint=NA" in fitted.model_.feature_names
        assert fitted.score(X, y) > 0.6
        # Other rows, with a word that was never seen.
        other = frame.iloc[:5].copy()
        other.loc[0, "colour, or tint"] = "unknown"
        assert fitted.predict(other).shape == (5,)
        assert fitted.predict_proba(other).shape == (5, 2)
        models.append(fitted.model_.to_bytes())
    assert models[0] == models[1] == models[2]


def test_cells_of_every_kind_are_the_same_in_every_library():
    """Words that look like something else, empty words, and columns that have a type of their own."""
    rows = 120
    words = ["", "NA", "nan", "?", " a", "a ", "a", "1", "01", "x,y", 'q"', "l\nm", "é", None, "b"]
    frame = pd.DataFrame(
        {
            "word": [words[i % len(words)] for i in range(rows)],
            "flag": pd.array([[True, False, None][i % 3] for i in range(rows)], dtype="boolean"),
            "count": pd.array([[5, None, 7, 123_456_789_012][i % 4] for i in range(rows)], dtype="Int64"),
            "share": [[0.1, 1e-7, np.nan, 12345.678901234567, 1e300, -0.0, 2.0**60][i % 7] for i in range(rows)],
            "day": pd.date_range("2024-01-01", periods=rows),
            "of": pd.Categorical([["p", "q", None][i % 3] for i in range(rows)]),
        }
    )
    y = np.where(np.arange(rows) % 2 == 0, "even", "odd")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    models = []
    for X in (frame, pl.from_arrow(table), table, table.combine_chunks().to_batches()[0]):
        fitted = linsep.LogisticRegression().fit(X, y)
        names = fitted.model_.feature_names
        for word in words:
            # An empty cell and none are both missing.
            assert (f"word={word}" in names) == bool(word), (word, names)
        assert "flag" in names and "count" in names and "of=p" in names
        assert not any(name.startswith("day=") for name in names)
        assert np.array_equal(fitted.predict(X), fitted.predict(frame))
        models.append((names, fitted.coef_.tolist()))
    assert all(model == models[0] for model in models)
    # One column, whose empty cells are rows all the same.
    alone = frame[["word"]]
    assert len(linsep.LogisticRegression().fit(alone, y).predict(alone)) == rows


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pl.Series("z", [[1], [2], [3]] * 50), "'z' has cells of the type List"),
        (pl.Series("z", [{"a": 1}] * 150), "'z' has cells of the type Struct"),
        (pl.Series("z", [b"a"] * 150), "'z' has cells of the type Binary"),
    ],
    ids=["list", "struct", "bytes"],
)
def test_cells_that_are_no_cells_are_refused(column, message):
    frame = pl.DataFrame(IRIS, schema=list("abcd")).with_columns(column)
    for X in (frame, frame.to_arrow()):
        with pytest.raises(ValueError, match=message if X is frame else "'z' has cells of the type"):
            linsep.LogisticRegression().fit(X, LABELS)


def test_numbers_of_frames_are_exact_or_refused():
    words = np.array(["a", "b"])[np.arange(150) % 2]
    for X in (pd.DataFrame({"n": 2**60 + np.arange(150), "w": words}), pl.DataFrame({"n": 2**60 + np.arange(150), "w": words})):
        with pytest.raises(ValueError, match=r"'n'.*2\*\*53"):
            linsep.LogisticRegression().fit(X, LABELS)
        with pytest.raises(ValueError, match=r"'n'.*2\*\*53"):
            linsep.LogisticRegression().fit(X.to_arrow() if isinstance(X, pl.DataFrame) else pa.Table.from_pandas(X), LABELS)


def test_dates_and_durations_are_numbers():
    days, hours = pd.date_range("2024-01-01", periods=150), pd.to_timedelta(np.arange(150), unit="h")
    frame = pd.DataFrame({"day": days, "hours": hours, "word": ["a", "b"] * 75})
    models = []
    for X in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        fitted = linsep.LogisticRegression().fit(X, LABELS)
        assert fitted.model_.feature_names == ["day", "hours", "word=a", "word=b"]
        models.append(fitted.coef_.tolist())
    # A day is written with or without its midnight.
    assert np.allclose(models[0], models[1], rtol=1e-6) and np.allclose(models[0], models[2], rtol=1e-6)


def test_frames_with_words_are_refused_as_arrays_are():
    frame = pd.DataFrame(IRIS, columns=list("abcd")).assign(w="u")
    names = np.array(["", "x", "z"])
    for X, y, message in [
        (frame.assign(a=np.inf), LABELS, "contains infinity: the column 'a'"),
        (frame.assign(w="u\0v"), LABELS, "'w' has a word with a zero byte"),
        (frame.rename(columns={"a": ""}), LABELS, "has no name"),
        (frame, names[LABELS], "the label ''"),
        (frame, np.array(["1", "01", "z"])[LABELS], "'01' and '1' are two names of one class"),
        (frame, np.array(["TRUE", "true", "z"])[LABELS], "'TRUE' and 'true' are two names of one class"),
        (frame, np.array(["nan", "x", "z"])[LABELS], "the label 'nan'"),
        (frame, [10**30 + int(k) for k in LABELS], "Unknown label type"),
    ]:
        with pytest.raises(ValueError, match=message):
            linsep.Perceptron().fit(X, y)
    # Other words are classes letter by letter, as within quotes of a file.
    spaced = np.array([" x", "x", "z"])[LABELS]
    assert linsep.LogisticRegression().fit(frame, spaced).score(frame, spaced) > 0.9
    # What the command line notes is a warning here.
    fitted = linsep.LogisticRegression().fit(frame, LABELS)
    with pytest.warns(UserWarning, match="'a' held numbers") as caught:
        fitted.predict(frame.assign(a="word"))
    assert caught[0].filename == __file__


def test_labels_of_arrow_and_weights_by_equal_keys():
    words = pa.array(["a", "b", "c"]).take(pa.array(LABELS))
    assert linsep.Perceptron().fit(IRIS, words).classes_.tolist() == ["a", "b", "c"]
    one, other = (linsep.LogisticRegression(class_weight={key: 2.0}).fit(IRIS, LABELS) for key in (1, 1.0))
    assert np.array_equal(one.coef_, other.coef_)
    with pytest.warns(UserWarning, match="column-vector") as caught:
        linsep.Perceptron().fit(IRIS, LABELS[:, None])
    assert caught[0].filename == __file__


def test_one_class_and_no_time_are_told_in_the_words_of_python():
    for function in (linsep.separate, linsep.compare, linsep.tune, linsep.theory):
        with pytest.raises(ValueError, match="y has one class, 0"):
            function(IRIS, np.zeros(150, dtype=int))
    with pytest.raises(ValueError, match="max_seconds="):
        linsep.tune(IRIS, LABELS, max_seconds=1e-9)
    with pytest.raises(ValueError, match="give the weights as a dict"):
        linsep.Perceptron(class_weight="balanced").partial_fit(IRIS, LABELS)
    with pytest.raises(ValueError, match="at least two classes"):
        linsep.Perceptron().partial_fit(IRIS[:50], LABELS[:50], classes=[0])
    assert linsep.verify(linsep.separate(FEW, SIDES).certificate.encode(), FEW, SIDES).accepted


def test_a_frame_without_rows_yet_says_what_to_do():
    with pytest.raises(TypeError, match=r"collect\(\)"):
        linsep.Perceptron().fit(pl.DataFrame(IRIS, schema=list("abcd")).lazy(), LABELS)


def test_a_frame_is_read_as_the_command_line_reads_its_text(program, tmp_path):
    frame, y = table()
    frame["member"] = frame["member"].astype(int)
    frame["colour, or tint"] = frame["colour, or tint"].replace("NA", "none of these")
    path, model = tmp_path / "table.csv", tmp_path / "table.model"
    frame.assign(y=y).to_csv(path, index=False)
    program("train", path, "--learner", "perceptron", "-o", model, "-q")
    own = linsep.Perceptron().fit(frame, y)
    other = linsep.load(model)
    assert own.model_.feature_names == other.feature_names
    assert np.array_equal(own.coef_, other.coef) and np.array_equal(own.intercept_, other.intercept)
    assert own.model_.evidence == other.evidence
    # The model of each predicts the rows of the other.
    own.save(tmp_path / "own.model")
    lines = program("predict", tmp_path / "own.model", path, "-q").stdout.split()
    assert lines == own.predict(frame).tolist() == other.predict(frame).tolist()


def test_words_do_not_come_in_parts():
    """Each part would number its words anew, and the weights would mean something else."""
    frame, y = table()
    with pytest.raises(ValueError, match="in parts"):
        linsep.Perceptron().partial_fit(frame, y)
    with pytest.raises(ValueError, match="in parts"):
        linsep.State("perceptron", columns=9).learn(frame, y)


def test_what_fails_leaves_an_estimator_as_it_was():
    fitted = linsep.Perceptron().fit(IRIS, LABELS)
    before = fitted.predict(IRIS)
    for X, y in ((IRIS[:, :2], np.zeros(150)), (IRIS[:, :3] * np.nan, LABELS)):
        with pytest.raises(ValueError):
            fitted.fit(X, y)
        assert fitted.n_features_in_ == 4 and np.array_equal(fitted.predict(IRIS), before)
    with pytest.raises(ValueError, match="epochs"):
        fitted.set_params(epochs=0).fit(pd.DataFrame(IRIS, columns=list("abcd")), LABELS)
    assert not hasattr(fitted, "feature_names_in_") and np.array_equal(fitted.predict(IRIS), before)


def test_frames_of_numbers_keep_their_names():
    frame = pd.DataFrame(IRIS, columns=list("abcd"))
    for X in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.astype("float32").astype(float)):
        fitted = linsep.Perceptron(epochs=20).fit(X, LABELS)
        assert fitted.model_.feature_names == list("abcd")
    fitted = linsep.Perceptron(epochs=20).fit(frame, LABELS)
    assert np.array_equal(np.column_stack([fitted.coef_, fitted.intercept_]), weights(IRIS))
    assert fitted.feature_names_in_.tolist() == list("abcd")
    # Columns are found by name; arrays are taken as they are.
    assert np.array_equal(fitted.model_.predict(frame[list("dcba")]), fitted.predict(frame))
    assert np.array_equal(fitted.model_.predict(IRIS), fitted.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame[list("dcba")])
    with pytest.raises(ValueError, match="'d'"):
        fitted.model_.predict(frame[list("abc")])
    with pytest.raises(ValueError, match="several columns|unique column names"):
        linsep.Perceptron().fit(frame.set_axis(list("aabb"), axis=1), LABELS)
    with pytest.raises(ValueError, match="0 sample"):
        linsep.Perceptron().fit(frame.iloc[:0], [])
    with pytest.raises(ValueError, match="inconsistent"):
        linsep.Perceptron().fit(frame, LABELS[:-1])


@pytest.mark.filterwarnings("ignore::linsep.ConvergenceWarning")
def test_weights_of_rows_of_a_frame():
    frame, y = table()
    twice = linsep.LogisticRegression(scale="none", gap=1e-10).fit(frame, y, sample_weight=np.full(len(y), 2.0))
    once = linsep.LogisticRegression(scale="none", gap=1e-10, C=2.0).fit(frame, y)
    assert np.allclose(twice.coef_, once.coef_, rtol=1e-4, atol=1e-6)


# --------------------------------------------------------------------------------------------------------------- files


def test_files(tmp_path, real_sets):
    data = linsep.read(real_sets["iris"].arguments[0])
    assert data.shape == (150, 4) and data.X.shape == (150, 4)
    assert data.classes.tolist() == ["setosa", "versicolor", "virginica"]
    assert data.feature_names[0] == "sepal_length_cm"
    fitted = linsep.Perceptron(epochs=20).fit(data)
    expected = linsep.Perceptron(epochs=20).fit(real_sets["iris"].X, real_sets["iris"].y)
    assert np.array_equal(fitted.coef_, expected.coef_)
    assert np.array_equal(fitted.predict(data), expected.predict(real_sets["iris"].X))
    assert fitted.model_.feature_names == data.feature_names
    path = tmp_path / "rows.libsvm"
    path.write_text("+1 1:0.5 3:2\n-1 2:1.5\n+1 1:2\n-1 2:1 3:-1\n")
    data = linsep.read(path)
    assert sparse.issparse(data.X) and data.X.shape == (4, 3) and data.y.tolist() == [1, -1, 1, -1]
    X, y = data
    assert linsep.Perceptron().fit(X, y).score(X, y) == 1.0
    assert linsep.separate(data).verdict == "complete"
    with pytest.raises(FileNotFoundError):
        linsep.read(tmp_path / "nothing.csv")
    with pytest.raises(FileNotFoundError):
        linsep.load(tmp_path / "nothing.model")
    path.write_text("+1 1:nan\n")
    with pytest.raises(ValueError, match="rows.libsvm:1"):
        linsep.read(path)
    with pytest.raises(ValueError, match="format="):
        linsep.read(path, format="doc")


def test_a_model_file_from_elsewhere_is_refused(tmp_path):
    good = linsep.Perceptron().fit(FEW, SIDES).model_.to_bytes()
    path = tmp_path / "model"
    rng = np.random.default_rng(1)
    contents = [b"", b"\0" * 100, b"hello", good[:-1], good + b"x", b"\xff" * 8 + good[8:]]
    for _ in range(200):
        broken = bytearray(good)
        broken[int(rng.integers(len(broken)))] ^= 1 << int(rng.integers(8))
        contents.append(bytes(broken))
    for content in contents:
        path.write_bytes(content)
        try:
            model = linsep.load(path)
        except ValueError:
            continue
        # A bit of a weight or of a text may be another one; what opens can be used.
        try:
            model.predict(FEW)
        except ValueError:
            continue


# -------------------------------------------------------------------------------------------------------------- memory


def test_nothing_is_copied():
    """An array is kept, not copied: peak memory while fitting stays below what a copy would take."""
    program = """
import resource, numpy as np, linsep
X = np.random.default_rng(0).normal(size=(1_000_000, 64)).astype(np.float32)   # 256 MB
y = (X[:, 0] > 0).astype(np.int8)
linsep.Perceptron(epochs=1, scale="none").fit(X[:1000], y[:1000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
linsep.Perceptron(epochs=1, scale="none").fit(X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 64, f"{done.stdout} MB more"


def test_an_array_lives_as_long_as_its_rows():
    X = np.random.default_rng(0).normal(size=(1000, 5))
    rows = _engine.Rows.dense(X.reshape(-1), 5)
    expected = rows.fingerprint()
    kept = _engine.Rows.dense(X.copy().reshape(-1), 5)
    del X
    junk = [np.ones((1000, 5)) for _ in range(50)]
    assert kept.fingerprint() == expected and len(junk) == 50
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0


def test_arrays_beyond_memory_are_refused_at_once():
    """An array that repeats few numbers has any shape: no copy of it is begun."""
    many = 2**40
    rows = np.broadcast_to(np.array([[1.0, 2.0]]), (many, 2))
    short = np.ones((4, 2))
    labels = np.broadcast_to(np.array([1]), (many,))
    whole = np.broadcast_to(np.array([[1, 2]]), (many, 2))
    fitted = linsep.Perceptron().fit(IRIS[:, :2], LABELS)
    state = linsep.State("perceptron", columns=2, classes=[0, 1])
    start = time.monotonic()
    for call in [
        lambda: fitted.predict(rows),
        lambda: fitted.predict(whole),
        lambda: fitted.model_.predict_proba(rows),
        lambda: linsep.Perceptron().fit(rows, labels),
        lambda: linsep.Perceptron().fit(rows, np.broadcast_to(np.array(["a"]), (many,))),
        lambda: linsep.Perceptron().fit(rows, np.broadcast_to(np.array([1.0]), (many,))),
        lambda: linsep.Perceptron().partial_fit(rows, labels),
        lambda: linsep.separate(rows, labels),
        lambda: linsep.compare(rows, labels),
        lambda: linsep.check_separation(rows, labels),
        lambda: state.learn(rows, labels),
        lambda: state.learn(short, [0, 1, 0, 1], order=np.broadcast_to(np.array([0]), (many,))),
        lambda: linsep.Perceptron().fit(sparse.coo_matrix(([1.0], ([0], [0])), shape=(many, 2)), labels),
        lambda: fitted.predict(sparse.coo_matrix(([1.0], ([0], [0])), shape=(many, 2))),
    ]:
        with pytest.raises(MemoryError, match=r"of shape \(109951162777[67],.* needs about .* of memory"):
            call()
    # What does not fit the rows is said first.
    with pytest.raises(ValueError, match="sample_weight.shape"):
        linsep.Perceptron().fit(short, [0, 1, 0, 1], sample_weight=np.broadcast_to(1.0, (many,)))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        linsep.Perceptron().fit(rows, [0, 1, 0, 1])
    assert time.monotonic() - start < 10


def test_columns_that_name_the_rows_are_left_out(tmp_path):
    table = tmp_path / "rows.csv"
    rows = [f"{i + 1},n{i},{i * 7 % 11},{'ab'[i % 2]}" for i in range(30)]
    table.write_text("\n".join(["id,name,x,kind", *rows]) + "\n")
    read = linsep.read(table)
    assert read.X.shape == (30, 1)
    assert linsep.read(table, keep=["id"]).X.shape == (30, 2)
    assert linsep.read(table, keep=[1, "name"]).X.shape == (30, 32)
    # The program learns from the same features.
    assert linsep.compare(read, learners=["perceptron"]).record["features"] == 1
