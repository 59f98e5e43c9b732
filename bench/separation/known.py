"""Data sets whose answer is known: where they are, how they are read, and what is expected."""

import bz2
import csv
import gzip

import numpy

COMPLETE, QUASI, OVERLAP = "complete", "quasi-complete", "overlap"
NOT_COMPLETE = "not complete"


def table(source, path, skip=0, change=None):
    """A CSV file as linsep takes it: lines skipped, rows changed."""
    opened = gzip.open(source, "rt") if source.suffix == ".gz" else open(source, newline="")
    with opened, open(path, "w", newline="") as target:
        rows = list(csv.reader(opened))[skip:]
        csv.writer(target).writerows(change(rows) if change else rows)
    return path


def plain(source, path):
    opener = bz2.open if source.suffix == ".bz2" else gzip.open
    with opener(source) as opened:
        path.write_bytes(opened.read())
    return path


def expand_lizards(rows):
    """Counts of each class in the first two columns become that many rows."""
    yield [*rows[0][2:], "kind"]
    for grahami, opalinus, *rest in rows[1:]:
        yield from [[*rest, "grahami"]] * int(grahami)
        yield from [[*rest, "opalinus"]] * int(opalinus)


def murder_rates(rows):
    """Whether there were executions, from five features."""
    place = {name: rows[0].index(name) for name in rows[0]}
    names = ["time", "income", "noncauc", "lfp", "southern"]
    yield [*names, "executions"]
    for row in rows[1:]:
        yield [*(row[place[name]] for name in names), "yes" if float(row[place["executions"]]) > 0 else "no"]


def doubled(rows):
    """NV twice."""
    return [[row[0], *row] if i else ["NV2", *row] for i, row in enumerate(rows)]


def rounded(rows):
    return [row if i == 0 else [*(str(round(float(cell), 3)) for cell in row[:-1]), row[-1]] for i, row in enumerate(rows)]


def digits_of_mnist(folder, work, a, b):
    """Two digits as an array of bytes, with their labels."""
    def idx(name, offset):
        with gzip.open(next(folder.glob(f"{name}*.gz"))) as opened:
            return numpy.frombuffer(opened.read(), numpy.uint8)[offset:]

    x, y = idx("train-images", 16).reshape(-1, 784), idx("train-labels", 8)
    kept = (y == a) | (y == b)
    path, labels = work / f"mnist-{a}-{b}.npy", work / f"mnist-{a}-{b}-labels.npy"
    numpy.save(path, x[kept])
    numpy.save(labels, y[kept])
    return path, labels


def problems(root, data, work):
    """(name, path, arguments, expected verdict) of each problem whose files are there."""
    own = root / "data"
    yield "iris, setosa against the rest", own / "iris.csv", ["--positive", "setosa"], COMPLETE
    yield "iris, versicolor against virginica", own / "iris.csv", ["--classes", "versicolor,virginica"], OVERLAP
    yield "breast cancer", own / "breast_cancer.csv", [], COMPLETE
    yield "breast cancer, to 3 decimals", table(own / "breast_cancer.csv", work / "rounded.csv", change=rounded), [], NOT_COMPLETE
    yield "spam", own / "spam.csv", [], OVERLAP
    if data is None:
        return
    separation, classics, libsvm = data / "separation", data / "classics", data / "libsvm"
    yield "endometrial", separation / "endometrial.csv", ["--label", "HG"], QUASI
    yield "endometrial, NV twice", table(separation / "endometrial.csv", work / "doubled.csv", change=doubled), ["--label", "HG"], QUASI
    yield "lizards", table(separation / "lizards.csv", work / "lizards.csv", change=expand_lizards), [], OVERLAP
    yield "Silvapulle 1981", separation / "silvapulle1981.csv", ["--label", "y"], QUASI
    yield "murder rates", table(separation / "MurderRates.csv", work / "murder.csv", change=murder_rates), [], QUASI
    yield "noverlap Z2", separation / "noverlap_Z2.csv", ["--label", "y"], OVERLAP
    wine = table(classics / "sklearn_wine_data.csv", work / "wine.csv", skip=1)
    for kind in "012":
        yield f"wine, {kind} against the rest", wine, ["--positive", kind, "--header", "no"], COMPLETE
    digits = table(classics / "sklearn_digits.csv.gz", work / "digits.csv")
    for digit in range(10):
        expected = COMPLETE if digit < 8 else QUASI
        yield f"digits, {digit} against the rest", digits, ["--positive", digit, "--header", "no"], expected
    penguins = ["--label", "species", "--missing", "drop-row", "--positive", "Gentoo"]
    yield "penguins, Gentoo against the rest", classics / "penguins.csv", penguins, COMPLETE
    yield "sonar", classics / "mlbench_Sonar.csv", [], COMPLETE
    yield "ionosphere", classics / "mlbench_Ionosphere.csv", [], QUASI
    embeddings = data / "embeddings"
    yield "SMS, sentence vectors", embeddings / "sms_minilm_X.npy", ["--labels", embeddings / "sms_minilm_y.npy"], COMPLETE
    for a, b in [(0, 1), (6, 9)]:
        path, labels = digits_of_mnist(data / "mnist", work, a, b)
        yield f"MNIST, {a} against {b}", path, ["--labels", labels], COMPLETE
    # The first three are often called overlapping, but each has features that occur with one label alone.
    for name, expected in [
        ("a1a", QUASI), ("a9a", QUASI), ("w8a", QUASI), ("mushrooms", COMPLETE), ("agaricus.txt.train", COMPLETE),
        ("heart_scale", OVERLAP), ("breast-cancer", OVERLAP),
    ]:  # fmt: skip
        yield name, libsvm / name, [], expected
    yield "ijcnn1", plain(libsvm / "ijcnn1.trn.bz2", work / "ijcnn1.svm"), [], OVERLAP
    yield "Enron", plain(libsvm / "enron_binary_bow.svm.gz", work / "enron.svm"), [], COMPLETE
    news = plain(libsvm / "20news_vectorized.train.svm.gz", work / "20news.svm")
    for group in range(20):
        expected = NOT_COMPLETE if group in (7, 8) else COMPLETE
        yield f"20 newsgroups, {group} against the rest", news, ["--positive", group], expected
