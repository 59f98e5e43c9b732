"""Whether a boundary can separate the classes: decided exactly, with a certificate that can be checked."""

from __future__ import annotations

import html
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from linsep import _arrays, _data, _engine, _frames, _labels
from linsep._functions import Report, filled, job_rows


class SeparationWarning(UserWarning):
    """A boundary separates the classes, completely or quasi-completely: a logistic regression has no finite optimum."""


class SeparationError(ValueError):
    """Raised instead of the warning, with `on_found='raise'`."""


class Separation(Report):
    """Whether a boundary can separate two sides, with the proof.

    Attributes
    ----------
    verdict : {"complete", "quasi-complete", "overlap", "undecided"}
        The verdict.
    margin : tuple
        The best margin is at least the first (None if no boundary without a wrong side is known) and at most the second.
    certificate : str or None
        The proof as text, for `linsep.verify` and `linsep verify`; None where nothing was decided.
    record : dict
        Everything that was found, as in ``docs/json.md``.
    """

    def __init__(self, record: dict[str, Any], text: str, certificate: str | None, numbered: bool = False) -> None:
        super().__init__(record, text)
        self.certificate = certificate
        self._numbered = numbered

    @property
    def verdict(self) -> str:
        """The verdict."""
        return str(self.record["verdict"])

    @property
    def separable(self) -> bool:
        """Whether a boundary has every row strictly on its side."""
        return self.verdict == "complete"

    @property
    def margin(self) -> tuple[float | None, float]:
        """The interval of the best margin."""
        return self.record["margin"]["lower"], self.record["margin"]["upper"]

    @property
    def coefficients(self) -> dict[str, str]:
        """Of every coefficient of a logistic regression: `finite`, `+inf`, `-inf`, `infinite-sign-open`, or `aliased`.

        The bias is called ``(intercept)``, the columns of an array ``x0``, ``x1`` and so on: ``x1`` is ``X[:, 1]``, which the text
        of `explain` counts from 1, as the command line does. Empty where it was not determined, see `record`.
        """
        found = self.record.get("coefficients") or []
        return {self._name(entry["feature"]): str(entry["status"]) for entry in found}

    def _name(self, feature: str | None) -> str:
        if feature is None:
            return "(intercept)"
        return f"x{int(feature) - 1}" if self._numbered and feature.isdecimal() else feature

    @property
    def witness(self) -> list[dict[str, Any]]:
        """A few rows that cannot all be strictly right, with their shares; empty if completely separable."""
        found: list[dict[str, Any]] = self.record["witness_rows"]
        return found

    @property
    def blame(self) -> list[int]:
        """Rows whose removal separates the rest, if `blame` was set and a set was found."""
        found = self.record.get("blame") or {"rows": []}
        return [int(entry["row"]) for entry in found["rows"]]

    def explain(self) -> str:
        """The report of `linsep separate`."""
        return self.text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the certificate, for `linsep verify` and `linsep-check`."""
        if self.certificate is None:
            raise ValueError("there is no certificate: nothing was decided")
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(self.certificate)

    def __repr__(self) -> str:
        lower, upper = self.margin
        least = "unknown" if lower is None else f"{lower:.6g}"
        lines = [f"<linsep.Separation: {self.verdict}>", f"  margin: from {least} to {upper:.6g}"]
        infinite = [f"{name} {status}" for name, status in self.coefficients.items() if "inf" in status]
        if infinite:
            lines.append(f"  not finite: {', '.join(infinite[:8])}" + (", …" if len(infinite) > 8 else ""))
        if self.witness:
            rows = ", ".join(str(entry["row"]) for entry in self.witness[:8])
            lines.append(f"  conflicting rows: {rows}" + (", …" if len(self.witness) > 8 else ""))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<div><strong>{html.escape(self.verdict)}</strong><pre>{html.escape(self.text)}</pre></div>"


class SeparationTable(Report):
    """Several pairs of sides: each class against the rest, or every pair of classes."""

    def __init__(self, record: dict[str, Any], text: str, numbered: bool = False) -> None:
        super().__init__(record, text)
        self._numbered = numbered

    @property
    def separations(self) -> list[Separation]:
        """One for each pair of sides. They have no certificates: decide one pair, with positive=, to have one."""
        return [Separation(dict(record), "", None, self._numbered) for record in self.record["table"]]

    def __iter__(self) -> Iterator[Separation]:
        return iter(self.separations)

    def __len__(self) -> int:
        return len(self.record["table"])

    def __getitem__(self, place: int) -> Separation:
        return self.separations[place]

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each pair of sides, by its classes."""
        found = {}
        for record in self.record["table"]:
            classes = record["classes"]
            negative = classes.get("negative") or []
            other = negative[0] if self.record["tasks"] == "pairs" else "rest"
            found[f"{classes['positive']} | {other}"] = str(record["verdict"])
        return found


