"""Arrays of NumPy and matrices of SciPy as the engine takes them: nothing is copied where the layout allows it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep import _engine

#: Larger whole numbers are not all float64.
EXACT = 2**53


def length(X: Any) -> int:
    """How many rows there are."""
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) > 0:
        return int(shape[0])
    if shape is not None or not hasattr(X, "__len__"):
        raise TypeError(f"Expected sequence or array-like, got {type(X)}")
    return len(X)


def refuse_beyond_memory(name: str, shape: tuple[int, ...], itemsize: int) -> None:
    """Refuses an array that memory does not hold: one that repeats few numbers has any shape, and no end where it is copied."""
    needed = itemsize
    for extent in shape:
        needed *= int(extent)
    _engine.check_memory(min(needed, 2**64 - 1), f"{name} of shape {tuple(map(int, shape))}")


def weights_of(sample_weight: Any, count: int) -> NDArray[np.float64] | None:
    """The weight of each row; None where all are 1."""
    if sample_weight is None:
        return None
    try:
        # What has no shape of its own repeats nothing.
        shape = getattr(sample_weight, "shape", None)
        shape = (np.asarray(sample_weight, dtype=np.float64).shape if shape is None else shape) or (count,)
        if shape != (count,) and len(shape) == 1:
            raise ValueError(f"sample_weight.shape == {shape}, expected {(count,)}!")
        refuse_beyond_memory("sample_weight", shape, 8)
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight=: {error}") from None
    if weights.ndim == 0:
        weights = np.full(count, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if np.all(weights == 1.0):
        return None
    return weights


def dense_array(X: Any) -> NDArray[Any]:
    """A contiguous array of float32 or float64 with two dimensions: X itself, where it is one."""
    refuse_masked(X, "X")
    if hasattr(X, "collect_schema"):
        raise TypeError(f"X is a {type(X).__name__}, which has no rows yet: call collect() first")
    array = np.asarray(X)
    if not (is_taken(array.dtype) and array.flags.c_contiguous):
        refuse_beyond_memory("a copy of X", array.shape, 4 if array.dtype == np.float32 else 8)
    if array.dtype.kind == "O":
        for cell in array.ravel()[:1]:
            if isinstance(cell, (complex, np.complexfloating)):
                raise ValueError("Complex data not supported")
        array = array.astype(np.float64)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{X}\n")
    if array.dtype.kind in "US":
        try:
            array = array.astype(np.float64)
        except (ValueError, TypeError):
            raise ValueError(
                "X has words, and an array of words has no column names: use a frame of pandas, polars or Arrow, "
                "whose words become features"
            ) from None
    if array.dtype.kind in "mMV":
        raise ValueError(f"X has values of the type {array.dtype}: expected numbers")
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead:\narray={array!r}.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single "
            "sample."
        )
    if array.shape[0] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required."
        )
    if array.shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
        )
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        if int(array.max()) > EXACT or int(array.min()) < -EXACT:
            raise ValueError("X has whole numbers above 2**53, which float64 does not hold exactly")
    if not is_taken(array.dtype):
        with np.errstate(over="ignore"):
            wide = array.astype(np.float64)
        if array.dtype.kind == "f" and array.dtype.itemsize > 8 and np.any(np.isinf(wide) & np.isfinite(array)):
            raise ValueError("X has numbers that are too large for float64")
        array = wide
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])


def refuse_masked(array: Any, name: str) -> None:
    """Refuses masked cells: the numbers under a mask would be taken for values."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise ValueError(f"{name} has masked cells: fill them first, or pass a frame with missing cells")


def is_taken(kind: np.dtype[Any]) -> bool:
    """Whether the engine takes numbers of this type as they are."""
    return kind.kind == "f" and kind.itemsize in (4, 8) and kind.isnative


def is_sparse(X: Any) -> bool:
    """Whether the data is a sparse matrix or array of SciPy."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


#: Where rows start, columns, values: the parts of compressed sparse rows.
Parts = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def csr_of(X: Any) -> Any:
    """A sparse matrix of numbers as compressed sparse rows: X itself, where it is one."""
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead. Reshape your data.")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"Found array with shape={X.shape} while a minimum of 1 sample and 1 feature is required.")
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X has complex numbers")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X has values of the type {X.dtype}: expected numbers")
    if X.format in ("csr", "csc"):
        _check_structure(X)
    if X.format != "csr":
        refuse_beyond_memory("where the rows of X start,", (int(X.shape[0]) + 1,), 4)
    return X.tocsr()


def _check_structure(X: Any) -> None:
    """SciPy trusts the arrays of a matrix, and writes where they say: what they say is looked at first."""
    starts, places = X.indptr, X.indices
    rows, columns = X.shape if X.format == "csr" else X.shape[::-1]
    if len(starts) != rows + 1 or starts[0] != 0 or np.any(starts[1:] < starts[:-1]):
        raise ValueError("X.indptr is damaged: it must start at 0 and never fall, with one entry more than there are rows")
    if starts[-1] > min(len(places), len(X.data)):
        raise ValueError("X.indptr is damaged: it ends beyond X.indices or X.data")
    if X.format == "csc" and len(places) and (places.min() < 0 or places.max() >= columns):
        raise ValueError("X.indices is damaged: it names rows that X does not have")


def csr_parts(csr: Any) -> Parts:
    """The parts of a matrix as they are, with values of a type that the engine takes."""
    # SciPy allows for more room than the rows take.
    stored = int(csr.indptr[-1])
    values = csr.data[:stored]
    if not is_taken(values.dtype):
        if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and len(values):
            if int(values.max()) > EXACT or int(values.min()) < -EXACT:
                raise ValueError("X has whole numbers above 2**53, which float64 does not hold exactly")
        with np.errstate(over="ignore"):
            wide = values.astype(np.float64)
        if values.dtype.kind == "f" and values.dtype.itemsize > 8 and np.any(np.isinf(wide) & np.isfinite(values)):
            raise ValueError("X has numbers that are too large for float64")
        values = wide
    return np.ascontiguousarray(csr.indptr), np.ascontiguousarray(csr.indices[:stored]), np.ascontiguousarray(values)


def ordered_parts(X: Any, csr: Any) -> Parts:
    """The same with columns that increase within a row, each once, and without zeros."""
    if not csr.has_canonical_format:
        csr = csr.copy() if csr is X else csr
        csr.sum_duplicates()
    offsets, indices, values = csr_parts(csr)
    stored = values != 0
    kept = np.concatenate([[0], np.cumsum(stored)])
    return kept[offsets], indices[stored], values[stored]


def in_words_of_arrays(error: ValueError, X: Any) -> ValueError:
    """The same error, with what scikit-learn's users look for."""
    text = str(error)
    if "is not finite" not in text:
        return error
    values = X.data if is_sparse(X) else dense_array(X)
    what = "NaN" if np.isnan(values).any() else "infinity"
    return ValueError(f"Input X contains {what}: {text}")
