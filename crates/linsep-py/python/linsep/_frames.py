"""Frames of pandas and polars and tables of Arrow.

A frame of numbers without gaps becomes an array with names. Any other frame becomes the text of a table, which the engine
reads as the command line does, with words and missing cells.
"""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep._arrays import dense_array
from linsep._labels import Labels

_LABEL_NAMES = ("y", "label", "target", "class", "outcome")


def is_frame(X: Any) -> bool:
    """Whether the data is a frame of pandas or polars, or a table of Arrow."""
    return _library(X) is not None


def _library(X: Any) -> str | None:
    for name, kind in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")):
        module = sys.modules.get(name)
        if module is not None and isinstance(X, getattr(module, kind)):
            return name
    return None


def column_names(X: Any) -> list[Any]:
    """The names of the columns of a frame."""
    return list(X.column_names) if _library(X) == "pyarrow" else list(X.columns)


def numbers_of(X: Any) -> NDArray[Any] | None:
    """The array of a frame that holds numbers and truth values only, none of them missing."""
    library = _library(X)
    if library == "pandas":
        kinds = [getattr(dtype, "kind", "O") for dtype in X.dtypes]
        if not kinds or any(kind not in "fiub" for kind in kinds) or X.isna().to_numpy().any():
            return None
        if len(set(X.dtypes)) == 1 and kinds[0] == "f" and isinstance(X.dtypes.iloc[0], np.dtype):
            return dense_array(X.to_numpy())
        return dense_array(X.to_numpy(dtype=np.float64))
    if library == "polars":
        if X.width == 0 or not all(dtype.is_numeric() or str(dtype) == "Boolean" for dtype in X.dtypes):
            return None
        if any(str(dtype).startswith(("Decimal", "Int128")) for dtype in X.dtypes):
            return None
        if sum(X.null_count().row(0)) or any(X[c].dtype.is_float() and X[c].is_nan().any() for c in X.columns):
            return None
        return dense_array(X.to_numpy() if len(set(X.dtypes)) == 1 else X.to_numpy().astype(np.float64))
    columns = [X.column(i) for i in range(X.num_columns)]
    if not columns or any(column.null_count for column in columns):
        return None
    if any(str(column.type) not in _ARROW_NUMBERS for column in columns):
        return None
    arrays = [column.to_numpy() for column in columns]
    same = len({array.dtype for array in arrays}) == 1 and arrays[0].dtype.kind == "f"
    array = np.column_stack(arrays if same else [array.astype(np.float64) for array in arrays])
    return None if np.isnan(array).any() else dense_array(array)


_ARROW_NUMBERS = {"bool", "float", "double", "halffloat"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def checked_names(X: Any) -> list[str]:
    """The names of the columns of a frame, all different."""
    names = column_names(X)
    if not names:
        raise ValueError(f"Found array with 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required.")
    names = [str(name) for name in names]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise ValueError(f"X has several columns of the name {twice[0]!r}")
    return names


def label_column_name(names: list[str], labels: Labels | None) -> str:
    """The name of the labels beside columns with these names."""
    own = [labels.column] if labels is not None and labels.column is not None else []
    free = (name for name in (*own, *_LABEL_NAMES) if name not in names)
    return next(free, "y" + "_" * max(map(len, names)))


def table_text(
    X: Any, labels: Labels | None, missing: str | None
) -> tuple[bytes, dict[str, Any]]:
    """A frame as the text of a table, and how it is to be read."""
    names = checked_names(X)
    csv: dict[str, Any] = {"header": True, "delimiter": ",", "na": []}
    if missing is not None:
        csv["missing"] = missing
    label = label_column_name(names, labels)
    words = None if labels is None else np.asarray(labels.names, dtype=object)[labels.codes]
    if words is not None:
        csv["label"] = label
    library = _library(X)
    if library == "pandas":
        text, kinds = _pandas_text(X, names, label, words)
    elif library == "polars":
        text, kinds = _polars_text(X, names, label, words)
    else:
        text, kinds = _arrow_text(X, names, label, words)
    if kinds:
        csv["columns"] = kinds
    return text, {"format": "csv", "encoding": "utf-8", "csv": csv}


def _pandas_text(X: Any, names: list[str], label: str, words: Any) -> tuple[bytes, dict[str, str]]:
    import pandas as pd

    kinds: dict[str, str] = {}
    columns: dict[str, Any] = {}
    for place, name in enumerate(names):
        column = X.iloc[:, place]
        kind = getattr(column.dtype, "kind", "O")
        if kind == "b":
            column = column.astype("Int8") if column.isna().any() else column.astype("int8")
        elif kind == "f":
            column = column.astype("float64")
        elif kind == "c":
            raise ValueError(f"Complex data not supported: the column {name!r} has complex numbers")
        if kind in "biuf":
            kinds[name] = "number"
        elif kind not in "mM" and all(isinstance(cell, str) for cell in column.dropna()):
            kinds[name] = "words"
        columns[name] = column.reset_index(drop=True)
    if words is not None:
        columns[label] = pd.Series(words)
    return pd.DataFrame(columns).to_csv(index=False).encode("utf-8"), kinds


def _polars_text(X: Any, names: list[str], label: str, words: Any) -> tuple[bytes, dict[str, str]]:
    import polars as pl

    kinds: dict[str, str] = {}
    columns = []
    for name in names:
        column = X[name]
        dtype = column.dtype
        if dtype == pl.Boolean:
            column = column.cast(pl.Int8)
        elif dtype.is_float():
            column = column.cast(pl.Float64).fill_nan(None)
        elif dtype in (pl.Categorical, pl.Enum):
            column = column.cast(pl.String)
        if column.dtype.is_numeric():
            kinds[name] = "number"
        elif column.dtype == pl.String:
            kinds[name] = "words"
        columns.append(column)
    if words is not None:
        columns.append(pl.Series(label, words.tolist(), dtype=pl.String))
    return pl.DataFrame(columns).write_csv().encode("utf-8"), kinds


def _arrow_text(X: Any, names: list[str], label: str, words: Any) -> tuple[bytes, dict[str, str]]:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.types as types

    kinds: dict[str, str] = {}
    columns = []
    for place, name in enumerate(names):
        column = X.column(place)
        kind = column.type
        if types.is_boolean(kind):
            column = column.cast(pa.int8())
        elif types.is_floating(kind):
            column = column.cast(pa.float64())
            cells = column.to_numpy()
            column = pa.array(cells, mask=np.isnan(cells))
        elif types.is_dictionary(kind):
            column = column.cast(pa.string())
        if types.is_integer(column.type) or types.is_floating(column.type):
            kinds[name] = "number"
        elif types.is_string(column.type) or types.is_large_string(column.type):
            kinds[name] = "words"
        columns.append(column)
    table = pa.table(dict(zip(names, columns)))
    if words is not None:
        table = table.append_column(label, pa.array(words.tolist(), type=pa.string()))
    out = io.BytesIO()
    pyarrow.csv.write_csv(table, out)
    return out.getvalue(), kinds
