"""Models for other programs: as an ONNX file, and as an estimator of scikit-learn."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linsep import _data, _engine
from linsep._model import answers, given

_Path = str | os.PathLike[str]
Input = Literal["f32", "f64"]


class ExportWarning(UserWarning):
    """On the rows that were given, the exported model predicts other classes than the model itself."""


class OnnxFile(bytes):
    """An ONNX file, as bytes for `onnxruntime.InferenceSession`, with its inputs and outputs.

    Attributes
    ----------
    inputs : list of dict
        The inputs, in order: `name`, `kind` ('f32', 'f64' or 'text'), `columns` (the names of those it holds; empty where
        features have no names) and `width`. NaN, and for words the empty text, are missing cells.
    outputs : list of str
        The names of the outputs: 'label', 'scores' and, if the model has probabilities, 'probabilities'.
    classes : list of str
        The classes in the order of the scores and the probabilities, as texts; 'label' is one of them. From an estimator that is
        the order of its `classes_`.
    rounding : dict or None
        The effect of 32-bit inputs on the rows of `data`: `rows` compared, `other_class` (how many get another class),
        `lines` (the first 20 of these, counted from 0) and `largest_change` of a score. None if no rows were given.
    """

    inputs: list[dict[str, Any]]
    outputs: list[str]
    classes: list[str]
    rounding: dict[str, Any] | None

    def __repr__(self) -> str:
        inputs = ", ".join(f"{one['name']} ({one['kind']} × {one['width']})" for one in self.inputs[:4])
        more = ", …" if len(self.inputs) > 4 else ""
        return f"<linsep.OnnxFile: {len(self)} bytes, {inputs}{more} → {', '.join(self.outputs)}>"


def to_onnx(
    model: _engine.Model,
    path: _Path | None,
    input: Input,
    data: Any,
    *,
    order: Sequence[int] | None = None,
    stacklevel: int,
) -> OnnxFile:
    """The model as ONNX; see `linsep.Model.to_onnx`. `order` has the outcomes of the model in the order of scores and probabilities."""
    content, about = _engine.onnx(model, input, order)
    file = OnnxFile(content)
    described = json.loads(about)
    file.inputs, file.outputs, file.classes = described["inputs"], described["outputs"], described["classes"]
    file.rounding = None if data is None else rounding(model, data)
    if file.rounding is not None and file.rounding["other_class"] and input == "f32":
        rows = file.rounding["lines"]
        message = _message(file.rounding["other_class"], file.rounding["rows"], rows)
        warnings.warn(
            f"{message} when the numbers are rounded to 32 bits; input='f64' keeps them",
            ExportWarning,
            stacklevel=stacklevel,
        )
    if path is not None:
        _engine.write_file(path, file)
    return file


def rounding(model: _engine.Model, X: Any) -> dict[str, Any]:
    """What rounding the numbers of rows to 32 bits changes."""
    rows = given(model, X)
    if isinstance(rows, tuple):
        found: dict[str, Any] = json.loads(_engine.rounding_of_table(model, *rows))
    else:
        found = json.loads(_engine.rounding(model, rows))
    return found


def _message(changed: int, rows: int, first: Sequence[int]) -> str:
    names = ", ".join(map(str, first[:5])) + (", …" if changed > 5 else "")
    what = "row gets" if changed == 1 else "rows get"
    return f"{changed} of {rows} {what} another class ({'row' if changed == 1 else 'rows'} {names})"


# --------------------------------------------------------------------------------------------------------- scikit-learn

#: Learners whose weights are those of a support vector machine; of the others, most are perceptrons.
_MACHINES = ("svm", "max-margin")
_PERCEPTRONS = ("perceptron", "averaged", "margin", "batch", "pocket", "lifted", "multiclass")
#: What scikit-learn calls the losses of gradient descent.
_LOSSES = {"perceptron": "perceptron", "hinge": "hinge", "log": "log_loss", "squared": "squared_error"}


def to_sklearn(
    model: _engine.Model,
    classes: NDArray[Any],
    places: NDArray[np.intp],
    names: NDArray[Any] | None,
    data: Any,
    *,
    stacklevel: int,
) -> Any:
    """The model as an estimator of scikit-learn; see `linsep.Model.to_sklearn`.

    `places` has, for each outcome of the model, its place among `classes`.
    """
    try:
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import Normalizer
    except ImportError:
        raise ImportError("to_sklearn needs scikit-learn: pip install scikit-learn") from None
    record = {"learner": model.learner, **json.loads(model.record(0))}
    _refuse(model, record)
    unit_rows = record["scaling"] == "unit-rows"
    weights = _engine.scaled_weights(model) if unit_rows else model.coefficients()
    # A model without weights was refused.
    assert weights is not None
    estimator = _empty(record)
    estimator.classes_ = classes
    estimator.coef_, estimator.intercept_ = (_in_order(part, model.two_sides, places) for part in weights)
    steps = [estimator]
    if unit_rows:
        steps.insert(0, Normalizer(norm="l2"))
    for step in steps:
        step.n_features_in_ = model.inputs
        if names is not None:
            step.feature_names_in_ = names
    whole = Pipeline([("unit_rows", steps[0]), ("classifier", estimator)]) if unit_rows else estimator
    if data is not None:
        _compare(model, whole, classes[places], data, stacklevel + 1)
    return whole


def _refuse(model: _engine.Model, record: dict[str, Any]) -> None:
    """Raises an error for a model that no linear estimator of scikit-learn can represent."""
    columns = model.columns or []
    numbers = sum(kind == "number" for _, kind in columns)
    calibration = record.get("probabilities", {}).get("kind")
    if _engine.scaled_weights(model) is None:
        # ONNX has no form for it either.
        raise ValueError(
            f"this model ({model.learner}) votes, uses a kernel or memorises rows: it has no weights for an estimator "
            "of scikit-learn or an ONNX file; pickle it, or save it for linsep"
        )
    if any(kind == "words" for _, kind in columns):
        reason = "it makes features of the words of a table"
    elif columns and numbers != model.inputs:
        reason = "it has features for missing cells"
    elif record["expansion"] is not None:
        reason = "it makes splines or products of the columns"
    elif "threshold" in record:
        reason = "its labels use a threshold of the probability"
    elif calibration not in (None, "natural"):
        reason = "its probabilities are calibrated separately (probabilities=True)"
    else:
        return
    raise ValueError(f"this model cannot be an estimator of scikit-learn: {reason}. to_onnx writes all of it")


def _empty(record: dict[str, Any]) -> Any:
    """The unfitted estimator of the matching kind."""
    from sklearn import linear_model, svm

    learner = record["learner"]
    if learner == "logistic":
        estimator: Any = linear_model.LogisticRegression()
    elif learner in _MACHINES:
        estimator = svm.LinearSVC()
    elif learner in _PERCEPTRONS:
        estimator = linear_model.Perceptron()
    elif learner == "passive-aggressive":
        estimator = linear_model.SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0)
    else:
        estimator = linear_model.SGDClassifier(loss=_LOSSES[_loss(record)])
    # Passes over the rows, as the fitted estimators of scikit-learn have it.
    passes = int(record["evidence"]["epochs"])
    estimator.n_iter_ = np.array([passes], dtype=np.int32) if learner == "logistic" else passes
    return estimator


def _loss(record: dict[str, Any]) -> str:
    """The loss of gradient descent."""
    return str(record["settings"]["learner"]["sgd"]["loss"])


def _in_order(
    part: NDArray[np.float64], two_sides: bool, places: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Weights or intercepts of outcomes in the order of the classes; of two classes, one row, for the second."""
    if two_sides:
        return part.copy() if places[1] == 1 else -part
    ordered = np.empty_like(part)
    ordered[places] = part
    return ordered[1:] - ordered[:1] if len(ordered) == 2 else ordered


def _compare(
    model: _engine.Model, estimator: Any, classes: NDArray[Any], X: Any, stacklevel: int
) -> None:
    """Warns where the estimator predicts other classes than the model."""
    own = classes[answers(model, "labels", X)]
    rows = X.X if isinstance(X, _data.Data) else X
    with warnings.catch_warnings():
        # Rows of a file are an array without names.
        warnings.simplefilter("ignore")
        changed = np.flatnonzero(estimator.predict(rows) != own)
    if len(changed):
        message = _message(len(changed), len(own), changed.tolist())
        warnings.warn(
            f"{message} from scikit-learn: they are on the boundary, but for rounding",
            ExportWarning,
            stacklevel=stacklevel,
        )
