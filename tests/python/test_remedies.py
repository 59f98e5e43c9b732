"""What the package names is there: values in signatures are accepted, and advice names parameters of what was called."""

import inspect
import json
import re
import typing

import linsep
import numpy as np
import pytest
from linsep import _export, _inspect, estimators
from sklearn.datasets import load_iris

random = np.random.default_rng(8)
X, Y = load_iris(return_X_y=True)
TWO, SIDES = X[50:], Y[50:]
OVERLAPPING = random.normal(size=(60, 2)), random.integers(0, 3, 60)


def literals(call):
    """The values that the signature of something names, by parameter."""
    # What the package imports for type checkers alone.
    late = {"Input": _export.Input, "OnnxFile": _export.OnnxFile, "Evaluation": _inspect.Evaluation, "Self": typing.Any}
    hints = typing.get_type_hints(call, localns=late)
    found = {}
    for name, hint in hints.items():
        if name == "return":
            continue
        parts = [hint, *typing.get_args(hint)]
        values = [value for part in parts if typing.get_origin(part) is typing.Literal for value in typing.get_args(part)]
        if values:
            found[name] = values
    return found


def merged(mixing):
    state = linsep.State("perceptron", columns=4, classes=[1, 2])
    state.merge([state.fork()], mixing)


#: How each function and method is called whose signature names values.
CALLS = {
    "compare": lambda **given: linsep.compare(TWO, SIDES, learners=["logistic"], folds=2, **given),
    "tune": lambda **given: linsep.tune(TWO[::4], SIDES[::4], folds=2, max_seconds=0.5, **given),
    "theory": lambda **given: linsep.theory(TWO, SIDES, max_seconds=0.2, epochs=3, **given),
    "separate": lambda **given: linsep.separate(TWO, SIDES, **given),
    "check_separation": lambda **given: linsep.check_separation(*OVERLAPPING[:1], OVERLAPPING[1] > 0, **given),
    "shard_orders": lambda **given: linsep.shard_orders(TWO, SIDES, shards=2, **given),
    "State": lambda **given: linsep.State("perceptron", columns=4, **given).learn(TWO, SIDES),
    "State.merge": merged,
    "Model.to_onnx": lambda **given: linsep.LinearSVM().fit(TWO, SIDES).model_.to_onnx(**given),
}


def short(cls):
    """What keeps a search short: it says the same in half a second."""
    return {"max_seconds": 0.5} if cls is linsep.TunedClassifier else {}


def named_values():
    """Everything public whose signature names values: its name, how it is called, and the values by parameter."""
    seen = set()
    for name in linsep.__all__:
        thing = getattr(linsep, name)
        if inspect.isclass(thing) and issubclass(thing, linsep._base.Classifier):
            learn = lambda thing=thing, **given: thing(**short(thing), **given).fit(TWO, SIDES)  # noqa: E731
            yield name, learn, literals(thing.__init__)
            onnx = lambda **given: linsep.LinearSVM().fit(TWO, SIDES).to_onnx(**given)  # noqa: E731
            yield f"{name}.to_onnx", onnx, literals(thing.to_onnx)
            continue
        members = {name: thing}
        if inspect.isclass(thing):
            members = {f"{name}.{part}": call for part, call in vars(thing).items() if inspect.isfunction(call)}
            members[name] = members.pop(f"{name}.__init__", None)
        for path, call in members.items():
            if not path.startswith("plot_") and inspect.isfunction(call) and literals(call):
                seen.add(path)
                yield path, CALLS[path], literals(call)
    assert seen == set(CALLS)


@pytest.mark.filterwarnings("ignore")
def test_every_value_that_a_signature_names_is_accepted():
    tried = 0
    for path, call, values in named_values():
        for parameter, value in [(name, value) for name, each in values.items() for value in each]:
            tried += 1
            try:
                call(**{parameter: value})
            except ValueError as error:
                # Some values need another parameter beside them, or other rows; none may be unknown.
                assert not re.search(rf"{parameter}={value!r}: (expected|unknown)|expected one of", str(error)), (path, str(error))
    assert tried > 150


