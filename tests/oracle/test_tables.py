"""Tables as pandas and openpyxl write them, Vowpal Wabbit's text and IDX files: the same rows whatever the file."""

import datetime
import gzip
import os
import struct
import subprocess

import numpy
import pandas
import pytest


def mixed_table(rows=40, seed=5):
    """Numbers, words, texts that need quotes, dates and missing cells in one table."""
    random = numpy.random.default_rng(seed)
    start = datetime.datetime(2024, 1, 1)
    table = pandas.DataFrame(
        {
            "size": random.normal(size=rows).round(6),
            "count": random.integers(-5, 6, rows),
            "colour": random.choice(["red", "blue", "größe", 'say "x"', "a,b"], rows),
            "when": [start + datetime.timedelta(days=int(day)) for day in random.integers(0, 400, rows)],
            "at": [start + datetime.timedelta(minutes=int(part)) for part in random.integers(1, 9999, rows)],
            "kind": random.choice(["p", "q"], rows),
        }
    )
    table.loc[random.random(rows) < 0.2, "size"] = numpy.nan
    table.loc[random.random(rows) < 0.2, "colour"] = None
    return table


def write(table, path):
    suffix = "".join(path.suffixes)
    if suffix == ".csv":
        table.to_csv(path, index=False)
    elif suffix in (".jsonl", ".jsonl.gz"):
        text = table.to_json(orient="records", lines=True, date_format="iso", double_precision=15)
        (gzip.open if suffix.endswith("gz") else open)(path, "wt", encoding="utf-8").write(text)
    elif suffix == ".xlsx":
        table.to_excel(path, index=False)
    elif suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_feather(path)


FILES = ["table.jsonl", "table.jsonl.gz", "table.xlsx"]
if "LINSEP_PARQUET" in os.environ:
    # A program that was built with the feature `parquet`.
    FILES += ["table.parquet", "table.feather"]


@pytest.mark.parametrize("name", FILES)
def test_the_same_rows_from_every_file(program, name):
    table = mixed_table()
    write(table, program.folder / "table.csv")
    write(table, program.folder / name)
    converted = []
    for source in ("table.csv", name):
        program.run("convert", source, "rows.csv", "--missing", "zero", "--quiet")
        converted.append((program.folder / "rows.csv").read_text())
        program.run("train", source, "--epochs", 3, "-o", f"{source}.model", "--quiet")
    assert converted[0] == converted[1]
    assert len(converted[0].splitlines()) == len(table) + 1
    # A model that was trained on one of the files reads the other, and both models say the same.
    said = {
        program.run("predict", f"{model}.model", data, "--show", "score")
        for model in ("table.csv", name)
        for data in ("table.csv", name)
    }
    assert len(said) == 1


def test_errors_name_the_row_and_the_column(program):
    table = mixed_table()
    table["size"] = table["size"].astype(object)
    table.loc[7, "size"] = "wide"
    write(table, program.folder / "table.jsonl")
    write(table, program.folder / "table.xlsx")
    for name, row in [("table.jsonl", 8), ("table.xlsx", 9)]:
        text = program_error(program, "train", name, "--column", "size=number", "--missing", "zero")
        assert f"{name}:{row}: the word \"wide\" in column \"size\"" in text


def program_error(program, *arguments):
    done = subprocess.run([program.path, *arguments], capture_output=True, text=True, cwd=program.folder)
    assert done.returncode == 3, done.stderr
    return done.stderr


def test_vowpal_wabbit_text_is_what_its_names_say(program):
    random = numpy.random.default_rng(2)
    rows, names = 60, [f"{space}^{name}" for space in "ab" for name in ("x", "y", "long_name")]
    values = random.integers(-8, 9, (rows, len(names))) / 4.0
    values[random.random(values.shape) < 0.4] = 0.0
    labels = numpy.where(random.random(rows) < 0.5, 1, -1)
    weights = random.choice([0.5, 1.0, 3.0], rows)
    lines = []
    for row, label, weight in zip(values, labels, weights):
        line = f"{label} {weight} 'tag"
        for space in "ab":
            line += f" |{space}"
            for name, value in zip(names, row):
                if name.startswith(space) and value != 0.0:
                    feature = name.split("^")[1]
                    # A value of 1 need not be written, and a feature may be named twice.
                    line += f" {feature}" if value == 1.0 else f" {feature}:{value / 2} {feature}:{value / 2}"
        lines.append(line)
    (program.folder / "rows.vw").write_text("\n".join(lines) + "\n")
    table = pandas.DataFrame(values, columns=names).assign(label=labels)
    table.to_csv(program.folder / "rows.csv", index=False)
    (program.folder / "weights").write_text("\n".join(map(str, weights)) + "\n")
    settings = ["--learner", "logistic", "--scale", "none", "--gap", "1e-12", "--quiet"]
    program.run("train", "rows.vw", "-o", "vw.model", *settings)
    program.run("train", "rows.csv", "-o", "csv.model", "--weights", "weights", *settings)
    (program.folder / "unlabelled.csv").write_text(table.drop(columns="label").to_csv(index=False))
    scores = [
        numpy.array(program.run("predict", model, data, "--show", "score").split(), dtype=float)
        for model, data in [("vw.model", "rows.vw"), ("csv.model", "unlabelled.csv"), ("vw.model", "unlabelled.csv")]
    ]
    # Features are numbered in the order in which they appear, so that sums may round in another order.
    numpy.testing.assert_allclose(scores[0], scores[1], rtol=1e-6, atol=1e-9)
    numpy.testing.assert_allclose(scores[0], scores[2], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind, code", [("u1", 8), ("i1", 9), (">i2", 11), (">i4", 12), (">f4", 13), (">f8", 14)])
def test_idx_files_hold_what_numpy_wrote(program, kind, code):
    random = numpy.random.default_rng(7)
    pictures = random.integers(0, 100, (30, 4, 3)).astype(kind)
    labels = random.integers(0, 2, 30).astype("u1")
    images, answers = program.folder / "t-images-idx3-ubyte.gz", program.folder / "t-labels-idx1-ubyte"
    with gzip.open(images, "wb") as out:
        out.write(bytes([0, 0, code, 3]) + struct.pack(">III", *pictures.shape) + pictures.tobytes())
    answers.write_bytes(bytes([0, 0, 8, 1]) + struct.pack(">I", 30) + labels.tobytes())
    numpy.save(program.folder / "rows.npy", pictures.reshape(30, 12).astype(float))
    numpy.save(program.folder / "labels.npy", labels)
    program.run("convert", images, "idx.csv", "--quiet")
    program.run("convert", "rows.npy", "--labels", "labels.npy", "npy.csv", "--quiet")
    idx, npy = ((program.folder / name).read_text().splitlines() for name in ("idx.csv", "npy.csv"))
    # A picture names its pixels, an array its columns.
    assert idx[0].startswith('"pixel 1,1","pixel 2,1"') and idx[1:] == npy[1:]
