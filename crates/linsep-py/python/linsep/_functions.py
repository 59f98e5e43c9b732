"""The commands of the program as functions: compare, tune, theory, read, load."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from linsep import _data, _engine, _labels
from linsep._base import class_weights, plain
from linsep._model import Model
from linsep._settings import Features, Judge, Metric, Scale

_Path = str | os.PathLike[str]


class Report:
    """The result of a job: `record` as in ``docs/json.md``, and `text` as the command line prints it."""

    def __init__(self, record: dict[str, Any], text: str) -> None:
        self.notes: list[tuple[str, str]] = [(kind, note) for kind, note in record.pop("notes", [])]
        record.pop("history", None)
        self.record = record
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


class Comparison(Report):
    """Comparison of learners, the best first."""

    @property
    def learners(self) -> list[dict[str, Any]]:
        """What is known about each learner: `label`, `held_out_error`, `margin`, `updates`, `seconds` and more."""
        found: list[dict[str, Any]] = self.record["learners"]
        return found

    @property
    def best(self) -> str:
        """The name of the best learner."""
        return str(self.learners[0]["learner"])


class Tuned(Report):
    """The result of a search: the candidates, the choice, and the chosen model."""

    def __init__(self, record: dict[str, Any], text: str, model: Model) -> None:
        super().__init__(record, text)
        self.model = model

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The candidates, the simplest first."""
        found: list[dict[str, Any]] = self.record["candidates"]
        return found

    @property
    def chosen(self) -> dict[str, Any]:
        """The candidate that was chosen."""
        place: int = self.record["chosen"]
        return self.candidates[place]

    @property
    def estimate(self) -> dict[str, Any] | None:
        """The error on rows that had no part in the search, if one was asked for."""
        found: dict[str, Any] | None = self.record["estimate"]
        return found


class TheoryReport(Report):
    """Every statement of the theory on the data, with its numbers in `record`."""


def job_rows(
    X: Any, y: Any, sample_weight: Any = None, *, missing: str | None = "auto", sides: bool = False
) -> tuple[_engine.Rows, _labels.Labels | None, dict[str, Any]]:
    """The rows of a job, their labels, and what the specification says about their data. With `sides`, of two classes at least."""
    if isinstance(X, _data.Data) and y is None and sample_weight is None:
        return X._rows, None, {"source": "-"}
    X, y = _data.with_labels(X, y)
    labels = _labels.encode_labels(y)
    if sides and len(labels.classes) == 1:
        raise ValueError(f"y has one class, {labels.classes.tolist()[0]!r}: expected rows of at least two classes")
    rows = _data.rows_of(X, labels, sample_weight, missing=missing)
    return rows, labels, _data.data_spec(X, labels)


def class_spec(class_weight: Any, positive: Any) -> dict[str, Any]:
    """Which classes, and how often their rows count."""
    spec: dict[str, Any] = {}
    weight = class_weights(class_weight)
    if weight is not None:
        spec["weight"] = weight
    if positive is not None:
        spec["positive"] = _labels.label_name(positive)
    return spec


def filled(**settings: Any) -> dict[str, Any]:
    """The given settings, in the form of the specification."""
    found = {name: plain(name, value, "number") for name, value in settings.items()}
    return {name: value for name, value in found.items() if value is not None}


def bias_spec(bias: str, bias_scale: float | None) -> dict[str, Any]:
    """Whether the boundary has a bias, or goes through the origin."""
    if bias not in ("append", "none"):
        raise ValueError(f"bias={bias!r}: expected 'append' or 'none'")
    spec: dict[str, Any] = {} if bias == "append" else {"append": False}
    if isinstance(bias_scale, str):
        raise ValueError(f"bias_scale={bias_scale!r}: expected a number")
    if bias_scale is not None:
        spec["scale"] = plain("bias_scale", bias_scale, "number")
    return {"bias": spec} if spec else {}


def compare(
    X: Any,
    y: Any = None,
    *,
    learners: Sequence[str] = (),
    grid: Mapping[str, Sequence[Any]] | None = None,
    metric: Metric = "error",
    folds: int = 5,
    orders: int = 0,
    scale: Scale = "auto",
    features: Features = "plain",
    max_pairs: int | None = None,
    epochs: int | None = None,
    max_seconds: float | None = None,
    bias: Literal["append", "none"] = "append",
    bias_scale: float | None = None,
    positive: Any = None,
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
    sample_weight: Any = None,
    seed: int = 0,
) -> Comparison:
    """Compares learners by cross-validation on the same folds, as `linsep compare` does.

    Parameters
    ----------
    X, y
        Rows and labels, or `linsep.Data`.
    learners
        The learners by the names of the command line, such as ``["perceptron", "svm"]``; all that are suitable for the
        data if empty.
    grid
        Options of the learners, each with the values to try.
    metric, folds, orders, scale, features, max_pairs, epochs, max_seconds, bias, bias_scale, positive, class_weight, seed
        As for the command.
    """
    rows, _, data = job_rows(X, y, sample_weight, sides=True)
    if isinstance(learners, str):
        raise ValueError(f"learners={learners!r}: expected a list of names")
    spec: dict[str, Any] = {"data": data, "classes": class_spec(class_weight, positive)}
    spec.update(
        filled(
            metric=metric,
            folds=folds,
            orders=orders,
            scale=scale,
            features=features,
            max_pairs=max_pairs,
            epochs=epochs,
            max_seconds=max_seconds,
            seed=seed,
        )
    )
    spec.update(bias_spec(bias, bias_scale))
    spec["learners"] = [str(name) for name in learners]
    if grid:
        spec["grid"] = {
            str(name): [plain(str(name), value, "number") for value in values] for name, values in grid.items()
        }
    record, text = _engine.compare(rows, json.dumps(spec))
    return Comparison(json.loads(record), text)


