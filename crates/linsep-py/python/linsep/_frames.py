"""Frames of pandas and polars and tables of Arrow.

A frame of numbers without gaps becomes an array with names. Any other frame becomes a table, which the engine reads as the
command line does, with words and missing cells.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep import _engine
from linsep._arrays import EXACT, dense_array
from linsep._labels import Labels

_LABEL_NAMES = ("y", "label", "target", "class", "outcome")


def is_frame(X: Any) -> bool:
    """Whether the data is a frame of pandas or polars, or a table or a batch of Arrow."""
    return _library(X) is not None


def _library(X: Any) -> str | None:
    kinds = (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch"))
    for name, kind in kinds:
        module = sys.modules.get(name)
        if module is not None and isinstance(X, getattr(module, kind)):
            return name
    return None


def column_names(X: Any) -> list[Any]:
    """The names of the columns of a frame."""
    return list(X.schema.names) if _library(X) == "pyarrow" else list(X.columns)


def is_single(X: Any) -> bool:
    """Whether all columns of a frame are float32."""
    types = X.schema.types if _library(X) == "pyarrow" else X.dtypes
    return {str(kind).lower() for kind in types} <= {"float32", "float"}


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
    arrays = [column.to_numpy(zero_copy_only=False) for column in columns]
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


#: The cells of a column as the engine writes them: numbers, NaN where missing; or which of some words each row has, -1 where
#: missing, and the words.
Cells = NDArray[np.float64] | tuple[NDArray[np.int32], list[str]]
#: Cells, and what is known of them: 'number', 'words', or nothing, which leaves it to the reader.
Column = tuple[Cells, str | None]


def table_of(X: Any, labels: Labels | None, missing: str | None) -> tuple[_engine.Table, dict[str, Any]]:
    """A frame as a table, and how it is to be read."""
    names = checked_names(X)
    if "" in names:
        raise ValueError(f"the column at place {names.index('')} has no name: a table with words needs names")
    library = _library(X)
    column_of = {"pandas": _pandas_column, "polars": _polars_column}.get(library or "", _arrow_column)
    columns = [column_of(X, place, name) for place, name in enumerate(names)]
    csv: dict[str, Any] = {"header": True, "delimiter": ",", "na": []}
    if missing is not None:
        csv["missing"] = missing
    kinds = {name: kind for name, (_, kind) in zip(names, columns) if kind is not None}
    if kinds:
        csv["columns"] = kinds
    cells = [cells for cells, _ in columns]
    for name, column in zip(names, cells):
        if not isinstance(column, tuple):
            continue
        if any("\0" in word for word in column[1]):
            raise ValueError(f"the column {name!r} has a word with a zero byte, which no text may have")
        try:
            "".join(column[1]).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(f"the column {name!r} has a word with half a character (a lone surrogate)") from None
    if labels is not None:
        csv["label"] = label_column_name(names, labels)
        names = [*names, csv["label"]]
        cells.append((labels.codes.astype(np.int32), labels.names))
    return _engine.Table(names, cells), {"format": "csv", "encoding": "utf-8", "csv": csv}


def _exact(numbers: NDArray[np.float64], name: str, whole: bool = False) -> NDArray[np.float64]:
    """Finite numbers or gaps; none that was whole before it was a float was rounded."""
    if np.isinf(numbers).any():
        raise ValueError(f"Input X contains infinity: the column {name!r} has values that are not finite")
    if whole and np.any(np.abs(numbers) > EXACT):
        raise ValueError(f"the column {name!r} has whole numbers above 2**53, which float64 does not hold exactly")
    return np.ascontiguousarray(numbers)


def _refused(name: str, kind: Any) -> ValueError:
    return ValueError(f"the column {name!r} has cells of the type {kind}: expected numbers, words, dates or truth values")


def _pandas_column(X: Any, place: int, name: str) -> Column:
    import pandas as pd

    column = X.iloc[:, place]
    kind = getattr(column.dtype, "kind", "O")
    if kind == "c":
        raise ValueError(f"Complex data not supported: the column {name!r} has complex numbers")
    if kind in "biuf":
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return _exact(numbers, name, kind in "iu"), "number"
    if kind == "m":
        return _exact(column.dt.total_seconds().to_numpy(dtype=np.float64), name), "number"
    if isinstance(column.dtype, pd.CategoricalDtype):
        # Categories are words, also those that look like numbers.
        words = [str(word) for word in column.cat.categories]
        return (np.ascontiguousarray(column.cat.codes.to_numpy(), dtype=np.int32), words), "words" if words else None
    if kind == "O" and _hashable(column):
        if pd.api.types.infer_dtype(column, skipna=True) == "boolean":
            return column.astype("boolean").to_numpy(dtype=np.float64, na_value=np.nan), "number"
        codes, words = pd.factorize(column)
    else:
        # Dates, and cells that have no hash, by what they are written as.
        codes, words = pd.factorize(column.astype(str).where(column.notna()))
    strings = isinstance(words.dtype, pd.StringDtype) or pd.api.types.infer_dtype(words) == "string"
    known = strings and kind == "O" and len(words) > 0
    return (np.ascontiguousarray(codes, dtype=np.int32), [str(word) for word in words]), "words" if known else None


def _hashable(column: Any) -> bool:
    """Whether cells are hashable as they are."""
    try:
        column.nunique()
    except TypeError:
        return False
    return True


def _polars_column(X: Any, place: int, name: str) -> Column:
    import polars as pl

    column = X.to_series(place)
    dtype = column.dtype
    if dtype == pl.Boolean or dtype == pl.Null or dtype.is_numeric():
        numbers = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return _exact(numbers, name, dtype.is_integer()), "number"
    if dtype == pl.Duration:
        seconds = column.dt.total_nanoseconds().cast(pl.Float64) / 1e9
        return _exact(seconds.fill_null(float("nan")).to_numpy(), name), "number"
    if not (dtype in (pl.String, pl.Categorical, pl.Enum) or dtype.is_temporal()):
        raise _refused(name, dtype)
    texts = column.cast(pl.String)
    words = texts.drop_nulls().unique(maintain_order=True)
    places = pl.Series(range(len(words)), dtype=pl.Int32)
    codes = texts.replace_strict(words, places, default=None, return_dtype=pl.Int32).fill_null(-1)
    kind = None if dtype.is_temporal() else "words"
    return (codes.to_numpy().astype(np.int32), words.to_list()), kind


def _arrow_column(X: Any, place: int, name: str) -> Column:
    import pyarrow as pa
    import pyarrow.types as types

    column = X.column(place)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_boolean(kind):
        column = column.cast(pa.int8())
    if types.is_boolean(kind) or types.is_null(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        whole = types.is_integer(kind)
        # Whole numbers are looked at as floats, and refused where these are not the same.
        numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return _exact(numbers.astype(np.float64), name, whole), "number"
    if types.is_duration(kind):
        per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        counts = column.cast(pa.int64()).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return _exact(counts.astype(np.float64) / per_second, name), "number"
    is_word = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if not (is_word or types.is_temporal(kind)):
        raise _refused(name, kind)
    texts = column.cast(pa.string())
    found = (texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts).dictionary_encode()
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    codes = found.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return (codes.astype(np.int32), found.dictionary.to_pylist()), "words" if is_word else None
