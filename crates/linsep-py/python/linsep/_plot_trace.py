"""The picture of the convergence theorem: its proof, followed on a run."""

from __future__ import annotations

import copy
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep import _engine
from linsep._base import Classifier
from linsep._plot_parts import (
    INKS,
    at_least,
    at_most,
    checked_axes,
    counted,
    figure_of,
    grid,
    head,
    ink,
    loosen,
    need_matplotlib,
    plain_log,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_trace(
    source: Any, X: Any = None, y: Any = None, *, ax: Sequence[Axes] | None = None
) -> Figure:
    """The proof of the convergence theorem on a run: its two curves, the interval of the margin, mistakes against the bound.

    Parameters
    ----------
    source
        A perceptron (`Perceptron`, `AveragedPerceptron` or `VotedPerceptron`), which runs once more on X and y to be watched;
        or the file of ``linsep train --trace``, or its lines as a list of dicts.
    X, y
        The training rows, where `source` is an estimator.
    ax
        Four axes to draw on; a new figure if None.
    """
    need_matplotlib()
    trace = _trace(source, X, y)
    if ax is None:
        import matplotlib.pyplot as plt

        figure, made = plt.subplots(2, 2, figsize=(9.6, 7.6), layout="constrained")
        loosen(figure)
        axes = list(made.ravel())
    else:
        axes = [checked_axes(each) for each in np.ravel(np.asarray(ax, dtype=object))]
        if len(axes) != 4:
            raise ValueError(f"ax= has {len(axes)} axes: the proof needs 4")
    updates = np.array([point["update"] for point in trace], dtype=np.float64)
    column = {
        name: np.array([point[name] for point in trace], dtype=np.float64)
        for name in ("norm_squared", "norm_squared_bound", "margin_upper", "alignment", "alignment_bound", "cosine_bound")
    }
    marker = {"marker": "o", "markersize": 3.5} if len(trace) <= 60 else {}
    known = bool(np.isfinite(column["alignment"]).all())

    first = axes[0]
    head(
        first,
        "Each mistake turns θ towards a separator",
        "The solid curve stays above the dashed line: every mistake adds at least γ."
        if known
        else "Not shown: the run found no separator θ* to compare with.",
    )
    if not known:
        first.set_axis_off()
    else:
        first.plot(updates, column["alignment"], color=INKS[0], label="⟨θₖ, θ*⟩", **marker)
        first.plot(updates, column["alignment_bound"], color=INKS[1], linestyle="--", label="kγ, the least it can be")

    second = axes[1]
    head(
        second,
        "No mistake makes θ longer than √k·R",
        "The solid curve stays below the dashed line: a mistake adds at most R² to the squared length.",
    )
    second.plot(updates, column["norm_squared"], color=INKS[0], label="‖θₖ‖²", **marker)
    second.plot(updates, column["norm_squared_bound"], color=INKS[1], linestyle="--", label="kR², the most it can be")

    third = axes[2]
    upper = np.minimum.accumulate(column["margin_upper"])
    third.plot(updates, upper, color=INKS[0], label="γ* is at most ‖θₖ‖/k", **marker)
    if known:
        # cos bound = kγ/(√k R ‖θ*‖), so that this is γ/‖θ*‖, the margin that θ* proves.
        lower = column["cosine_bound"][-1] * np.sqrt(column["norm_squared_bound"][-1]) / updates[-1]
        third.axhline(lower, color=INKS[1], linestyle="--", label="γ* is at least what θ* has")
        third.fill_between(updates, lower, upper, color=ink(), alpha=0.1, linewidth=0)
        title = f"The best margin: {at_least(lower)} to {at_most(upper[-1])}"
    else:
        title = f"The best margin: at most {at_most(upper[-1])}"
    shaded = "What is still possible is shaded: e" if known else "E"
    head(third, title, f"{shaded}ach mistake proves that the margin is no larger.")
    plain_log(third)

    fourth = axes[3]
    passes = np.array([point["epoch"] for point in trace], dtype=np.float64)
    # The last update of each pass that the trace has; the run starts with none.
    ends = np.append(np.flatnonzero(np.diff(passes)), len(passes) - 1)
    fourth.plot(
        np.append(0, passes[ends]),
        np.append(0, updates[ends]),
        color=INKS[0],
        marker="o",
        markersize=3.5,
        label="mistakes so far",
    )
    made_mistakes = counted(int(updates[-1]), "mistake", "mistakes")
    if known:
        bound = updates[-1] / column["cosine_bound"][-1] ** 2
        fourth.axhline(bound, color=INKS[1], linestyle="--", label="(R/γ)², the most in any order")
        title = f"{made_mistakes}, and never more than {at_most(bound)}"
    else:
        title = f"{made_mistakes}, and no bound is known"
    dashed = " The dashed line holds for every order of them." if known else ""
    head(fourth, title, f"Mistakes after each pass over the rows.{dashed}")
    fourth.set_yscale("symlog", linthresh=1)
    fourth.set_ylim(bottom=0)
    fourth.yaxis.set_major_formatter("{x:,.0f}")
    fourth.xaxis.get_major_locator().set_params(integer=True)
    for each in (first, second):
        each.yaxis.set_major_formatter("{x:,.6g}")
    for each in axes:
        each.set_xlabel("pass" if each is fourth else "mistakes k")
        grid(each)
        if each is not first or known:
            each.legend(frameon=False, fontsize="small")
    return figure_of(first)


def _trace(source: Any, X: Any, y: Any) -> list[dict[str, Any]]:
    """The trace of a run."""
    if isinstance(source, Classifier):
        if not source._traces:
            raise ValueError(
                f"{type(source).__name__} does not learn from mistakes: use Perceptron, AveragedPerceptron "
                "or VotedPerceptron"
            )
        if (getattr(source, "shards", None) or 1) > 1:
            raise ValueError("shards=: the proof is about one sequential run")
        if getattr(source, "class_weight", None) is not None:
            raise ValueError("class_weight=: the theorem counts unweighted mistakes")
        if X is None:
            raise ValueError("X and y are required: the run is repeated on them")
        # The rows may have another number of columns than those it is fitted on.
        watched = copy.copy(source)
        rows, labels, data = watched._training_rows(X, y, None)
        if len(labels.classes) > 2:
            raise ValueError(f"y has {len(labels.classes)} classes: the theorem is about two classes")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.jsonl"
            spec = {**watched._spec(), "data": data, "trace": str(path)}
            _engine.train(rows, json.dumps(spec), False)
            points = _lines(path)
    elif isinstance(source, (str, os.PathLike)):
        points = _lines(Path(source))
    elif isinstance(source, Sequence):
        points = [dict(point) for point in source if isinstance(point, Mapping)]
        if len(points) != len(source):
            raise TypeError("a trace is a list of dicts, as the lines of linsep train --trace")
    else:
        raise TypeError(
            f"expected a perceptron of linsep, the file of a trace or its lines, not {type(source).__name__}"
        )
    if not points:
        raise ValueError("the trace is empty: no mistake was made")
    needed = ("update", "epoch", "norm_squared", "norm_squared_bound", "margin_upper", "alignment", "alignment_bound")
    for point in points:
        lacking = next((name for name in (*needed, "cosine_bound") if name not in point), None)
        if lacking is not None:
            raise ValueError(f"this is no trace of linsep: a line has no {lacking!r}")
    return points


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        points = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except ValueError as error:
        raise ValueError(f"{path}: this is no trace of linsep: {error}") from None
    if not all(isinstance(point, dict) for point in points):
        raise ValueError(f"{path}: this is no trace of linsep")
    return points
