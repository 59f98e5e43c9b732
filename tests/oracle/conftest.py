"""What the oracle tests share: running the program, reading its models, the real data sets."""

import csv
import json
import os
import subprocess
from pathlib import Path

import numpy
import pytest
from safetensors import safe_open

ROOT = Path(__file__).resolve().parents[2]


def program_path():
    if "LINSEP" in os.environ:
        return Path(os.environ["LINSEP"])
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    return ROOT / target / "debug" / "linsep"


class Program:
    """The built program, as a user runs it."""

    def __init__(self, folder):
        self.folder = folder
        self.path = program_path()
        # A missing program must fail the tests, never skip them.
        assert self.path.is_file(), f"{self.path} is missing: run cargo build first"

    def run(self, *arguments, expect=0):
        command = [str(self.path), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
        assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def train(self, data, *arguments, name="model.safetensors"):
        """Trains on rows as they are, in the given order, and returns the path of the model and its tensors."""
        path = self.folder / name
        scale = [] if "--scale" in arguments else ["--scale", "none"]
        self.run("train", data, "--order", "given", "-o", path, "--quiet", *scale, *arguments)
        return path, tensors(path)

    def record(self, *arguments):
        return json.loads(self.run(*arguments, "--json"))


def tensors(path):
    with safe_open(path, "numpy") as opened:
        return {name: opened.get_tensor(name) for name in opened.keys()}


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


class Table:
    """One of the CSV files that come with the project, with the choice of classes for a problem."""

    def __init__(self, name, positive, classes=None):
        self.path = ROOT / "data" / f"{name}.csv"
        with open(self.path, newline="") as opened:
            rows = list(csv.reader(opened))[1:]
        # Which rows of the file belong to the problem.
        self.kept = numpy.array([classes is None or row[-1] in classes for row in rows])
        rows = [row for row in rows if classes is None or row[-1] in classes]
        self.x = numpy.array([[float(cell) for cell in row[:-1]] for row in rows])
        self.labels = numpy.array([row[-1] for row in rows])
        self.positive = positive
        self.negative = next(label for label in self.labels if label != positive)
        self.y = numpy.where(self.labels == positive, 1, -1)
        self.arguments = ["--positive", positive]
        if classes:
            self.arguments += ["--classes", ",".join(classes)]


PROBLEMS = {
    "setosa": ("iris", "setosa", None),
    "virginica": ("iris", "virginica", ["versicolor", "virginica"]),
    "breast_cancer": ("breast_cancer", "malignant", None),
    "spam": ("spam", "spam", None),
}


@pytest.fixture(params=list(PROBLEMS))
def table(request):
    return Table(*PROBLEMS[request.param])


@pytest.fixture(params=["setosa", "virginica", "breast_cancer"])
def small_table(request):
    """Those that leave room for a table of all pairs of rows."""
    return Table(*PROBLEMS[request.param])


@pytest.fixture
def iris():
    """All three classes."""
    return Table("iris", "setosa")
