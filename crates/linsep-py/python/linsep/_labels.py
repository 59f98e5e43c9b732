"""Labels of Python as classes of the engine."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep import _engine
from linsep._arrays import EXACT, is_sparse, refuse_beyond_memory, refuse_masked


@dataclass(frozen=True)
class Labels:
    """Labels as numbers of classes.

    ``classes`` are the distinct labels, sorted as NumPy sorts them; ``codes`` says which of them each row has, and
    ``names`` what the engine calls them.
    """

    classes: NDArray[Any]
    codes: NDArray[np.uint32]
    names: list[str]
    #: What the column of the labels is called, where it has a name.
    column: str | None = None

    def places(self, outcomes: list[str]) -> NDArray[np.intp]:
        """The place among the classes of each outcome of a model."""
        return places_of(self.names, outcomes)


def places_of(names: list[str], outcomes: list[str]) -> NDArray[np.intp]:
    """The place of each outcome of a model among labels with these names."""
    known = {name: place for place, name in enumerate(_engine.class_names(names))}
    return np.array([known[outcome] for outcome in outcomes], dtype=np.intp)


def label_name(label: object) -> str:
    """What the engine calls a label."""
    if isinstance(label, (bool, np.bool_)):
        return str(bool(label))
    if isinstance(label, (int, np.integer)):
        return str(int(label))
    if isinstance(label, (float, np.floating)):
        return repr(float(label))
    if isinstance(label, bytes):
        return label.decode("utf-8", "replace")
    if isinstance(label, str):
        return str(label)
    raise ValueError(f"y has the label {label!r}: labels are numbers or words")


def encode_labels(y: Any) -> Labels:
    """The distinct labels, and which of them each row has."""
    column = column_of(y)
    y = label_column(y)
    small = _small_integers(y)
    if small is not None:
        classes, codes = small
    else:
        try:
            classes, codes = np.unique(y, return_inverse=True)
        except TypeError as error:
            raise ValueError("y has labels of several types, which cannot be sorted") from error
    names = [label_name(label) for label in classes.tolist()]
    _check_names(classes.tolist(), names)
    return Labels(classes, codes.astype(np.uint32, copy=False), names, column)


def _check_names(labels: list[Any], names: list[str]) -> None:
    """Refuses labels that no class can have, and two that are one class for the engine, such as '1' and '01', or 'TRUE' and 'true'."""
    seen: dict[str, Any] = {}
    for label, name in zip(labels, _engine.class_keys(names)):
        if name is None or "\0" in name:
            raise ValueError(f"y has the label {label!r}: a label is neither empty nor 'nan' or 'inf', nor has it zero bytes")
        if name in seen:
            raise ValueError(f"the labels {seen[name]!r} and {label!r} are two names of one class")
        seen[name] = label


def column_of(y: Any) -> str | None:
    """The name of a series of labels, if it has one."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else None


def encode_known(y: Any, classes: NDArray[Any], names: list[str]) -> Labels:
    """The same for labels that must be among classes that are known."""
    found = encode_labels(y)
    places = np.searchsorted(classes, found.classes) if classes.dtype.kind != "O" else None
    codes = np.empty(len(found.classes), dtype=np.uint32)
    for i, label in enumerate(found.classes.tolist()):
        if places is not None:
            place = int(places[i])
            matches = place < len(classes) and classes[place] == label
        else:
            hits = np.nonzero(classes == label)[0]
            place, matches = (int(hits[0]), True) if len(hits) else (0, False)
        if not matches:
            raise ValueError(f"y has the label {label!r}, which is not among the classes {classes.tolist()}")
        codes[i] = place
    return Labels(classes, codes[found.codes], names)


def label_column(y: Any) -> NDArray[Any]:
    """Labels as an array with one dimension, of numbers or of words."""
    if y is None:
        raise ValueError("this estimator requires y to be passed, but the target y is None")
    if hasattr(y, "to_numpy"):
        y = np.asarray(y) if type(y).__module__.startswith("pyarrow") else y.to_numpy()
    if is_sparse(y):
        raise ValueError("y is a sparse matrix: labels are a column of numbers or words")
    refuse_masked(y, "y")
    y = np.asarray(y)
    # The place of its class, for each row.
    refuse_beyond_memory("y", y.shape, 4)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples, ), for example using ravel().",
            _conversion_warning(),
            stacklevel=level_of_caller(),
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y has complex labels")
    if y.dtype.kind in "mMV":
        raise ValueError(f"y has labels of the type {y.dtype}: labels are numbers or words")
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity.")
        if np.any(y != np.floor(y)):
            raise ValueError(
                "Unknown label type: continuous. A classifier needs classes, and y has numbers with fractions."
            )
    if y.dtype.kind == "O":
        missing = next((label for label in y if label is None or label != label), y)
        if missing is not y:
            raise ValueError(f"Input y contains NaN or missing labels ({missing!r}).")
        kinds = {isinstance(label, str) for label in y.tolist()}
        if kinds == {True}:
            words: NDArray[Any] = y.astype(str)
            return words
        if kinds == {True, False}:
            raise ValueError("y has labels of several types: strings or numbers must be used, not both")
        try:
            # Numbers that an array of objects holds.
            numbers = np.array(y.tolist())
        except (TypeError, ValueError) as error:
            raise ValueError(f"Unknown label type: unknown. {error}") from error
        if numbers.dtype.kind == "O":
            raise ValueError(f"Unknown label type: unknown. y has labels such as {y[0]!r}, which no array of numbers holds")
        return label_column(numbers)
    column: NDArray[Any] = y
    return column


def level_of_caller() -> int:
    """How many calls up the first one is that is not of this package."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("linsep."):
        level, frame = level + 1, frame.f_back
    return level + 1


def _conversion_warning() -> type[Warning]:
    try:
        from sklearn.exceptions import DataConversionWarning
    except ImportError:
        return UserWarning
    kind: type[Warning] = DataConversionWarning
    return kind


def _small_integers(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Codes of labels that are few small whole numbers, without sorting all of them."""
    if y.dtype.kind not in "iub" or len(y) == 0:
        return None
    whole = y.view(np.uint8) if y.dtype.kind == "b" else y
    least, most = int(whole.min()), int(whole.max())
    if most - least >= 1 << 16 or most > EXACT or least < -EXACT:
        return None
    offsets = (whole.astype(np.int64) - least) if least < 0 or whole.dtype.kind != "i" else whole - least
    present = np.nonzero(np.bincount(offsets, minlength=most - least + 1))[0]
    places = np.zeros(most - least + 1, dtype=np.uint32)
    places[present] = np.arange(len(present), dtype=np.uint32)
    return (present + least).astype(y.dtype), places[offsets]


def labels_of_names(names: list[str]) -> NDArray[Any]:
    """The labels that names of classes stand for: numbers where all of them are."""
    for kind in (int, float):
        try:
            return np.array([kind(name) for name in names])
        except (ValueError, OverflowError):
            continue
    return np.array(names)
