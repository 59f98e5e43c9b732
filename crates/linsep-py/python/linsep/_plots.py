"""Pictures of the evidence, where matplotlib is installed: they show the numbers of the reports and add none of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linsep import _data
from linsep._functions import Comparison
from linsep._inspect import evaluate
from linsep._plot_parts import (
    INKS,
    Floats,
    View,
    counted,
    cross,
    grid,
    head,
    ink,
    legend_below,
    need_matplotlib,
    new_axes,
    plane_of,
    points_of,
    ring,
    scatter,
    vertical,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# ------------------------------------------------------------------------------------------------------------ boundary


def plot_boundary(source: Any, X: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Rows and the boundary between the classes, with the margin, the rows that it rests on, and the mistakes.

    Two features are drawn as they are. Other rows are drawn on the plane of the weights and of the main direction across
    them, with each column divided by its standard deviation: the boundary is then a vertical line.

    The margin is that of the hinge loss (|score| = 1) for a support vector machine, and the rows on it or within
    are ringed; for others, where every row is right, it is the distance of the nearest rows, which are ringed.

    Parameters
    ----------
    source
        A fitted estimator, or a `linsep.Model`.
    X, y
        The rows, and their labels; or `linsep.Data`.
    ax
        The axes to draw on; a new figure if None.
    """
    need_matplotlib()
    view = View(source)
    points = points_of(X, y)
    view.check_width(points)
    outcomes = view.places(points.labels)
    values = points.values
    ax = new_axes(ax, 7.2, 6.2)
    wrong = view.predicted(values) != outcomes
    flat = values.shape[1] == 2
    if len(view.classes) > 2:
        if not flat:
            raise ValueError(
                f"{len(view.classes)} classes on {values.shape[1]} features cannot be drawn on one plane: use two features, or "
                "two classes"
            )
        place = values
        scatter(ax, place, outcomes, view.classes)
        _borders(ax, view)
        how = "Lines are where the predicted class changes."
    else:
        scores = view.scores(values)
        agreements = np.where(outcomes == 1, scores, -scores)
        half, ringed, of_ringed = _margin(view, agreements)
        weights = view.weights()
        if flat:
            place = values
            scatter(ax, place, outcomes, view.classes)
            _contours(ax, view, half, coarse=weights is not None)
            how = "Solid line: the boundary."
        else:
            if weights is None:
                raise ValueError(
                    f"the score of this model ({view.learner}) is no linear function of the rows: only two features can be "
                    "drawn then"
                )
            plane = plane_of(values, *weights, outcomes)
            place = plane.place
            scatter(ax, place, outcomes, view.classes)
            vertical(ax, None if half is None else half * plane.unit)
            how = "Solid line: the boundary, seen along it."
            plane.name_axes(ax, "distance to the boundary")
        if half is not None:
            how += " Dashed: the margin."
            ring(ax, place[ringed], of_ringed(int(ringed.sum())))
    if flat:
        ax.set_xlabel(points.names[0])
        ax.set_ylabel(points.names[1])
    cross(ax, place[wrong])
    head(
        ax,
        f"{view.title}: {counted(int(wrong.sum()), 'mistake', 'mistakes')} on {counted(len(values), 'row', 'rows')}",
        f"{how} Each row has the marker of its class{'; crosses are rows on the wrong side' if wrong.any() else ''}.",
    )
    legend_below(ax)
    return ax


def _margin(view: View, agreements: Floats) -> tuple[float | None, Any, Any]:
    """Half the width of the margin in units of the score, the rows that it rests on, and what they are called."""
    none = np.zeros(len(agreements), dtype=bool)
    if view.learner == "svm":
        # Those on the margin itself are there but for the gap of the optimum.
        ringed = agreements <= 1 + 1e-3
        return 1.0, ringed, lambda count: counted(count, "row on the margin or within", "rows on the margin or within")
    least = float(agreements.min())
    if least <= 0:
        return None, none, str
    near = agreements <= least * (1 + (1e-3 if view.learner == "max-margin" else 1e-9))
    return least, near, lambda count: counted(count, "row nearest the boundary", "rows nearest the boundary")


