"""The types of the package, as mypy and pyright see them."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import linsep
from linsep import _engine

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "crates" / "linsep-py" / "python" / "linsep"
USE = Path(__file__).with_name("typed_use.py")


def run(*command):
    done = subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy(tmp_path):
    run("mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path, "--warn-unused-ignores", PACKAGE, USE)


def test_pyright(tmp_path):
    settings = {
        "include": [str(PACKAGE), str(USE)],
        "pythonVersion": "3.10",
        "reportMissingTypeStubs": False,
        "reportMissingModuleSource": False,
        "reportUnnecessaryTypeIgnoreComment": False,
    }
    path = tmp_path / "pyrightconfig.json"
    path.write_text(json.dumps(settings))
    run("pyright", "--pythonpath", sys.executable, "--project", path)


def test_the_stub_has_what_the_extension_module_has():
    stub = (PACKAGE / "_engine.pyi").read_text(encoding="utf-8")
    described = set(re.findall(r"^(?:def|class) (\w+)", stub, re.M))
    there = {name for name in dir(_engine) if not name.startswith("_")}
    assert described == there
    for name in ("Rows", "Model", "State"):
        cls = getattr(_engine, name)
        body = re.search(rf"^class {name}:\n((?:    .*\n|\n)+)", stub, re.M).group(1)
        described = set(re.findall(r"    def (\w+)\(", body)) - {"__init__"}
        assert described == {member for member in vars(cls) if not member.startswith("_")}, name


def test_what_is_exported_is_there():
    for name in linsep.__all__:
        assert getattr(linsep, name) is not None
        if inspect.isclass(getattr(linsep, name)) or inspect.isfunction(getattr(linsep, name)):
            assert getattr(linsep, name).__module__.startswith("linsep")
    assert set(dir(linsep)) == set(linsep.__all__)
    assert (PACKAGE / "py.typed").is_file()
    assert linsep.__version__ == re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.M).group(1)
