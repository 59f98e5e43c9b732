"""Exported models, run by onnxruntime: the same classes, and the same scores and probabilities but for rounding."""

import csv
import json
import random

import numpy
import onnxruntime
import pytest

from conftest import ROOT

DATA = ROOT / "data"


def columns_of(path):
    with open(path, newline="") as opened:
        rows = list(csv.reader(opened))
    return rows[0], {name: [row[place] for row in rows[1:]] for place, name in enumerate(rows[0])}


def number(text):
    return float(text) if text not in ("", "NA") else float("nan")


def fed(record, path):
    """What the file's inputs are given for the rows of a table."""
    _, columns = columns_of(path)
    values = {}
    for wanted in record["inputs"]:
        if wanted["kind"] == "text":
            texts = ["" if text == "NA" else text for text in columns[wanted["columns"][0]]]
            values[wanted["name"]] = numpy.array(texts, dtype=object).reshape(-1, 1)
        else:
            kind = numpy.float32 if wanted["kind"] == "f32" else numpy.float64
            numbers = [[number(text) for text in columns[name]] for name in wanted["columns"]]
            values[wanted["name"]] = numpy.array(numbers, dtype=numpy.float64).T.astype(kind)
    return values


def run(path, values):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, values)))


def predictions(program, model, data):
    """Labels, scores and, where there are some, probabilities, as the program gives them."""
    rows = list(csv.DictReader(program.run("predict", model, data, "--csv", "--quiet").splitlines()))
    labels, scores = [row["label"] for row in rows], numpy.array([float(row["score"]) for row in rows])
    if "probability" not in rows[0]:
        return labels, scores, None
    table = program.run("predict", model, data, "--csv", "--show", "probability", "--quiet").splitlines()
    shares = [[float(p) for p in row[2:]] for row in list(csv.reader(table))[1:]]
    return labels, scores, numpy.array(shares)


def near(mine, theirs):
    numpy.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


def agrees(program, model, data, feed=fed):
    """Exports the model, runs it on the rows of the file, and compares."""
    labels, scores, shares = predictions(program, model, data)
    out = program.folder / "model.onnx"
    record = program.record("export", model, out, "--input", "f64", "--data", data, "--quiet")
    given = run(out, feed(record, data))
    assert given["label"].tolist() == labels
    many = given["scores"].ndim == 2
    near(given["scores"].max(axis=1) if many else given["scores"], scores)
    assert ("probabilities" in given) == (shares is not None)
    if shares is not None:
        near(given["probabilities"], shares)
        assert json.loads(json.dumps(record["classes"])) == record["classes"]
        assert len(record["classes"]) == given["probabilities"].shape[1]
    # With 32 bits, the classes that differ are those of the lines that the export names.
    record = program.record("export", model, out, "--data", data, "--quiet")
    given = run(out, feed(record, data))
    changed = [i for i, (mine, theirs) in enumerate(zip(given["label"].tolist(), labels)) if mine != theirs]
    assert record["rounding"]["rows"] == len(labels)
    assert record["rounding"]["other_class"] == len(changed)
    return record, changed


WAYS = [
    ["--learner", "averaged"],
    ["--learner", "svm", "--scale", "unit-rows"],
    ["--learner", "svm", "--scale", "max-abs", "--probabilities"],
    ["--learner", "logistic", "--scale", "standard"],
    ["--learner", "logistic", "--features", "splines"],
    ["--learner", "logistic", "--features", "splines+pairs"],
    ["--learner", "logistic", "--scale", "none", "--bias", "none", "--epochs", "30"],
]


@pytest.mark.parametrize("name", ["iris.csv", "breast_cancer.csv", "spam.csv"])
@pytest.mark.parametrize("way", WAYS)
def test_real_tables(program, name, way):
    program.run("train", DATA / name, *way, "-o", "model", "--quiet")
    agrees(program, "model", DATA / name)


@pytest.mark.parametrize("threshold", [["--threshold", "0.2"], ["--cost", "fp=1,fn=20"]])
def test_thresholds(program, threshold):
    program.run("train", DATA / "breast_cancer.csv", "--learner", "logistic", *threshold, "-o", "model", "--quiet")
    agrees(program, "model", DATA / "breast_cancer.csv")