def _mesh(ax: Axes, steps: int) -> tuple[Floats, Floats, Floats]:
    ax.autoscale_view()
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    across, up = np.meshgrid(np.linspace(left, right, steps), np.linspace(low, high, steps))
    ax.set_xlim(left, right)
    ax.set_ylim(low, high)
    return across, up, np.column_stack([across.ravel(), up.ravel()])


def _contours(ax: Axes, view: View, half: float | None, coarse: bool) -> None:
    """The boundary of two features, and the margin around it."""
    across, up, cells = _mesh(ax, 21 if coarse else 241)
    scores = view.scores(cells).reshape(across.shape)
    ax.contour(across, up, scores, levels=[0.0], colors=[ink()], linewidths=1.8)
    if half is not None:
        ax.contour(across, up, scores, levels=[-half, half], colors=[ink()], linewidths=1, linestyles="--")
        ax.contourf(across, up, scores, levels=[-half, half], colors=[ink()], alpha=0.08)


def _borders(ax: Axes, view: View) -> None:
    """Where the predicted class changes."""
    across, up, cells = _mesh(ax, 241)
    leads = view.leads(cells)
    for which in range(len(view.classes)):
        lead = leads[:, which].reshape(across.shape)
        if lead.min() < 0 < lead.max():
            ax.contour(across, up, lead, levels=[0.0], colors=[ink()], linewidths=1.4)


# ------------------------------------------------------------------------------------------------------------- compare


