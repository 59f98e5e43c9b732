"""Files as other programs write them: scikit-learn, NumPy and SciPy are the judges of what they hold."""

import numpy
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file


def weights_after_one_pass(program, data, *arguments):
    _, model = program.train(
        data, "--learner", "perceptron", "--epochs", 1, "--bias", "none", "--positive", "1", *arguments
    )
    return model["theta.weights"].tolist()


def plain_perceptron(x, y):
    """One pass of the textbook over dense rows."""
    weights = numpy.zeros(x.shape[1])
    for row, sign in zip(x, y):
        if sign * (row @ weights) <= 0.0:
            weights += sign * row
    return weights.tolist()


def alternating(rows):
    return numpy.where(numpy.arange(rows) % 2 == 0, 1, -1)


def some_rows(rows=60, columns=17, seed=3):
    """Rows with many zeros; quarters, so that sums are exact in any order and as f32."""
    random = numpy.random.default_rng(seed)
    values = random.integers(-40, 41, (rows, columns)) / 4.0
    values[random.random((rows, columns)) < 0.6] = 0.0
    # The last column is there, whatever was drawn: text formats say nothing about empty columns at the end.
    values[0, -1] = 1.0
    return values


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("query", [False, True])
def test_generated_svmlight_file(program, zero_based, query):
    x, y = some_rows(), alternating(60)
    if zero_based:
        # Only an index 0 tells that a file counts from 0.
        x[0, 0] = 5.0
    path = program.folder / "rows.svm"
    dump_svmlight_file(
        x, y, str(path), zero_based=zero_based, comment="two\nlines", query_id=numpy.arange(60) if query else None
    )
    read, labels = load_svmlight_file(str(path))[:2]
    assert (read.toarray() == x).all() and (labels == y).all()
    assert weights_after_one_pass(program, path) == plain_perceptron(x, y)


DIALECTS = {
    "plain": b"1 1:0.5 3:2\n-1 2:1\n",
    "signs": b"+1 1:+0.5 3:-2\n-1 2:1\n",
    "no end of line": b"1 1:0.5\n-1 2:1",
    "carriage returns": b"1 1:0.5 3:2\r\n-1 2:1\r\n",
    "tabs and spaces": b"1\t1:0.5  3:2 \n-1   2:1\t\n",
    "comments": b"# all of it\n1 1:0.5 # 3:2\n-1 2:1 #\n",
    "blank lines": b"\n1 1:0.5\n\n-1 2:1\n\n",
    "row without features": b"1 1:0.5 2:1\n-1\n1 2:2\n-1 1:1\n",
    "exponents": b"1 1:5e-1 3:2E+3\n-1 2:.5 3:1.\n",
    "many digits": b"1 1:0.1000000000000000055511151231257827\n-1 1:123456789012345678901234567890\n",
    "explicit zeros": b"1 1:0 2:1\n-1 2:0 3:0.0\n",
    "query numbers": b"1 qid:1 1:0.5\n-1 qid:2 2:1\n",
    "labels with decimals": b"1.0 1:0.5\n-1.0 2:1\n",
    "indices from zero": b"1 0:0.5 3:2\n-1 1:1\n",
    "leading zeros": b"1 01:0.5 003:2\n-1 002:1\n",
}


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_svmlight_dialects(program, dialect):
    path = program.folder / "rows.svm"
    path.write_bytes(DIALECTS[dialect])
    x, y = load_svmlight_file(str(path))
    weights = weights_after_one_pass(program, path, "--format", "libsvm")
    assert weights == plain_perceptron(x.toarray(), y)


REFUSED = {
    "falling indices": b"1 3:1 2:1\n-1 1:1\n",
    "no value": b"1 1:\n-1 1:1\n",
    "no colon": b"1 1:1 2\n-1 1:1\n",
    "words as values": b"1 1:one\n-1 1:1\n",
    "negative index": b"1 -1:1\n-1 1:1\n",
}


@pytest.mark.parametrize("fault", list(REFUSED))
def test_svmlight_faults_that_both_refuse(program, fault):
    path = program.folder / "rows.svm"
    path.write_bytes(REFUSED[fault])
    with pytest.raises(ValueError):
        load_svmlight_file(str(path))
    program.run("train", path, "--format", "libsvm", expect=3)


def write_csv(path, x, y):
    lines = [",".join([*map(repr, map(float, row)), str(label)]) for row, label in zip(x, y)]
    path.write_text("\n".join(lines) + "\n")
    return path


def trained(program, data, *arguments):
    _, model = program.train(data, "--epochs", 3, "--positive", "1", *arguments)
    return {name: values.tolist() for name, values in model.items()}


@pytest.mark.parametrize("kind", ["float64", "float32", ">f8", "float16", "int64", "int8", "uint8", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(program, kind, order):
    x, y = some_rows(), alternating(60)
    if kind in ("int64", "int8", "uint8", "bool"):
        x = numpy.abs(numpy.trunc(x))
    stored = numpy.asarray(x.astype(kind), order=order)
    numpy.save(program.folder / "rows.npy", stored)
    numpy.save(program.folder / "labels.npy", y)
    expected = trained(program, write_csv(program.folder / "rows.csv", stored.astype(float), y))
    assert trained(program, "rows.npy", "--labels", "labels.npy") == expected


@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
@pytest.mark.parametrize("names", [("X", "y"), ("x", "y"), ("data", "labels")])
def test_npz(program, save, names):
    random = numpy.random.default_rng(5)
    # These need all the digits of f64.
    x, y = random.normal(size=(60, 7)), alternating(60)
    save(program.folder / "rows.npz", **dict(zip(names, (x, y))))
    expected = trained(program, write_csv(program.folder / "rows.csv", x, y))
    assert trained(program, "rows.npz") == expected


def test_npz_with_words_as_labels(program):
    x, y = some_rows(), alternating(60)
    words = numpy.where(y > 0, "spam", "ham")
    numpy.savez(program.folder / "rows.npz", X=x, y=words)
    path, model = program.train("rows.npz", "--epochs", 3, "--positive", "spam", name="words.safetensors")
    expected = trained(program, write_csv(program.folder / "rows.csv", x, y))
    assert {name: values.tolist() for name, values in model.items()} == expected
    assert set(program.run("predict", path, "rows.npz", "--quiet").splitlines()) <= {"spam", "ham"}


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csr_array])
def test_sparse_npz(program, compressed, kind):
    x, y = some_rows(), alternating(60)
    scipy.sparse.save_npz(program.folder / "rows.npz", kind(x), compressed=compressed)
    numpy.save(program.folder / "labels.npy", y)
    dump_svmlight_file(x, y, str(program.folder / "rows.svm"), zero_based=False)
    # The storage is the same, so every bit is: both are sparse.
    assert trained(program, "rows.npz", "--labels", "labels.npy") == trained(program, "rows.svm")


def test_sparse_npz_with_unsorted_columns(program):
    x, y = some_rows(), alternating(60)
    matrix = scipy.sparse.csr_matrix(x)
    for row in range(60):
        span = slice(matrix.indptr[row], matrix.indptr[row + 1])
        matrix.indices[span] = matrix.indices[span][::-1].copy()
        matrix.data[span] = matrix.data[span][::-1].copy()
    matrix.has_sorted_indices = False
    scipy.sparse.save_npz(program.folder / "rows.npz", matrix)
    numpy.savetxt(program.folder / "labels.txt", y, fmt="%d")
    dump_svmlight_file(x, y, str(program.folder / "rows.svm"), zero_based=False)
    assert trained(program, "rows.npz", "--labels", "labels.txt") == trained(program, "rows.svm")