def test_isotonic_probabilities(program):
    program.run("train", DATA / "spam.csv", "--learner", "averaged", "--probabilities", "-o", "model", "--quiet")
    assert "isotonic" in program.run("inspect", "model")
    agrees(program, "model", DATA / "spam.csv")


def mixed(path, rows, classes, seed):
    """A table with numbers, words, rare words, names that clash, and missing cells."""
    chosen = random.Random(seed)
    with open(path, "w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["size", "colour", "label", "code", "X", "class"])
        for _ in range(rows):
            size, colour = chosen.gauss(0, 3), chosen.choice(["red", "green", "blue", "NA"])
            code = chosen.choice(["a", "b", "c", f"rare{chosen.randrange(rows)}"])
            score = size + 2 * (colour == "red") - (code == "a") + chosen.gauss(0, 1)
            known = chosen.random() > 0.1
            label = classes[min(int(abs(score)), len(classes) - 1)]
            writer.writerow([size if known else "NA", colour, chosen.choice(["u", "v"]), code, round(score, 1), label])


@pytest.mark.parametrize("classes", [["no", "yes"], ["p", "q", "r"]])
@pytest.mark.parametrize("features", ["plain", "splines+pairs"])
def test_words_and_missing_cells(program, classes, features):
    data = program.folder / "mixed.csv"
    mixed(data, 400, classes, seed=3)
    ways = ["--learner", "logistic", "--features", features, "--max-words", "5", "--label", "class"]
    program.run("train", data, *ways, "-o", "model", "--quiet")
    record, _ = agrees(program, "model", data)
    names = [wanted["name"] for wanted in record["inputs"]]
    # A column that is called like an output has another name.
    assert names == ["size", "colour", "label.2", "code", "X"]
    # Rows with words that the model has not seen, and without some.
    other = program.folder / "other.csv"
    mixed(other, 300, classes, seed=4)
    agrees(program, "model", other)


@pytest.mark.parametrize("missing", ["mean", "zero", "auto"])
def test_missing_numbers(program, missing):
    data = program.folder / "gaps.csv"
    chosen = random.Random(5)
    with open(data, "w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(["a", "b", "class"])
        for _ in range(200):
            a, b = chosen.gauss(1, 2), chosen.gauss(-3, 1)
            label = "up" if a + b > -2 else "down"
            writer.writerow([a if chosen.random() > 0.2 else "NA", b if chosen.random() > 0.2 else "", label])
    program.run("train", data, "--learner", "logistic", "--missing", missing, "-o", "model", "--quiet")
    agrees(program, "model", data)


def test_numbered_features(program):
    data = program.folder / "rows.svm"
    program.run("generate", "text", "--rows", "300", "--features", "500", "-o", data, "--quiet")
    program.run("train", data, "--learner", "svm", "-o", "model", "--quiet")

    def feed(record, path):
        (wanted,) = record["inputs"]
        kind = numpy.float32 if wanted["kind"] == "f32" else numpy.float64
        rows = [line.split()[1:] for line in open(path)]
        matrix = numpy.zeros((len(rows), wanted["width"]), dtype=kind)
        for i, row in enumerate(rows):
            for pair in row:
                index, value = pair.split(":")
                matrix[i, int(index) - 1] = float(value)
        return {wanted["name"]: matrix}

    agrees(program, "model", data, feed)


def test_a_class_that_32_bits_change(program):
    data = program.folder / "near.csv"
    # A boundary between two numbers that are one in 32 bits.
    data.write_text("x,class\n" + "".join(f"{1 + i * 1e-9!r},{'a' if i < 5 else 'b'}\n" for i in range(10)))
    program.run("train", data, "--learner", "svm", "--C", "1e6", "-o", "model", "--quiet")
    record, changed = agrees(program, "model", data)
    assert changed and record["rounding"]["lines"] == [i + 2 for i in changed]
    report = program.run("export", "model", "model.onnx", "--data", data, "--quiet")
    assert "--input f64" in report


@pytest.mark.parametrize("learner", ["voted", "kernel", "memoriser"])
def test_what_is_no_linear_function_is_refused(program, learner):
    program.run("train", DATA / "breast_cancer.csv", "--learner", learner, "--epochs", "3", "-o", "model", "--quiet")
    program.run("export", "model", "model.onnx", expect=2)
    assert not (program.folder / "model.onnx").exists()