class Verification(Report):
    """Whether a certificate proves its claim on the rows."""

    @property
    def accepted(self) -> bool:
        """Whether it is accepted."""
        return bool(self.record["accepted"])

    def __bool__(self) -> bool:
        return self.accepted


def separate(
    X: Any,
    y: Any = None,
    *,
    positive: Any = None,
    classes: Sequence[Any] = (),
    pairs: bool = False,
    bias: Literal["append", "none", "free"] = "append",
    bias_scale: float | None = None,
    gap: float | None = None,
    blame: bool = False,
    columns: Literal["none", "usual", "all"] | None = None,
    max_seconds: float | None = None,
    memory: int | None = None,
    seed: int = 0,
) -> Separation | SeparationTable:
    """Decides, with proof, whether a boundary can separate the classes, by what margin, and if not, why.

    Parameters
    ----------
    X, y
        Rows and labels, or `linsep.Data`.
    positive
        The class of one side, against the rest. Without it, of more than two classes each is set against the rest.
    classes
        The classes whose rows count; all if empty.
    pairs
        Decide for every pair of classes.
    bias
        'append' and 'none' as for estimators; 'free': the bias does not count in the margin.
    gap
        The width of the margin interval, relative to its upper end, that is to be reached.
    blame
        Search for a small set of rows whose removal separates the rest.
    columns
        The detail of the report on coefficients: 'none', 'usual' (for data of usual size, the default of None), or 'all' (for data
        of any size).

    Returns
    -------
    Separation
        Of two sides.
    SeparationTable
        Of several pairs of sides.
    """
    rows, _, data = job_rows(X, y, missing=None, sides=True)
    return _decided(
        rows,
        data,
        positive=positive,
        classes=classes,
        pairs=pairs,
        blame=blame,
        numbered=_numbered(X),
        settings=filled(
            bias=bias,
            bias_scale=bias_scale,
            gap=gap,
            columns=columns,
            max_seconds=max_seconds,
            memory=memory,
            seed=seed,
        ),
    )


def _decided(
    rows: _engine.Rows,
    data: dict[str, Any],
    *,
    positive: Any = None,
    classes: Sequence[Any] = (),
    pairs: bool = False,
    blame: bool = False,
    numbered: bool = False,
    settings: dict[str, Any],
) -> Separation | SeparationTable:
    spec: dict[str, Any] = {"data": data, **settings, "pairs": bool(pairs), "blame": bool(blame)}
    if positive is not None:
        spec["positive"] = _labels.label_name(positive)
    if isinstance(classes, str):
        raise ValueError(f"classes={classes!r}: expected a list of classes")
    if len(classes):
        spec["only"] = [_labels.label_name(label) for label in classes]
    record, text, certificate = _engine.separate(rows, json.dumps(spec))
    found = json.loads(record)
    if "table" in found:
        return SeparationTable(found, text, numbered)
    return Separation(found, text, certificate, numbered)