def test_all_columns_are_told_of():
    assert linsep.separate(TWO, SIDES, columns="all").coefficients
    with pytest.raises(ValueError, match="columns='full': expected one of none, usual, all"):
        linsep.separate(TWO, SIDES, columns="full")


# ---------------------------------------------------------------------------------------------------------------- advice

ESTIMATORS = [getattr(linsep, name) for name in estimators.__all__]


def bad_calls():
    """Calls that fail, or whose report has advice: what was called, and the call."""
    three, huge = OVERLAPPING, OVERLAPPING[0] * 1e160
    apart = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    gaps = np.where(random.random((60, 2)) < 0.1, np.nan, OVERLAPPING[0])
    frame = pytest.importorskip("pandas").DataFrame(gaps, columns=["a", "b"])
    for cls in ESTIMATORS:
        for settings in [
            {}, {"init": "first"}, {"shards": 2}, {"mixing": "updates"}, {"mistake": "negative"}, {"penalty": "firth"},
            {"penalty": "none"}, {"penalty": "firth", "C": 2.0}, {"l1_ratio": 0.3}, {"probabilities": True}, {"epochs": 0},
            {"scale": "none", "bias": "none"}, {"schedule": "power"}, {"power": 0.5}, {"step": 1e99}, {"loss": "perceptron", "l2": 1.0},
            {"order": "given", "orders": 3}, {"features": "pairs"}, {"class_weight": "balanced"}, {"bias_scale": 1e200},
            {"kernel": "poly", "degree": 100, "gamma": 1e50}, {"combine": "vote"}, {"max_seconds": -1}, {"max_seconds": 1e-9},
            {"aggression": "full", "C": 2.0}, {"epsilon": 0.1, "beta": 0.1}, {"agreement": 1.0, "beta": 1.0}, {"mistake": "negative", "init": "zero"},
            {"shards": 3, "init": "first"}, {"shards": 10**6},
        ]:
            if set(settings) <= set(inspect.signature(cls).parameters):
                every = [three, (TWO, SIDES), apart, (huge, three[1]), (three[0][:3], [0, 1, 2]), (frame, three[1])]
                for rows, labels in every[: 2 if settings else None]:
                    yield cls, lambda s=settings, c=cls, r=rows, y=labels: c(**{**short(c), **s}).fit(r, y)
    for function, settings in [
        (linsep.separate, {"blame": True, "max_seconds": 0.2}), (linsep.separate, {"pairs": True}), (linsep.separate, {"positive": 9}),
        (linsep.separate, {"gap": 5.0}), (linsep.separate, {"positive": 1, "blame": True, "max_seconds": 1e-9}),
        (linsep.compare, {"metric": "auc"}), (linsep.compare, {"metric": "log-loss"}), (linsep.compare, {"folds": 1}),
        (linsep.compare, {"learners": ["nope"]}), (linsep.compare, {"grid": {"C": []}}), (linsep.compare, {"scale": "none"}),
        (linsep.compare, {"learners": ["logistic"], "grid": {"penalty": ["firth"]}}), (linsep.compare, {"orders": 2}),
        (linsep.tune, {"metric": "auc", "max_seconds": 0.2}), (linsep.tune, {"max_seconds": -1.0}), (linsep.tune, {"simpler": -1.0}),
        (linsep.tune, {"folds": 1}), (linsep.tune, {"max_seconds": 1e-9}), (linsep.theory, {}), (linsep.theory, {"positive": 1, "max_seconds": 0.2}),
        (linsep.theory, {"delta": 2.0}),
    ]:
        for rows, labels in (three, (TWO, SIDES), apart, (huge, three[1]), (frame, three[1])):
            yield function, lambda f=function, s=settings, r=rows, y=labels: f(r, y, **s)
    yield linsep.State, lambda: linsep.State("svm", columns=2)
    yield linsep.State, lambda: linsep.State("perceptron", columns=2, options={"C": 1})
    yield linsep.State, lambda: linsep.State("perceptron", columns=2, init="first", mistake="negative").learn(*three)
    yield linsep.State, lambda: linsep.State("sgd", columns=2, init="first")


