"""What a model says of features, rows and labelled data: `linsep inspect`, `predict --explain` and `evaluate` as data.

`labels` are the labels of the outcomes of a model, in the order of the outcomes: those of an estimator, or the model's own.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep import _arrays, _data, _engine, _frames, _labels
from linsep._functions import Report
from linsep._model import given


class Evaluation(Report):
    """How good a model is on labelled rows: the record of `linsep evaluate`, as ``docs/json.md`` has it, in `record`.

    Attributes
    ----------
    classes : numpy.ndarray
        The labels, in the order of the confusion matrix.
    confusion : numpy.ndarray of shape (n_classes, n_classes)
        How many rows of each class (lines) were predicted as each class (columns), as of `sklearn.metrics.confusion_matrix`.
    roc : tuple of three arrays, or None
        The false positive rates, the true positive rates and the thresholds of the score, as of `sklearn.metrics.roc_curve` for the
        positive class, ``record["classes"]["positive"]``. None for more than two classes, or where the rows are of one.
    """

    def __init__(
        self, record: dict[str, Any], text: str, roc: list[NDArray[np.float64]], labels: NDArray[Any], order: NDArray[np.intp]
    ) -> None:
        super().__init__(record, text)
        self.classes: NDArray[Any] = labels[order]
        self.confusion: NDArray[np.int_] = _confusion(record, labels)[np.ix_(order, order)]
        thresholds, false_positives, true_positives = roc
        self.roc = (false_positives, true_positives, thresholds) if len(thresholds) else None

    @property
    def error(self) -> float:
        """The share of rows that are predicted wrong."""
        return float(self.record["error"])

    @property
    def error_interval(self) -> tuple[float, float]:
        """The exact 95 % interval of the error on new rows, for rows drawn independently of the model."""
        interval = self.record["error_interval"]
        return interval["lower"], interval["upper"]

    @property
    def reliability(self) -> dict[str, Any] | None:
        """`log_loss`, `brier`, `expected_calibration_error` and `bins`; None for a model without probabilities."""
        found: dict[str, Any] | None = self.record.get("probabilities")
        return found


def _confusion(record: dict[str, Any], labels: NDArray[Any]) -> NDArray[np.int_]:
    """The confusion matrix in the order of the outcomes."""
    if "true_positives" in record:
        names = ("true_negatives", "false_positives", "false_negatives", "true_positives")
        return np.array([record[name] for name in names]).reshape(2, 2)
    if "confusion" in record:
        return np.array(record["confusion"])
    matrix = np.zeros((len(labels), len(labels)), dtype=np.int_)
    places = {entry["class"]: place for place, entry in enumerate(record["classes"])}
    for cell in record["confusion_cells"]:
        matrix[places[cell["class"]], places[cell["predicted"]]] = cell["rows"]
    return matrix


def evaluate(
    model: _engine.Model, labels: NDArray[Any], order: NDArray[np.intp], X: Any, y: Any, sample_weight: Any
) -> Evaluation:
    """Judges a model on labelled rows; `order` has the outcomes in the order of the classes."""
    if isinstance(X, _data.Data) and y is None and sample_weight is None:
        rows = rows_for(model, X)
    else:
        X, y = _data.with_labels(X, y)
        rows = rows_for(model, X, _labels.encode_labels(y), sample_weight)
    record, text, roc = model.evaluate(rows)
    return Evaluation(json.loads(record), text, [np.array(part) for part in roc], labels, order)


def explain(model: _engine.Model, labels: NDArray[Any], X: Any) -> list[dict[str, Any]]:
    """Why each row is given its class."""
    found: list[dict[str, Any]] = json.loads(model.explain(rows_for(model, X)))
    for row in found:
        row["class"] = labels[row.pop("outcome")]
        other = row.pop("other")
        row["other"] = None if other is None else labels[other]
    return found


def weights(model: _engine.Model, labels: NDArray[Any], top: int | None) -> list[dict[str, Any]]:
    """The weights by name, the largest of each class first."""
    if model.coefficients() is None:
        raise AttributeError(
            f"the decision function of this model ({model.learner}) has no weights for rows as they are: it votes, "
            "uses a kernel, memorises rows, or scales each row"
        )
    found = []
    for label, own in _of_classes(json.loads(model.record(top)), labels):
        constant = {"feature": "(intercept)", "weight": own["intercept"]}
        if "intercept_in_units" in own:
            constant["weight_per_unit"] = own["intercept_in_units"]
        for entry in (constant, *own["strongest"]):
            found.append({"class": label, **entry, "weight_per_unit": entry.get("weight_per_unit", entry["weight"])})
    return found


def effects(model: _engine.Model, labels: NDArray[Any]) -> dict[Any, dict[str, Any]]:
    """What each column adds to the score of each class."""
    found = {}
    for label, own in _of_classes(json.loads(model.record(0, True)), labels):
        if "effects" not in own:
            raise AttributeError(
                f"the decision function of this model ({model.learner}) is no sum over the columns: it uses a kernel, memorises "
                "rows, or scales each row"
            )
        found[label] = {
            "constant": own["effects_constant"],
            "columns": own["effects"],
            "products": own.get("product_effects", []),
        }
    return found


def _of_classes(record: dict[str, Any], labels: NDArray[Any]) -> list[tuple[Any, dict[str, Any]]]:
    """The parts of a record about each class that has a score: of two classes, the second."""
    if "weights" in record:
        return list(zip(labels.tolist(), record["weights"]))
    return [(labels.tolist()[1], record)]


def rows_for(
    model: _engine.Model, X: Any, labels: _labels.Labels | None = None, sample_weight: Any = None
) -> _engine.Rows:
    """Rows for a model in memory, as its recipe reads them, with their labels."""
    table = [name for name, kind in model.columns or [] if kind == "label"]
    if table and _frames.is_frame(X):
        # A table is read with labels, in the column that had them in training.
        count = int(X.shape[0])
        any_label = _labels.Labels(np.array(model.outcomes[:1]), np.zeros(count, np.uint32), model.outcomes[:1])
        labels = dataclasses.replace(labels or any_label, column=table[0])
    found = given(model, X, labels, sample_weight)
    if not isinstance(found, tuple):
        return found
    return model.read_table(*found, _arrays.weights_of(sample_weight, int(X.shape[0])))
