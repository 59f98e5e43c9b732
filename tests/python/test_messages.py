"""Every message names parameters that exist: all settings that the library's texts name, as each door spells them, and the errors that
bad values provoke."""

import inspect
import json
import re
from pathlib import Path

import linsep
import numpy as np
import pytest
from linsep import _engine, estimators
from linsep._settings import Judge, Metric, Scale

ROOT = Path(__file__).resolve().parents[2]
random = np.random.default_rng(4)
X = random.normal(size=(24, 2))
Y = (X[:, 0] + random.normal(size=24) > 0).astype(int)
ESTIMATORS = [getattr(linsep, name) for name in estimators.__all__]


def parameters(*calls):
    """The names of all parameters: of a class, also those of its methods."""
    methods = ("__init__", "fit", "partial_fit", "learn", "merge", "predict", "to_onnx", "save", "evaluate")
    found = set()
    for call in calls:
        for one in [getattr(call, name) for name in methods if hasattr(call, name)] if inspect.isclass(call) else [call]:
            found |= set(inspect.signature(one).parameters)
    return found - {"self", "X", "y", "forks", "path"}


#: What users call at each door.
DOORS = {
    "estimator": ESTIMATORS,
    "compare": [linsep.compare],
    "tune": [linsep.tune, linsep.TunedClassifier],
    "theory": [linsep.theory],
    "separate": [linsep.separate, linsep.verify, linsep.check_separation],
    "state": [linsep.State, linsep.shard_orders],
    "model": [linsep.Model, linsep.load],
    "read": [linsep.read],
}


def test_each_door_has_the_parameters_of_its_functions():
    doors = dict(_engine.doors())
    assert doors.keys() == DOORS.keys()
    for door, calls in DOORS.items():
        named = set(doors[door])
        assert named <= parameters(*calls), door
        if door not in ("estimator", "model"):
            missing = parameters(calls[0]) - named
            assert missing <= {"positive"} if door == "tune" else not missing, (door, missing)


def mentions():
    """Every setting that a text of the library or the table names, with the value that it proposes."""
    found = {f"⟦{setting['name']}⟧" for command in json.loads(_engine.commands()).values() for setting in command}
    for path in (ROOT / "crates/linsep/src").rglob("*.rs"):
        text = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        found |= {mention for mention in re.findall(r"⟦[^⟧\n]+⟧", text) if not re.search(r"[{…]|field|⟦a⟧|late", mention)}
    return sorted(found)


def test_every_setting_that_a_text_names_is_there_at_every_door(program):
    commands = set(re.findall(r"^  ([a-z]+) ", program("--help").stdout, re.MULTILINE)) - {"help"}
    flags = {flag for command in commands for flag in re.findall(r"--[a-z][a-z-]*", program(command, "--help").stdout)}
    named = mentions()
    assert len(named) > 100 and len(flags) > 100
    for door, calls in DOORS.items():
        for mention in named:
            text = _engine.spelled(door, mention)
            there = parameters(linsep.read) if text.endswith(" of linsep.read") else parameters(*calls)
            for name in re.findall(r"(?<![\w.])([A-Za-z_]\w*)=(?!=)", re.sub(r"--.* on the command line", "", text)):
                assert name in there, (door, mention, text)
            for flag in re.findall(r"--[a-z][a-z-]*", text):
                assert text.endswith(" on the command line") and flag in flags, (door, mention, text)


BAD = [-1, 0, 2, 1e300, 1e-300, float("nan"), "nope", "first", "none", "balanced", True, [1], {"nope": 1.0}]


def calls_with_bad_values():
    """What is called, the parameters of that, and a call that gives one of them a bad value."""
    for cls in (*ESTIMATORS, linsep.TunedClassifier):
        short = {"max_seconds": 0.2} if cls is linsep.TunedClassifier else {}
        for name in sorted(parameters(cls.__init__)):
            for value in BAD:
                given = {**short, name: value}
                yield cls, lambda cls=cls, given=given: cls(**given).fit(X, Y)
        for weights in ([1], -np.ones(24), np.full(24, np.nan), np.zeros(24)):
            if "sample_weight" in inspect.signature(cls.fit).parameters:
                yield cls, lambda cls=cls, short=short, weights=weights: cls(**short).fit(X, Y, sample_weight=weights)
    functions = [
        (linsep.compare, {"learners": ["perceptron"]}), (linsep.tune, {"max_seconds": 0.2}),
        (linsep.theory, {"max_seconds": 0.2}), (linsep.separate, {"max_seconds": 0.2}),
    ]  # fmt: skip
    for function, short in functions:
        for name in sorted(parameters(function)):
            for value in BAD:
                given = {**short, name: value}
                yield function, lambda function=function, given=given: function(X, Y, **given)
    for name in sorted(parameters(linsep.State.__init__) - {"columns"}):
        for value in BAD:
            yield linsep.State, lambda name=name, value=value: linsep.State(columns=2, **{name: value}).learn(X, Y)
    for name in sorted(parameters(linsep.read) - {"path"}):
        for value in BAD:
            yield linsep.read, lambda name=name, value=value: linsep.read(ROOT / "data/iris.csv", **{name: value})


@pytest.mark.filterwarnings("ignore")
def test_the_errors_of_bad_values_name_parameters_of_what_was_called():
    seen = {}
    for called, call in calls_with_bad_values():
        try:
            call()
        except (ValueError, TypeError, MemoryError, OSError, AttributeError) as error:
            text = str(error)
            assert "⟦" not in text and "⟧" not in text, text
            for name in re.findall(r"(?<![\w.])([A-Za-z_]\w*)=(?!=)(?![^\n]*? of linsep\.read)", text):
                seen.setdefault(called.__name__, set()).add(name)
                assert name in parameters(called), (called.__name__, name, text)
    assert all(len(seen.get(cls.__name__, ())) > 5 for cls in ESTIMATORS), seen


def test_the_words_of_functions_are_those_of_the_table():
    commands = json.loads(_engine.commands())
    for function, command in ((linsep.tune, "tune"), (linsep.TunedClassifier, "tune"), (linsep.compare, "compare")):
        own = inspect.signature(function).parameters
        for setting in commands[command]:
            if setting["name"] not in own or not setting["words"]:
                continue
            kind = {"metric": Metric, "judge": Judge, "scale": Scale}.get(setting["name"])
            assert kind is None or list(kind.__args__) == setting["words"]
            if setting["default"] in setting["words"]:
                assert own[setting["name"]].default == setting["default"], (command, setting["name"])
    assert "judge" in inspect.signature(linsep.tune).parameters
