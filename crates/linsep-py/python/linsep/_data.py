"""Data of Python as rows of the engine: arrays, sparse matrices, frames and files.

Contiguous arrays of float32 and float64 are not copied; neither are the values of CSR matrices. Everything else is
converted once.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep import _engine
from linsep._arrays import (
    csr_of,
    csr_parts,
    dense_array,
    in_words_of_arrays,
    is_sparse,
    length,
    ordered_parts,
    weights_of,
)
from linsep._frames import (
    checked_names,
    column_names,
    is_frame,
    is_single,
    label_column_name,
    numbers_of,
    table_of,
)
from linsep._labels import Labels, labels_of_names


def rows_of(
    X: Any,
    labels: Labels | None = None,
    sample_weight: Any = None,
    *,
    missing: str | None = "auto",
    name: str = "X",
) -> _engine.Rows:
    """The rows of any data that the package takes."""
    if isinstance(X, Data):
        if labels is None and sample_weight is None:
            return X._rows
        X = X.X
    if is_frame(X):
        return _rows_of_frame(X, labels, sample_weight, missing, name)
    if hasattr(X, "__array__") and not hasattr(X, "shape"):
        X = np.asarray(X)
    count = length(X)
    if labels is not None and len(labels.codes) != count:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{count}, {len(labels.codes)}]"
        )
    weights = weights_of(sample_weight, count)
    coded = None if labels is None else (labels.codes, labels.names)
    try:
        if is_sparse(X):
            return _rows_of_sparse(X, coded, weights, name)
        dense = dense_array(X)
        return _engine.Rows.dense(dense.reshape(-1), dense.shape[1], coded, weights, name=name)
    except ValueError as error:
        raise in_words_of_arrays(error, X) from None


def number_type(X: Any) -> np.dtype[Any]:
    """The type of numbers that come of rows: float32 where the rows are, otherwise float64."""
    if isinstance(X, Data):
        return np.dtype(np.float64)
    if is_frame(X):
        return np.dtype(np.float32 if is_single(X) else np.float64)
    kind = getattr(X, "dtype", None)
    if not isinstance(kind, np.dtype) and hasattr(X, "__array__"):
        kind = np.asarray(X).dtype
    return np.dtype(np.float32 if kind == np.float32 else np.float64)


def narrowed(numbers: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """Numbers of the engine in this type; in float32, one that is too large is infinite."""
    with np.errstate(over="ignore"):
        return numbers.astype(kind, copy=False)


def _rows_of_sparse(X: Any, coded: Any, weights: Any, name: str) -> _engine.Rows:
    csr, columns = csr_of(X), int(X.shape[1])
    try:
        # The engine looks at every column and value: what it takes needs no look before.
        return _engine.Rows.sparse(*csr_parts(csr), columns, coded, weights, name)
    except ValueError:
        return _engine.Rows.sparse(*ordered_parts(X, csr), columns, coded, weights, name)


def _rows_of_frame(
    X: Any, labels: Labels | None, sample_weight: Any, missing: str | None, name: str
) -> _engine.Rows:
    names = checked_names(X)
    count = int(X.shape[0])
    if count == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={tuple(X.shape)}) while a minimum of 1 is required.")
    if labels is not None and len(labels.codes) != count:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{count}, {len(labels.codes)}]"
        )
    weights = weights_of(sample_weight, count)
    coded = None if labels is None else (labels.codes, labels.names)
    numbers = numbers_of(X)
    if numbers is not None:
        label = label_column_name(names, labels)
        try:
            return _engine.Rows.dense(numbers.reshape(-1), numbers.shape[1], coded, weights, names, label, name)
        except ValueError as error:
            raise in_words_of_arrays(error, numbers) from None
    table, options = table_of(X, labels, missing)
    return _engine.Rows.table(table, json.dumps(options), weights, name)


def data_spec(X: Any, labels: Labels | None) -> dict[str, Any]:
    """The data part of a job specification, with the label column by name."""
    if not is_frame(X):
        return {"source": "-"}
    label = label_column_name([str(name) for name in column_names(X)], labels)
    return {"source": "-", "read": {"csv": {"label": label}}}


def with_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """Rows and labels; data of a file has its own labels."""
    if isinstance(X, Data) and y is None:
        return X.X, X.y
    return X, y


def refuse_words(X: Any, what: str) -> None:
    """Refuses tables with words or missing cells, where rows come in parts: each part would number its words anew."""
    table = X._rows.columns() if isinstance(X, Data) else []
    if any(kind == "words" for _, kind in table) or (is_frame(X) and numbers_of(X) is None):
        raise ValueError(
            f"{what} learns rows in parts, but features of words and missing cells need all rows: "
            "convert them to numbers first"
        )


class Data:
    """Rows of a file, as `linsep.read` gives them.

    Attributes
    ----------
    X : numpy.ndarray or scipy.sparse.csr_matrix
        The features: a copy, made on first access. Sparse rows need SciPy.
    y : numpy.ndarray
        The label of each row: whole numbers or floats where all labels are numbers, otherwise words.
    feature_names : list of str
        The names of the features: numbers where the file has no names.
    classes : numpy.ndarray
        The distinct labels, sorted.
    """

    def __init__(self, rows: _engine.Rows) -> None:
        self._rows = rows
        self._X: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self._rows.shape

    @property
    def X(self) -> Any:  # noqa: N802
        """The features."""
        if self._X is None:
            arrays = self._rows.arrays()
            if "offsets" in arrays:
                from scipy.sparse import csr_matrix

                parts = (arrays["values"], arrays["indices"], arrays["offsets"])
                self._X = csr_matrix(parts, shape=self.shape)
            else:
                self._X = arrays["values"].reshape(self.shape)
        return self._X

    @property
    def y(self) -> NDArray[Any]:
        """The label of each row."""
        return self.classes[self._rows.labels]

    @property
    def classes(self) -> NDArray[Any]:
        """The distinct labels, sorted."""
        return labels_of_names(self._rows.classes)

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        names = self._rows.feature_names
        return names if names is not None else [self._rows.feature_name(j) for j in range(self.shape[1])]

    @property
    def notes(self) -> list[str]:
        """The detected format, and remarks made while reading."""
        form, remarks = self._rows.notes
        return [form, *remarks]

    def __iter__(self) -> Any:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        rows, features = self.shape
        return f"<linsep.Data: {rows} rows, {features} features, {len(self._rows.classes)} classes>"