def tune_spec(
    data: dict[str, Any],
    *,
    metric: str,
    folds: int,
    max_seconds: float | None,
    judge: str,
    simpler: float,
    bias: str,
    bias_scale: float | None,
    positive: Any,
    class_weight: Any,
    seed: int,
) -> dict[str, Any]:
    """The specification of a search."""
    if judge not in get_args(Judge):
        raise ValueError(f"judge={judge!r}: expected {' or '.join(map(repr, get_args(Judge)))}")
    spec: dict[str, Any] = {"data": data, "classes": class_spec(class_weight, positive)}
    spec.update(
        filled(metric=metric, folds=folds, max_seconds=max_seconds, judging=judge, simpler=simpler, seed=seed)
    )
    spec.update(bias_spec(bias, bias_scale))
    return spec


def tune(
    X: Any,
    y: Any = None,
    *,
    metric: Metric = "error",
    folds: int = 5,
    max_seconds: float | None = None,
    judge: Judge = "auto",
    simpler: float = 0.0,
    bias: Literal["append", "none"] = "append",
    bias_scale: float | None = None,
    positive: Any = None,
    class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
    sample_weight: Any = None,
    seed: int = 0,
) -> Tuned:
    """Searches preparation, learner and penalty by cross-validation, and trains the best candidate on all rows.

    As `linsep tune`; `TunedClassifier` is the same as an estimator.
    """
    rows, _, data = job_rows(X, y, sample_weight, sides=True)
    spec = tune_spec(
        data,
        metric=metric,
        folds=folds,
        max_seconds=max_seconds,
        judge=judge,
        simpler=simpler,
        bias=bias,
        bias_scale=bias_scale,
        positive=positive,
        class_weight=class_weight,
        seed=seed,
    )
    model, record, text = _engine.tune(rows, json.dumps(spec))
    return Tuned(json.loads(record), text, Model(model))


def theory(
    X: Any,
    y: Any = None,
    *,
    positive: Any = None,
    scale: Scale = "none",
    bias: Literal["append", "none"] = "append",
    bias_scale: float | None = None,
    epochs: int = 1000,
    max_seconds: float = 10.0,
    delta: float = 0.05,
    seed: int = 0,
) -> TheoryReport:
    """Every statement of the theory on two classes, in plain words with numbers, as `linsep theory` prints it."""
    rows, _, data = job_rows(X, y, missing=None, sides=True)
    spec: dict[str, Any] = {"data": data, "classes": class_spec(None, positive)}
    spec.update(filled(scale=scale, epochs=epochs, max_seconds=max_seconds, delta=delta, seed=seed))
    spec.update(bias_spec(bias, bias_scale))
    record, text = _engine.theory(rows, json.dumps(spec))
    return TheoryReport(json.loads(record), text)


def read(
    path: _Path,
    *,
    format: str | None = None,
    label: str | int | None = None,
    labels: _Path | None = None,
    ignore: Sequence[str | int] = (),
    keep: Sequence[str | int] = (),
    missing: str | None = None,
    columns: Mapping[str, str] | None = None,
    na: Sequence[str] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    size: str | None = None,
    colour: bool = False,
    skip_bad: bool = False,
) -> _data.Data:
    """Reads a file in any format of the command line: LIBSVM, CSV, TSV, ARFF, JSON Lines, Vowpal Wabbit, Excel, NumPy, IDX, a
    folder of pictures, or a cache of linsep.

    Parameters
    ----------
    path
        The file. Compressed ones (gzip, zstd) are read too.
    format
        The name of the format; detected if not given.
    label
        The column of the label, by name or number from 1; the last if not given.
    labels
        A second file with the labels, for arrays.
    sheet
        The sheet of a workbook, by name or number from 1; the first if not given.
    size, colour
        Of pictures, in a folder with one sub-folder for each class: the size that all are resized to, such as
        ``"128x128"``, and whether red, green and blue are features and not one level of grey.
    ignore, keep, missing, columns, na, header, delimiter, encoding, skip_bad
        As the options of the command line (``docs/formats.md``): columns to leave out, columns to keep although they name the rows, the treatment of missing cells,
        the kinds of columns, the words for missing cells, and so on.
    """
    csv: dict[str, Any] = {}
    if label is not None:
        csv["label"] = str(label)
    for name, chosen in (("ignore", ignore), ("keep", keep)):
        if chosen:
            csv[name] = [str(column) for column in chosen]
    for name, value in (("missing", missing), ("header", header), ("delimiter", delimiter)):
        if value is not None:
            csv[name] = value
    if columns:
        csv["columns"] = {str(name): str(kind) for name, kind in columns.items()}
    if na is not None:
        csv["na"] = [str(word) for word in na]
    if sheet is not None:
        csv["sheet"] = str(sheet)
    options: dict[str, Any] = {"skip_bad": bool(skip_bad)}
    if csv:
        options["csv"] = csv
    if size is not None or colour:
        options["pictures"] = {"colour": bool(colour), **({} if size is None else {"size": size})}
    if labels is not None:
        options["array"] = {"labels_file": os.fspath(labels)}
    for name, value in (("format", format), ("encoding", encoding)):
        if value is not None:
            options[name] = value
    return _data.Data(_engine.Rows.read(os.fspath(path), json.dumps(options)))


def load(path: _Path) -> Model:
    """Opens a model file: of `estimator.save`, `Model.save` or `linsep train -o`."""
    return Model.load(path)
