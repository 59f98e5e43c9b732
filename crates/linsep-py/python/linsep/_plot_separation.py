"""The picture of a verdict: the widest gap between two sides, or conflicting rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep._plot_parts import (
    INKS,
    Floats,
    at_least,
    at_most,
    counted,
    discriminant,
    head,
    ink,
    label_points,
    legend_below,
    need_matplotlib,
    new_axes,
    percent,
    plane_of,
    points_of,
    ring,
    scatter,
    vertical,
)
from linsep._separation import Separation, SeparationTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_separation(separation: Separation, X: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """The verdict about two classes, drawn on the rows.

    Completely separable rows are drawn with the boundary and the margin that the certificate proves; quasi-completely separable
    ones with the rows that every boundary without a wrong side goes through; overlapping ones with a few conflicting rows:
    their weighted means on both sides are the same point.

    Two features are drawn as they are, others on a plane, with each column divided by its standard deviation: along the boundary,
    or along the linear discriminant where there is none, and along the main direction across.

    Parameters
    ----------
    separation
        The result of `linsep.separate`, for two classes.
    X, y
        The rows that it was decided for, and their labels; or `linsep.Data`.
    ax
        The axes to draw on; a new figure if None.
    """
    need_matplotlib()
    if isinstance(separation, SeparationTable):
        raise TypeError("this is a table of several pairs of sides: decide one of them, with positive= or classes=")
    if not isinstance(separation, Separation):
        raise TypeError(f"expected a result of linsep.separate, not {type(separation).__name__}")
    record = separation.record
    points = points_of(X, y)
    sides = record["classes"]
    negative = list(sides.get("negative") or [])
    signs = np.array(
        [1.0 if label == sides["positive"] else -1.0 if label in negative or not negative else 0.0 for label in points.labels]
    )
    if int(np.count_nonzero(signs)) != record["rows"] or points.values.shape[1] != record["features"]:
        raise ValueError(
            f"these are not the rows of the verdict: it is about {record['rows']} rows of these classes with {record['features']} "
            f"features, and X has {int(np.count_nonzero(signs))} with {points.values.shape[1]}"
        )
    weights = _weights(separation, points.values.shape[1])
    flat = points.values.shape[1] == 2
    used = np.flatnonzero(signs)
    if flat:
        place, unit = points.values, 1.0
    else:
        shown = weights if weights is not None else discriminant(points.values[used], signs[used])
        plane = plane_of(points.values[used], *shown, (signs[used] > 0).astype(np.intp))
        place = np.full((len(signs), 2), np.nan)
        place[used], unit = plane.place, plane.unit
    ax = new_axes(ax, 7.2, 6.4)
    name = negative[0] if len(negative) == 1 else "the rest"
    scatter(ax, place[used], (signs[used] > 0).astype(np.intp), [str(name), str(sides["positive"])])
    if flat:
        ax.set_xlabel(points.names[0])
        ax.set_ylabel(points.names[1])
    else:
        plane.name_axes(ax, "distance to the boundary" if weights is not None else "along the linear discriminant")
    if separation.verdict == "complete":
        title, how = _complete(ax, separation, points.values, signs, place, weights, flat, unit)
    elif separation.verdict == "quasi-complete":
        title, how = _quasi_complete(ax, separation, place, weights, flat)
    elif separation.verdict == "overlap":
        title, how = _overlap(ax, separation, signs, place)
    else:
        title, how = "Undecided whether a boundary separates the classes", str(record["stopped"] or "")
    head(ax, title, how)
    legend_below(ax)
    return ax


def _weights(separation: Separation, features: int) -> tuple[Floats, float] | None:
    """The weights of the certificate and its constant term; None for a verdict without a boundary."""
    if separation.verdict not in ("complete", "quasi-complete"):
        return None
    if separation.certificate is None:
        raise ValueError("this verdict of a table has no certificate: decide the pair by itself, with positive= or classes=")
    line = re.search(r"^weights ?(.*)$", separation.certificate, re.M)
    bias = re.search(r"^bias (none|free|append) ?(\S*)$", separation.certificate, re.M)
    assert line is not None and bias is not None
    all_weights = np.zeros(features + 1)
    for entry in line.group(1).split():
        at, number = entry.split(":")
        all_weights[int(at)] = float.fromhex(number)
    # The coordinate of the bias: its own value, or 1 where it does not count in the margin.
    value = float.fromhex(bias.group(2)) if bias.group(1) == "append" else 1.0
    return all_weights[:features], float(all_weights[features] * value)


def _norm(separation: Separation, weights: Floats, constant: float) -> float:
    """The length of the weights, in which the margin is measured."""
    bias = separation.record["bias"]
    extra = constant / float(bias["append"]) if isinstance(bias, dict) else 0.0
    return float(np.hypot(np.linalg.norm(weights), extra))


def _complete(
    ax: Axes,
    separation: Separation,
    values: Floats,
    signs: Floats,
    place: Floats,
    weights: tuple[Floats, float] | None,
    flat: bool,
    unit: float,
) -> tuple[str, str]:
    assert weights is not None
    lower, upper = separation.margin
    assert lower is not None
    half = lower * _norm(separation, *weights)
    if flat:
        _line(ax, *weights, half)
    else:
        vertical(ax, half * unit)
    agreements = signs * (values @ weights[0] + weights[1])
    near = np.flatnonzero((signs != 0) & (agreements <= half * (1 + 1e-3)))
    ring(ax, place[near], counted(len(near), "row at the margin", "rows at the margin"))
    return (
        f"Completely separable: the best margin is between {at_least(lower)} and {at_most(upper)}",
        "Solid: the boundary. No row is within the shaded band, which proves the first number; no other boundary has a margin "
        "above the second. The ringed rows are at its edge.",
    )


def _quasi_complete(
    ax: Axes, separation: Separation, place: Floats, weights: tuple[Floats, float] | None, flat: bool
) -> tuple[str, str]:
    assert weights is not None
    if flat:
        _line(ax, *weights, None)
    else:
        vertical(ax, None)
    rows = [int(entry["row"]) for entry in separation.record.get("boundary_rows") or []]
    ring(ax, place[rows], counted(len(rows), "row on every boundary", "rows on every boundary"))
    return (
        "Quasi-completely separable: the best boundary touches rows of both sides",
        "No row is on the wrong side of the solid line, and every boundary that has none there goes through the ringed rows.",
    )


def _overlap(ax: Axes, separation: Separation, signs: Floats, place: Floats) -> tuple[str, str]:
    rows = np.array([int(entry["row"]) for entry in separation.witness], dtype=np.intp)
    shares = np.array([float(entry["share"]) for entry in separation.witness])
    through_origin = separation.record["bias"] == "none"
    ring(ax, place[rows], "conflicting rows, with their shares")
    if len(rows) <= 12:
        label_points(
            ax, place[rows], [f"row {row}: {percent(share)}" for row, share in zip(rows, shares, strict=True)]
        )
    both = "both" if len(rows) == 2 else "all"
    title = f"Not separable: {counted(len(rows), 'row', 'rows')} cannot {both} be on their right sides"
    if through_origin:
        return title, "The ringed rows conflict: with the signs of their sides, a weighted sum of them is zero."
    for sign, colour in ((-1.0, INKS[0]), (1.0, INKS[1])):
        own = rows[signs[rows] == sign]
        shape = _hull(place[own])
        ax.plot(shape[:, 0], shape[:, 1], color=colour, linestyle="-" if sign < 0 else "--", linewidth=1.3, zorder=3)
    point = mixture(place[rows], shares, signs[rows])
    ax.plot(*point, linestyle="none", marker="*", markersize=11, color=ink(), label="the common weighted mean", zorder=7)
    how = (
        "The convex hulls of the ringed rows of both sides intersect. At the star, the weighted means of both sides, with the "
        "weights shown, are the same point: no boundary has it on both sides."
    )
    return title, how


def mixture(place: Floats, shares: Floats, signs: Floats) -> Floats:
    """The mixture of the rows of one side, which is that of the other."""
    own = signs > 0
    point: Floats = shares[own] @ place[own] / shares[own].sum()
    return point


def _hull(place: Floats) -> Floats:
    """The corners of the smallest convex shape around points, in order, closed."""
    order = sorted(map(tuple, place.tolist()))

    def half(points: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        chain: list[tuple[float, ...]] = []
        for point in points:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain

    if len(order) < 3:
        return np.array(order)
    lower, upper = half(order), half(order[::-1])
    corners: NDArray[np.float64] = np.array([*lower[:-1], *upper])
    return corners


def _turn(a: tuple[float, ...], b: tuple[float, ...], c: tuple[float, ...]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _line(ax: Axes, weights: Floats, constant: float, half: float | None) -> None:
    """The line ⟨w, x⟩ + b = 0 of two features, and those of the margin."""
    ax.autoscale_view()
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    across, up = np.meshgrid(np.linspace(left, right, 21), np.linspace(low, high, 21))
    scores = weights[0] * across + weights[1] * up + constant
    ax.contour(across, up, scores, levels=[0.0], colors=[ink()], linewidths=1.8)
    if half is not None and half > 0:
        ax.contour(across, up, scores, levels=[-half, half], colors=[ink()], linewidths=1, linestyles="--")
        ax.contourf(across, up, scores, levels=[-half, half], colors=[ink()], alpha=0.08)
