"""The programs of the documents and of examples/ run, and say what they are meant to say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import linsep
import pytest
from linsep import _engine

ROOT = Path(__file__).resolve().parents[2]


def run(program: str | Path):
    # Neither a document nor an example shows a fit that has not converged.
    command = [sys.executable, "-W", "error::UserWarning", *([str(program)] if isinstance(program, Path) else ["-c", program])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, f"{program}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_the_programs_of_a_document_run(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks
    run("\n".join(blocks))


EXAMPLES = {
    "separability": ["complete", "the checker accepts: True", "overlap because of rows", "completely separable"],
    "spam": ["right on unseen messages: 0.9", "signs of spam", "saved and loaded"],
    "theorem": ["converged: True", "mistaken rows", "exactly: 0.749117"],
    "tuning": ["grid search", "tuned:", "expected error"],
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name):
    printed = run(ROOT / "examples" / f"{name}.py")
    for words in EXAMPLES[name]:
        assert words in printed


def test_every_example_is_tested_and_every_name_documented():
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in linsep.__all__:
        cls = getattr(linsep, name)
        if isinstance(cls, type) and issubclass(cls, linsep._base.Classifier):
            assert f"`{name}`" in page, name


def test_the_page_lists_the_learners_that_converge_and_those_that_go_on():
    page = " ".join((ROOT / "docs" / "python.md").read_text(encoding="utf-8").split())
    learners = json.loads(_engine.learners())
    for ability, before in (("always_converges", "given enough passes:"), ("start", "at zero, and for two classes:")):
        listed = re.findall(r"`(\w+)`", page.partition(before)[2].partition(".")[0])
        assert sorted(listed) == sorted(learner["estimator"] for learner in learners if learner[ability]), ability


def test_the_examples_in_docstrings():
    import doctest
    import importlib

    tried = 0
    for module in ("_state", "_base", "_online", "_data", "_frames", "_labels", "_arrays", "_model", "_separation", "_functions", "_tuned"):
        result = doctest.testmod(importlib.import_module(f"linsep.{module}"))
        assert result.failed == 0
        tried += result.attempted
    assert tried