def parameters(called):
    """The names of all parameters: of a class, also those of its methods."""
    calls = [called]
    if inspect.isclass(called):
        calls += [getattr(called, name) for name in ("fit", "partial_fit", "learn", "merge") if hasattr(called, name)]
    return {name for call in calls for name in inspect.signature(call).parameters}


def texts_of(call):
    """What a call says: the error, or everything that its result tells."""
    try:
        found = call()
    except (ValueError, MemoryError) as error:
        return [str(error)]
    if isinstance(found, linsep._base.Classifier):
        return [found.report(), repr(found.model_), *(text for _, text in found.notes_)]
    if isinstance(found, linsep._functions.Report):
        return [found.text, *(text for _, text in found.notes)]
    return []


def strings(value):
    """All strings of a record."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.filterwarnings("ignore")
def test_advice_names_parameters_that_there_are():
    advised = {}
    for called, call in bad_calls():
        for text in texts_of(call):
            assert "⟦" not in text and "⟧" not in text, text
            for name in re.findall(r"(?<![\w.])([A-Za-z_]\w*)=(?!=)(?![^\n]*? of linsep\.read)", text):
                advised.setdefault(name, text)
                assert name in parameters(called), (called.__name__, name, text)
    assert len(advised) > 15, sorted(advised)


def test_firth_says_what_its_estimator_has():
    with pytest.raises(ValueError, match="y == CLASS") as raised:
        linsep.LogisticRegression(penalty="firth").fit(*OVERLAPPING)
    assert "classes=" not in str(raised.value) and "positive=" not in str(raised.value)
    # The advice can be followed.
    linsep.LogisticRegression(penalty="firth").fit(OVERLAPPING[0], OVERLAPPING[1] == 1)


# --------------------------------------------------------------------------------------------------------------- records


@pytest.mark.filterwarnings("ignore")
def test_no_record_has_a_raw_mark():
    rows, labels = random.normal(size=(60, 3)), random.integers(0, 2, 60)
    wide = random.normal(size=(30, 300)), random.integers(0, 2, 30)
    hurried = linsep.separate(rows, labels, blame=True, max_seconds=0.2)
    # What ends the search without a time limit takes seconds to reach: its sentence is that of a setting, too.
    assert "stopped" in hurried.record["blame"]
    reports = [
        hurried, linsep.separate(*wide, max_seconds=2.0), linsep.separate(X, Y),
        linsep.separate(X, Y, pairs=True), linsep.compare(X, Y, folds=2), linsep.tune(TWO[::4], SIDES[::4], folds=2, judge="none"),
        linsep.theory(TWO, SIDES, max_seconds=0.5), linsep.verify(linsep.separate(TWO, SIDES), TWO, SIDES),
        linsep.verify(linsep.separate(TWO, SIDES), TWO[::-1], SIDES),
    ]
    records = [(report.record, report.text, report.notes) for report in reports]
    for cls in ESTIMATORS:
        try:
            fitted = cls().fit(TWO, SIDES)
        except ValueError:
            continue
        records.append((fitted.evidence_, fitted.history_, fitted.notes_, fitted.model_.record, fitted.report()))
    records.append(json.loads(linsep._engine.learners()))
    records.append(json.loads(linsep._engine.settings()))
    found = [text for record in records for text in strings(record)]
    assert len(found) > 500
    for text in found:
        assert "⟦" not in text and "⟧" not in text, text


def test_rows_of_zeros_are_all_to_blame():
    found = linsep.separate(np.zeros((4, 2)), [0, 1, 0, 1], bias="none", blame=True)
    blame = found.record["blame"]
    assert found.blame == [0, 1, 2, 3]
    assert (blame["weight"], blame["at_least"], blame["is_smallest"], blame["rest"]) == (4, 4, True, None)
    assert "no row can be left" in found.explain()
