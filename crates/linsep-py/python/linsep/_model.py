"""A trained model, as it is saved and loaded: the same file on the command line and in Python."""

from __future__ import annotations

import html
import json
import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep import _data, _engine, _frames, _labels

if TYPE_CHECKING:
    from linsep._export import Input, OnnxFile
    from linsep._inspect import Evaluation

_Path = str | os.PathLike[str]


def answers(model: _engine.Model, asked: str, X: Any) -> NDArray[Any]:
    """The predictions for rows: `labels` (places of classes), `scores` or `probabilities`."""
    rows = given(model, X)
    if isinstance(rows, tuple):
        found = model.of_table(asked, *rows)
        return found[:, 0].astype(np.uint32) if asked == "labels" else found
    if asked == "labels":
        return model.labels(rows)
    return model.scores(rows) if asked == "scores" else model.probabilities(rows)


def given(
    model: _engine.Model, X: Any, labels: _labels.Labels | None = None, sample_weight: Any = None
) -> _engine.Rows | tuple[_engine.Table, str]:
    """Rows for a model: as they are; or a table, and how the recipe of the model is to read it."""
    columns = model.columns
    if _frames.is_frame(X) and columns is not None:
        return _of_frame(model, X, columns, labels, sample_weight)
    if isinstance(X, _data.Data):
        return _of_same_features(model, X)
    words = columns is not None and any(kind == "words" for _, kind in columns)
    if words and np.ndim(X) == 2 and np.shape(X)[1] != model.inputs:
        raise ValueError(
            "this model was trained on a table with words: pass rows with the same columns, as a frame"
        )
    return _data.rows_of(X, labels, sample_weight)


def _of_same_features(model: _engine.Model, data: _data.Data) -> _engine.Rows:
    names = data._rows.feature_names
    if model.columns is not None and names is not None and names != model.feature_names[: model.inputs]:
        raise ValueError(
            "these rows were read with other features than those of the model: its words were numbered by its own file"
        )
    return data._rows


def _of_frame(
    model: _engine.Model,
    X: Any,
    columns: list[tuple[str, str]],
    labels: _labels.Labels | None,
    sample_weight: Any,
) -> _engine.Rows | tuple[_engine.Table, str]:
    wanted = [name for name, kind in columns if kind in ("number", "words")]
    names = [str(name) for name in _frames.column_names(X)]
    lacking = [name for name in wanted if name not in names]
    if lacking:
        raise ValueError(f"X has no column {lacking[0]!r}, which the model needs")
    numbers_only = all(kind in ("number", "label") for _, kind in columns) and model.inputs == len(wanted)
    numbers = _frames.numbers_of(X) if numbers_only else None
    if numbers is not None:
        chosen = numbers if names == wanted else numbers[:, [names.index(name) for name in wanted]]
        return given(model, chosen, labels, sample_weight)
    table, options = _frames.table_of(X, labels, None)
    # Which column holds what is known from the training rows.
    found = options["csv"].pop("columns", {})
    other = [name for name, kind in columns if kind == "number" and found.get(name) == "words"]
    if other:
        warnings.warn(
            f"the column {other[0]!r} held numbers in the training rows, and holds words now: counted as missing",
            stacklevel=_labels.level_of_caller(),
        )
    options["csv"].pop("na", None)
    return table, json.dumps(options)


def evidence_html(title: str, facts: list[tuple[str, str]]) -> str:
    """A table of facts for a notebook."""
    lines = "".join(
        f"<tr><th style='text-align:left;vertical-align:top'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
        for name, text in facts
    )
    return f"<div><strong>{html.escape(title)}</strong><table>{lines}</table></div>"