def plot_compare(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Comparison of learners: the metric on held-out rows with its standard error, beside always predicting the same class.

    Parameters
    ----------
    comparison
        The result of `linsep.compare`.
    ax
        The axes to draw on; a new figure if None.
    """
    need_matplotlib()
    if not isinstance(comparison, Comparison):
        raise TypeError(f"expected a result of linsep.compare, not {type(comparison).__name__}")
    record = comparison.record
    metric = str(record["metric"])
    share = metric != "log-loss"
    factor, digits = (100.0, 2) if share else (1.0, 3)
    shown = [entry for entry in comparison.learners if entry["value"] is not None]
    if not shown:
        raise ValueError("no learner has a value: none of them has a model")
    ax = new_axes(ax, 8.0, 2.1 + 0.31 * len(shown))
    rows = np.arange(len(shown))
    value = factor * np.array([entry["value"] for entry in shown])
    error = factor * np.array([entry["value_error"] or 0.0 for entry in shown])
    ax.errorbar(
        value,
        rows,
        xerr=error,
        fmt="o",
        color=INKS[0],
        markersize=5.5,
        capsize=3,
        linewidth=1.4,
        label="held out, ± standard error",
    )
    if metric == "error":
        training = factor * np.array([entry["training_error"] for entry in shown])
        ax.plot(
            training,
            rows,
            linestyle="none",
            marker="D",
            markersize=5,
            markerfacecolor="none",
            color=INKS[1],
            clip_on=False,
            label="on the training rows",
        )
    baseline = record["baseline"]
    at = factor * float(baseline["value"])
    ax.axvline(
        at, color=ink(), linestyle="--", linewidth=1, label=f"always “{baseline['class']}”: {at:.{digits}f}",
    )
    for place, (middle, half) in enumerate(zip(value, error, strict=True)):
        ax.annotate(
            f"{middle:.{digits}f} ± {half:.{digits}f}",
            (1, place),
            (6, 0),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            fontsize="small",
            fontfamily="monospace",
            annotation_clip=False,
        )
    ax.set_yticks(rows, [str(entry["label"]) for entry in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.margins(x=0.04)
    message = f"{_METRICS[metric]}{' (%)' if share else ''} on held-out rows"
    if share and max(at, value.max()) > 8 * value.min():
        # The best are apart on this scale, and the worst still have their place.
        ax.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
        ax.set_xlim(0, 1.08 * max(at, float((value + error).max())))
        most = ax.get_xlim()[1]
        ticks = [0, *([0.5] if most < 10 else []), 1, 2, 5, 10, 20, 30, 50, 75, 100]
        ax.set_xticks([tick for tick in ticks if tick <= most])
        ax.xaxis.set_major_formatter("{x:g}")
        message += ", square-root scale"
    ax.set_xlabel(message)
    folds = int(record["folds"])
    held_out = f"Every row was held out once, in {counted(folds, 'fold', 'folds')}"
    if record["interrupted"]:
        held_out = f"Interrupted: only the rows of {counted(folds, 'fold was', 'folds were')} held out"
    head(
        ax,
        f"{counted(len(shown), 'learner', 'learners')} on {counted(int(record['rows']), 'row', 'rows')}: "
        f"best is {shown[0]['label']}, {value[0]:.{digits}f}{' %' if share else ''}",
        f"Further left is better. {held_out}; the bars reach one standard error to either side.",
        room=0.95,
    )
    grid(ax)
    ax.grid(False, axis="y")
    legend_below(ax, columns=3)
    return ax


_METRICS = {
    "error": "error",
    "balanced-error": "balanced error",
    "auc": "1 − AUC",
    "log-loss": "log loss",
    "f1": "1 − F1",
}

# --------------------------------------------------------------------------------------------------------- calibration


def plot_calibration(source: Any, X: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Whether probabilities come true: the observed share of each bin, with its exact 95 % interval.

    The bins and numbers are those of ``linsep evaluate``. Use rows that the model was not trained on: training rows
    make it look better.

    Parameters
    ----------
    source
        A fitted estimator with probabilities, or a `linsep.Model` with some.
    X, y
        Rows, and their labels; or `linsep.Data`.
    ax
        The axes to draw on; a new figure if None.
    """
    need_matplotlib()
    view = View(source)
    found = reliability(view, X, y)
    ax = new_axes(ax, 6.4, 6.4)
    bins = found["bins"]
    mean = np.array([each["mean_probability"] for each in bins])
    observed = np.array([each["observed"] for each in bins])
    low = np.array([each["observed_interval"]["lower"] for each in bins])
    high = np.array([each["observed_interval"]["upper"] for each in bins])
    ax.plot([0, 1], [0, 1], color=ink(), linestyle="--", linewidth=1, label="perfect calibration")
    ax.errorbar(
        mean, observed, yerr=np.maximum(0, [observed - low, high - observed]), fmt="o-", color=INKS[0], markersize=6,
        capsize=3.5, linewidth=1.2, label="observed, with the 95 % interval",
    )
    for each in bins:
        ax.text(
            (each["from"] + each["to"]) / 2, 1.055, f"{each['rows']:,}", ha="center", va="center", fontsize="x-small",
        )
    rows = sum(each["rows"] for each in bins)
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.02, 1.09)
    ax.set_yticks(np.linspace(0, 1, 6))
    two = view.engine.two_sides
    positive = view.classes[1] if two else None
    what = f"“{positive}”" if two else "the predicted class"
    ax.set_xlabel(f"mean probability of {what} in the bin")
    ax.set_ylabel(f"share of “{positive}”" if two else "share predicted right")
    head(
        ax,
        f"{view.title}: log loss {found['log_loss']:.4f}, Brier {found['brier']:.4f}, ECE "
        f"{found['expected_calibration_error']:.4f}",
        f"On {counted(rows, 'row', 'rows')}; the numbers on top are the rows of each bin. A point below the dashed line comes true "
        "less often than the model says, one above it more often; where a bar meets the line, these rows show no difference.",
    )
    grid(ax)
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    return ax


def reliability(view: View, X: Any, y: Any) -> dict[str, Any]:
    """The reliability table of a model on rows, as `linsep evaluate --json` has it."""
    engine = view.engine
    if not engine.has_probabilities:
        raise ValueError(
            f"this model ({view.learner}) has no probabilities: train it with probabilities=True, or choose LogisticRegression"
        )
    if y is None and not isinstance(X, _data.Data):
        raise ValueError("y is required: calibration compares probabilities with labels")
    names = np.array(view.classes)
    found = evaluate(engine, names, np.arange(len(names)), X, y, None).reliability
    assert found is not None
    return found
