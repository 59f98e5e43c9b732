"""What the tests of the Python package share: the program, and the real data sets."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine

ROOT = Path(__file__).resolve().parents[2]


def pytest_configure(config):
    # A fit that ends at a limit is meant to, or the test is wrong.
    config.addinivalue_line("filterwarnings", "error::linsep.ConvergenceWarning")


def program_path() -> Path:
    if "LINSEP" in os.environ:
        return Path(os.environ["LINSEP"])
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "linsep"


@pytest.fixture(scope="session")
def program():
    """Runs the program as a user does."""
    path = program_path()
    # A missing program must fail the tests, never skip them.
    assert path.is_file(), f"{path} is missing: run cargo build first"

    def run(*arguments, expect=(0,), text=True):
        command = [str(path), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=text)
        assert done.returncode in expect, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run


class RealSet:
    """A real data set as a file of the command line and as data of Python."""

    def __init__(self, arguments, X, y):
        self.arguments, self.X, self.y = arguments, X, y


@pytest.fixture(scope="session")
def real_sets(tmp_path_factory):
    """Five real sets: three tables with names, two arrays."""
    folder = tmp_path_factory.mktemp("sets")
    sets = {}
    for name in ("iris", "breast_cancer", "spam"):
        path = ROOT / "data" / f"{name}.csv"
        frame = pd.read_csv(path)
        sets[name] = RealSet([path], frame.iloc[:, :-1], frame.iloc[:, -1])
    for name, load in (("wine", load_wine), ("digits", load_digits)):
        X, y = load(return_X_y=True)
        if name == "digits":
            X, y = X[:400].astype(np.float32), y[:400]
        values, labels = folder / f"{name}.npy", folder / f"{name}_labels.npy"
        np.save(values, X)
        np.save(labels, y)
        sets[name] = RealSet([values, "--labels", labels], X, y)
    return sets


def model_content(content: bytes):
    """What a model file says: its description without the specification, which names the source, and its tensors."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    description = json.loads(header.pop("__metadata__")["linsep"])
    description.pop("spec", None)
    return description, header, content[8 + length :]