def verify(
    certificate: str | bytes | os.PathLike[str] | Separation, X: Any, y: Any = None, *, allow_one_sided: bool = False
) -> Verification:
    """Checks a certificate against the rows, with the small exact checker alone.

    Parameters
    ----------
    certificate
        The text of a certificate, as str or bytes; the path of one; or a `Separation`.
    X, y
        The rows that it is about.
    allow_one_sided
        Accept a claim about rows that all belong to the same side.
    """
    if isinstance(certificate, Separation):
        if certificate.certificate is None:
            raise ValueError("there is no certificate: nothing was decided")
        text = certificate.certificate
    elif isinstance(certificate, str) and "\n" in certificate:
        text = certificate
    elif isinstance(certificate, bytes) and b"\n" in certificate:
        text = certificate.decode("utf-8", "replace")
    else:
        with open(certificate, "rb") as file:
            text = file.read().decode("utf-8", "replace")
    rows, _, _ = job_rows(X, y, missing=None)
    record, message = _engine.verify(text, rows, bool(allow_one_sided))
    return Verification(json.loads(record), message)


def check_separation(
    X: Any,
    y: Any,
    *,
    on_found: Literal["warn", "raise", "ignore"] = "warn",
    intercept: bool | None = None,
    max_seconds: float | None = None,
) -> Separation:
    """Checks, before a logistic regression, whether its coefficients are finite.

    Where the classes are separable, completely or quasi-completely, the likelihood keeps increasing as coefficients
    grow, and printed estimates are only where the iterations stopped.

    Parameters
    ----------
    X
        The rows; or a design matrix made from a formula (patsy, formulaic), as an array or a frame.
    y
        The labels, two classes.
    on_found
        'warn' warns with `SeparationWarning`, 'raise' raises `SeparationError`, 'ignore' does neither.
    intercept
        Whether the regression adds an intercept to the columns. If None: unless a column is constant already, as a
        formula makes it.
    max_seconds
        Stop after so many seconds; the verdict may then be 'undecided'.

    Returns
    -------
    Separation
        The verdict with its proof; `coefficients` says which are infinite.
    """
    if on_found not in ("warn", "raise", "ignore"):
        raise ValueError(f"on_found={on_found!r}: expected 'warn', 'raise' or 'ignore'")
    names = _design_names(X)
    labels = _labels.encode_labels(y)
    if len(labels.classes) != 2:
        raise ValueError(f"y has {len(labels.classes)} classes: a logistic regression is checked for two")
    rows = _data.rows_of(X, labels, missing=None)
    if intercept is None:
        intercept = not _has_constant(X)
    settings = filled(bias="append" if intercept else "none", max_seconds=max_seconds)
    found = _decided(rows, {"source": "-"}, numbered=names is None and _numbered(X), settings=settings)
    assert isinstance(found, Separation)
    if names is not None:
        for entry in found.record.get("coefficients") or []:
            if entry["feature"] is not None:
                entry["feature"] = names[int(entry["feature"]) - 1]
    if found.verdict in ("complete", "quasi-complete") and on_found != "ignore":
        text = _message(found)
        if on_found == "raise":
            raise SeparationError(text)
        warnings.warn(text, SeparationWarning, stacklevel=2)
    return found


def _numbered(X: Any) -> bool:
    """Whether columns have places alone: those of a file have the numbers that it gives them."""
    return not isinstance(X, _data.Data) and not _frames.is_frame(X)


def _design_names(X: Any) -> list[str] | None:
    """The names of the columns of a design matrix that is an array."""
    info = getattr(X, "design_info", None)
    if info is None or _frames.is_frame(X):
        return None
    return [str(name) for name in info.column_names]


def _has_constant(X: Any) -> bool:
    if hasattr(X, "tocsr"):
        X = X.tocsc()
        least, most = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
        return bool(np.any((least == most) & (least != 0)))
    array = _frames.numbers_of(X) if _frames.is_frame(X) else _arrays.dense_array(X)
    if array is None:
        return False
    return bool(np.any((array.min(axis=0) == array.max(axis=0)) & (array[0] != 0)))


def _message(found: Separation) -> str:
    columns = [f"{name} ({status})" for name, status in found.coefficients.items() if "inf" in status]
    kind = "completely" if found.verdict == "complete" else "quasi-completely"
    text = (
        f"the classes are {kind} separable: the likelihood of a logistic regression has no finite optimum"
    )
    if columns:
        text += f"; not finite: {', '.join(columns[:10])}" + (", …" if len(columns) > 10 else "")
    return text + ". Use a penalty (such as Firth's), or leave out what separates."