class Model:
    """A trained model, with everything needed to apply it: what `linsep.load` gives, and what every estimator holds.

    Attributes
    ----------
    learner : str
        The name of its learner.
    classes : numpy.ndarray
        The labels that it predicts: numbers if all of them are, otherwise words.
    evidence : dict
        The evidence about the run and its data, as in ``docs/json.md``.
    feature_names : list of str
        What its features are called.
    """

    def __init__(self, engine: _engine.Model) -> None:
        self._engine = engine

    @classmethod
    def load(cls, path: _Path) -> Model:
        """Opens a model file."""
        return cls(_engine.Model.load(path))

    @classmethod
    def from_bytes(cls, content: bytes) -> Model:
        """The model in the bytes of a file."""
        return cls(_engine.Model.from_bytes(content))

    def to_bytes(self) -> bytes:
        """The bytes of its file."""
        return self._engine.to_bytes()

    def save(self, path: _Path) -> None:
        """Saves the model atomically, for `linsep predict` and `linsep.load`."""
        self._engine.save(path)

    @property
    def learner(self) -> str:
        """The name of its learner."""
        return self._engine.learner

    @property
    def classes(self) -> NDArray[Any]:
        """The labels that it predicts."""
        return _labels.labels_of_names(self._engine.outcomes)

    @property
    def record(self) -> dict[str, Any]:
        """The record of the model, as `linsep inspect --json` prints it, with all weights."""
        found: dict[str, Any] = json.loads(self._engine.record())
        return found

    @property
    def evidence(self) -> dict[str, Any]:
        """The evidence about the run and its data."""
        found: dict[str, Any] = json.loads(self._engine.evidence())
        return found

    @property
    def feature_names(self) -> list[str]:
        """The names of its features."""
        return self._engine.feature_names

    @property
    def coef(self) -> NDArray[np.float64]:
        """The change of the score per unit of each feature: one row for two classes, otherwise one for each."""
        return self._coefficients()[0]

    @property
    def intercept(self) -> NDArray[np.float64]:
        """The score of a row of zeros."""
        return self._coefficients()[1]

    def _coefficients(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        found = self._engine.coefficients()
        if found is None:
            raise AttributeError(
                f"the decision function of this model ({self.learner}) has no weights for rows as they are: it votes, "
                "uses a kernel, memorises rows, or scales each row"
            )
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        labels: NDArray[Any] = self.classes[answers(self._engine, "labels", X)]
        return labels

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The score of each row, 0 or more for the second class; of more than two classes, one for each."""
        scores: NDArray[np.float64] = answers(self._engine, "scores", X)
        one: NDArray[np.float64] = scores[:, 0]
        return one if self._engine.two_sides else scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row."""
        return answers(self._engine, "probabilities", X)

    def evaluate(self, X: Any, y: Any = None, sample_weight: Any = None) -> Evaluation:
        """Judges the model on labelled rows, as `linsep evaluate` does.

        Parameters
        ----------
        X, y
            Rows and labels, or `linsep.Data`.
        sample_weight
            How often each row counts. Weights that are not whole numbers are no counts: then each row counts once.

        Returns
        -------
        linsep.Evaluation
            The record of the command, with the confusion matrix and the ROC curve as arrays.
        """
        from linsep._inspect import evaluate

        return evaluate(self._engine, self.classes, np.arange(len(self.classes)), X, y, sample_weight)

    def explain(self, X: Any) -> list[dict[str, Any]]:
        """Why each row is given its class, as `linsep predict --explain` says it.

        Returns
        -------
        list of dict
            For each row `class`, the class that it was preferred to (`other`), by which `score`, of which so much is `constant`
            (None where the score is no sum: then each part is the change of the score when its feature alone is left out), and
            the `parts`: `feature`, its `value` in the row, and its `effect` on the score, the strongest evidence for the class first.
        """
        from linsep._inspect import explain

        return explain(self._engine, self.classes, X)

    def weights(self, top: int | None = None) -> list[dict[str, Any]]:
        """The weights by name, the largest of each class first; `pandas.DataFrame` makes a table of them.

        Parameters
        ----------
        top
            So many of each class; all that are not zero if None.

        Returns
        -------
        list of dict
            Each with `class` (of two classes the second), `feature` ('(intercept)' for the constant), `weight` of the scaled feature,
            and `weight_per_unit`, the change of the score per unit of the feature as given, as in `coef`.
        """
        from linsep._inspect import weights

        return weights(self._engine, self.classes, top)

    def effects(self) -> dict[Any, dict[str, Any]]:
        """What each column adds to the score, as `linsep inspect --effects` says it.

        Returns
        -------
        dict
            For each class that has a score (of two classes the second) the `constant`, the `columns`, the largest first, each with
            its `column`, its `size` and `per_unit`, `curve` or `words`, and the `products` of pairs of columns.
        """
        from linsep._inspect import effects

        return effects(self._engine, self.classes)

    def to_onnx(self, path: _Path | None = None, input: Input = "f32", data: Any = None) -> OnnxFile:
        """The model as an ONNX file, with its preparation of the rows and its probabilities.

        Parameters
        ----------
        path
            The file to write, atomically; none if None.
        input
            The number type of the inputs: 'f32', as in most programs, or 'f64'. The graph computes in f64 either
            way, so that predictions from f32 differ only as far as the values themselves change when they are rounded.
        data
            Rows on which that is looked at: `ExportWarning` says which of them get another class from 'f32', and the
            result's `rounding` has the numbers.

        Returns
        -------
        OnnxFile
            The bytes of the file, with `inputs`, `outputs`, `classes` and `rounding`. Labels are texts, and scores are for
            the second of two classes.
        """
        from linsep._export import to_onnx

        return to_onnx(self._engine, path, input, data, stacklevel=3)

    def to_sklearn(self, data: Any = None) -> Any:
        """A fitted estimator of scikit-learn with the same weights.

        The estimator has the kind that matches the learner: `LogisticRegression` (with the same probabilities),
        `LinearSVC` for support vector machines and largest margins, `Perceptron` for perceptrons, `SGDClassifier` for
        gradient descent and passive-aggressive learning. Its weights are in the units of the rows as given, whatever the
        scaling; only for rows scaled to unit length it is a `Pipeline` with a `Normalizer`. Its other parameters are
        scikit-learn's own: fitting it again gives other weights. It takes numbers: dates as days since
        1970-01-01, times as hours since midnight.

        Models without a linear form are refused: votes, kernels, words and missing cells of a table, splines and
        products, thresholds, probabilities that are calibrated separately. `to_onnx` writes all but the first two.

        Parameters
        ----------
        data
            Rows on which the predictions are compared; `ExportWarning` names rows that get another class. That can only be rows
            on the boundary, but for rounding: a score of exactly 0 is the second class here, and the first in scikit-learn.
        """
        from linsep._export import to_sklearn

        names = [name for name, kind in self._engine.columns or [] if kind == "number"]
        columns = np.array(names, dtype=object) if names else None
        places = np.arange(len(self.classes))
        return to_sklearn(self._engine, self.classes, places, columns, data, stacklevel=3)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return (Model.from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        return "\n".join(f"{name:<10}{text}" for name, text in self._engine.facts())

    def _repr_html_(self) -> str:
        return evidence_html(f"linsep.Model ({self.learner})", self._engine.facts())
