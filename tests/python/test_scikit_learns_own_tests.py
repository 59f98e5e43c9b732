"""scikit-learn's own tests of its linear classifiers, run on linsep's estimators by way of scikit_learn_shim.py.

Run as a program it prints how many tests pass and how many fail for which reason; with `--write` it writes the table anew,
in which a failure without a known reason counts as wrong.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
TABLE = HERE / "scikit_learns_own_tests.toml"
MODULES = [
    "sklearn.linear_model.tests.test_common",
    "sklearn.linear_model.tests.test_logistic",
    "sklearn.linear_model.tests.test_passive_aggressive",
    "sklearn.linear_model.tests.test_perceptron",
    "sklearn.linear_model.tests.test_sag",
    "sklearn.linear_model.tests.test_sgd",
    "sklearn.svm.tests.test_sparse",
    "sklearn.svm.tests.test_svm",
]
#: Not run, for each takes a minute: 1000 passes for each of 20 classes, since no pass stops early.
TOO_LONG = ("test_SGDClassifier_fit_for_all_backends",)
SORTS = ("deliberate", "missing", "wrong")


# ------------------------------------------------------------------------- in a process of its own, which scikit-learn fills


class Recorder:
    """Keeps the outcome of each test that made an estimator of linsep; the others are about other estimators."""

    def __init__(self) -> None:
        self.outcomes: dict[str, dict[str, Any]] = {}

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leaves out, before they take time, tests that name none of the estimators."""
        from scikit_learn_shim import ESTIMATORS

        names = [estimator.__name__ for estimators in ESTIMATORS.values() for estimator in estimators]

        def about(item: Any) -> bool:
            parameters = repr(item.callspec.params) if hasattr(item, "callspec") else ""
            # Without the decorators, which list what other cases are about.
            _, _, body = inspect.getsource(item.function).partition("\ndef ")
            return any(name in item.name + parameters + (body or inspect.getsource(item.function)) for name in names)

        items[:] = [item for item in items if about(item) and not item.name.startswith(TOO_LONG)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        from scikit_learn_shim import Missing, Shim

        self.made = Shim.made
        Missing.seen.clear()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        from scikit_learn_shim import Missing, Shim

        report = yield
        if Shim.made == self.made or not (report.when == "call" or report.failed):
            return report
        error = "" if call.excinfo is None else f"{call.excinfo.typename}: {call.excinfo.value}".strip()
        # A test that was handed something missing has not passed, whatever it did with the exception.
        outcome = "missing" if Missing.seen else report.outcome
        self.outcomes[report.nodeid] = {
            "outcome": outcome,
            "error": Missing.seen[0] if Missing.seen else " ".join(error.split()),
        }
        return report


def run_here(file: str) -> None:
    """Puts the shim in the places of scikit-learn's estimators, and runs its tests."""
    from scikit_learn_shim import ESTIMATORS

    for package, estimators in ESTIMATORS.items():
        for estimator in estimators:
            setattr(importlib.import_module(package), estimator.__name__, estimator)
    recorder = Recorder()
    folder = Path(importlib.import_module("sklearn").__file__).parent
    code = pytest.main(
        [
            *("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), "--tb=short", "--color=no"),
            *("--show-capture=no", "--disable-warnings", "--pyargs", *MODULES),
        ],
        plugins=[recorder],
    )
    # 1 is that tests failed.
    assert code in (0, 1), code
    Path(file).write_text(json.dumps(recorder.outcomes))


# -------------------------------------------------------------------------------------------------------- the comparison


def outcomes_of_all(folder: Path) -> dict[str, dict[str, Any]]:
    """The outcome of each test, by module, name and case."""
    file = folder / "outcomes.json"
    # The one seed that scikit-learn's tests use where none is asked for.
    environment = os.environ | {"SKLEARN_TESTS_GLOBAL_RANDOM_SEED": "42", "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [sys.executable, __file__, "--run", str(file)], env=environment, capture_output=True, text=True, cwd=folder
    )
    (folder / "log.txt").write_text(done.stdout + done.stderr)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(file.read_text())


def read_table() -> dict[str, tuple[str, str]]:
    """Of each test, `passed`, or its sort and the reason."""
    found: dict[str, tuple[str, str]] = {}
    for entry in tomllib.loads(TABLE.read_text())["tests"]:
        for case in entry.get("cases", [""]):
            name = entry["test"] + (f"[{case}]" if case else "")
            assert name not in found, f"{name} is in the table twice"
            found[name] = (entry["outcome"], entry.get("reason", ""))
    return found


def differences(outcomes: dict[str, dict[str, Any]], table: dict[str, tuple[str, str]]) -> list[str]:
    found = [f"{name}: in the table, and was not run" for name in table.keys() - outcomes.keys()]
    for name, seen in outcomes.items():
        sort, reason = table.get(name, ("", ""))
        if sort == "":
            found.append(f"{name}: {seen['outcome']}, and not in the table: {seen['error']}")
        elif (sort == "passed") != (seen["outcome"] == "passed"):
            found.append(f"{name}: {seen['outcome']}, in the table {sort}: {seen['error']}")
        elif sort != "passed" and not reason:
            found.append(f"{name}: no reason")
        elif sort not in ("passed", *SORTS):
            found.append(f"{name}: no outcome is called {sort!r}")
        elif seen["outcome"] == "missing" and sort != "missing":
            found.append(f"{name}: something is missing, in the table {sort}: {seen['error']}")
        elif seen["outcome"] == "skipped":
            found.append(f"{name}: skipped: {seen['error']}")
    return sorted(found)


def counted(table: dict[str, tuple[str, str]]) -> str:
    counts = Counter(sort for sort, _ in table.values())
    return f"{counts['passed']} passed, " + ", ".join(f"{counts[sort]} {sort}" for sort in SORTS)


def write_table(outcomes: dict[str, dict[str, Any]], before: dict[str, tuple[str, str]]) -> None:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name, seen in outcomes.items():
        test, _, case = name.partition("[")
        outcome, reason = before.get(name, ("wrong", seen["error"][:300]))
        if seen["outcome"] == "passed":
            outcome, reason = "passed", ""
        elif seen["outcome"] == "missing" and outcome != "missing":
            outcome, reason = "missing", seen["error"]
        elif outcome == "passed":
            outcome, reason = "wrong", seen["error"][:300]
        groups.setdefault((test, outcome, reason), []).append(case.removesuffix("]"))
    lines = ["# Written by test_scikit_learns_own_tests.py --write; outcomes and reasons of failures are by hand.", ""]
    for (test, outcome, reason), cases in groups.items():
        lines += ["[[tests]]", f"test = {json.dumps(test)}", f"outcome = {json.dumps(outcome)}"]
        if reason:
            lines.append(f"reason = {json.dumps(reason, ensure_ascii=False)}")
        if cases != [""]:
            lines.append(f"cases = {json.dumps(cases)}")
        lines.append("")
    TABLE.write_text("\n".join(lines))


def test_outcomes_are_those_of_the_table(tmp_path):
    table = read_table()
    found = differences(outcomes_of_all(tmp_path), table)
    print(counted(table))
    assert not found, "\n".join(found)


def test_the_documents_have_the_counts():
    counts = Counter(sort for sort, _ in read_table().values())
    text = " ".join((HERE.parents[1] / "docs/python.md").read_text().split())
    assert f"{counts['passed']} pass, {counts['deliberate']} fail where linsep does otherwise on purpose, and {counts['missing']} ask" in text


def test_nothing_is_wrong():
    wrong = [name for name, (sort, _) in read_table().items() if sort not in ("passed", "deliberate", "missing")]
    assert not wrong


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_here(sys.argv[2])
    else:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            outcomes = outcomes_of_all(Path(folder))
        if "--write" in sys.argv:
            write_table(outcomes, read_table() if TABLE.exists() else {})
        table = read_table()
        print(*differences(outcomes, table), sep="\n")
        print(counted(table))
        for (sort, reason), count in sorted(Counter(table.values()).items()):
            if sort != "passed":
                print(f"{sort:10} {count:4}  {reason}")
