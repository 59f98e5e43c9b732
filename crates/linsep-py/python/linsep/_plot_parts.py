"""What the plots share: ink that shows on light and dark paper, the words above them, and rows as points of a plane."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep import _arrays, _data, _engine, _frames, _labels
from linsep._base import Classifier
from linsep._model import Model, answers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

#: Between light and dark, so that each is seen on both. Classes differ by their markers too, lines by their dashes.
INKS = ("#2b7fc4", "#cf6a17", "#2c9160", "#9468bd", "#a8792a", "#c0568f")
MARKERS = ("o", "^", "s", "D", "v", "P")
#: More cells than this are not made dense for a picture.
MAX_CELLS = 50_000_000


def need_matplotlib() -> None:
    """Says what is missing where matplotlib is."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None


def ink() -> str:
    """The colour of the text: dark on light paper, light on dark."""
    import matplotlib

    return str(matplotlib.rcParams["text.color"])


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw on: those given, or those of a figure of this size in inches."""
    if ax is not None:
        return checked_axes(ax)
    import matplotlib.pyplot as plt

    figure, made = plt.subplots(figsize=(width, height), layout="constrained")
    loosen(figure)
    return made


def checked_axes(ax: Any) -> Axes:
    """The axes that were given."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"ax= must be axes of matplotlib, not {type(ax).__name__}")
    return ax


def loosen(figure: Figure) -> None:
    """Keeps some paper free around the axes."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(w_pad=0.1, h_pad=0.1)


def head(ax: Axes, title: str, how_to_read: str, room: float = 1.08) -> None:
    """The title, which says what is shown, and below it how to read it.

    `room` is how wide the axes will be once they are laid out, beside what they are at first.
    """
    from matplotlib.font_manager import FontProperties

    figure = figure_of(ax)
    width = ax.get_window_extent().width / figure.dpi * 72 * (1.0 if figure.get_layout_engine() is None else room)
    small, bold = FontProperties(size="small"), FontProperties(size="medium", weight="bold")
    lines = _wrapped(how_to_read, width, small)
    ax.set_title(
        "\n".join(_wrapped(title, width, bold)),
        loc="left",
        fontproperties=bold,
        pad=9 + 1.35 * small.get_size_in_points() * len(lines),
    )
    ax.annotate(
        "\n".join(lines),
        (0, 1),
        (0, 5),
        xycoords="axes fraction",
        textcoords="offset points",
        va="bottom",
        fontproperties=small,
        color=ink(),
        linespacing=1.25,
    )
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _wrapped(text: str, width: float, font: Any) -> list[str]:
    """Text in lines of at most so many points, as far as its words allow."""
    from matplotlib.textpath import text_to_path

    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_to_path.get_text_width_height_descent(longer, font, False)[0] <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def grid(ax: Axes) -> None:
    """Light lines behind the data."""
    ax.grid(True, linewidth=0.6, alpha=0.25)
    ax.set_axisbelow(True)


def plain_log(ax: Axes) -> None:
    """A logarithmic scale upwards, with plain numbers: 0.1, 0.2, 0.5, 1."""
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(lambda x, _: f"{x:g}" if f"{x:e}"[:3] in ("2.0", "5.0") else "")


def legend_below(ax: Axes, columns: int = 2) -> None:
    """The legend under the axes and their label, where it hides no point."""
    from matplotlib.transforms import ScaledTranslation

    down = ScaledTranslation(0, -44 / 72, figure_of(ax).dpi_scale_trans)
    ax.legend(
        frameon=False,
        fontsize="small",
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + down,
        borderaxespad=0,
        ncols=columns,
        handletextpad=0.5,
        columnspacing=1.6,
    )


def label_points(ax: Axes, place: Floats, texts: list[str]) -> None:
    """Names points, those at the same place together, each where the fewest others are."""
    together: dict[tuple[float, float], list[str]] = {}
    for point, text in zip(place, texts, strict=True):
        together.setdefault((float(point[0]), float(point[1])), []).append(text)
    ax.autoscale_view()
    scale = 72 / figure_of(ax).dpi
    taken = scale * ax.transData.transform(list(together))
    boxes: list[tuple[float, float, float, float]] = [(x - 5, y - 5, x + 5, y + 5) for x, y in taken.tolist()]
    for (x, y), (where, lines) in zip(taken.tolist(), together.items(), strict=True):
        width, height = 4.6 * max(map(len, lines)), 9.5 * len(lines)
        ways = [
            (dx, dy)
            for distance in (8, 20)
            for dx in (distance, -distance - width)
            for dy in (distance - 4, -height - distance + 4, -height / 2)
        ]

        spaces = [(x + dx, y + dy, x + dx + width, y + dy + height) for dx, dy in ways]
        best = int(np.argmin([sum(_shared(space, box) for box in boxes) for space in spaces]))
        dx, dy = ways[best]
        boxes.append(spaces[best])
        ax.annotate(
            "\n".join(lines),
            where,
            (dx, dy),
            textcoords="offset points",
            fontsize="x-small",
            linespacing=1.15,
            zorder=8,
            bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.75, "pad": 0.8},
        )


def _shared(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> float:
    """The area that two rectangles share, each given by its left, low, right and high side."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, width) * max(0.0, height)


def at_least(number: float) -> str:
    """A lower bound as reports print it: rounded down."""
    return _engine.rounded(float(number), False)


def at_most(number: float) -> str:
    """An upper bound as reports print it: rounded up."""
    return _engine.rounded(float(number), True)


def percent(share: float) -> str:
    """A share as reports print it."""
    return f"{100 * share:.2f} %"


def counted(number: int, one: str, many: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {one if number == 1 else many}"


# ---------------------------------------------------------------------------------------------------------------- rows


@dataclass
class Points:
    """Rows of numbers with the names of their labels and of their columns."""

    values: Floats
    labels: list[str]
    names: list[str]


def points_of(X: Any, y: Any) -> Points:
    """Rows that can be drawn."""
    if isinstance(X, _data.Data) and y is None:
        y = X.y
    if y is None:
        raise ValueError("y is required: a picture of rows shows their labels")
    names: list[str] | None = None
    if isinstance(X, _data.Data):
        names, X = X.feature_names, X.X
    elif _frames.is_frame(X):
        names = [str(name) for name in _frames.column_names(X)]
        numbers = _frames.numbers_of(X)
        if numbers is None:
            raise ValueError("X has words or missing cells: only rows of numbers can be drawn")
        X = numbers
    if hasattr(X, "toarray"):
        if X.shape[0] * X.shape[1] > MAX_CELLS:
            raise ValueError(f"X has {X.shape[0]} × {X.shape[1]} cells, too many for a picture: take some of the rows")
        X = X.toarray()
    values = np.asarray(_arrays.dense_array(X), dtype=np.float64)
    labels = [_labels.label_name(label) for label in _labels.label_column(y).tolist()]
    if len(labels) != len(values):
        raise ValueError(f"{len(values)} rows and {len(labels)} labels: each row needs one")
    if not np.isfinite(values).all():
        raise ValueError("X has NaN or infinity: only finite numbers can be drawn")
    if names is None:
        names = [f"feature {place + 1}" for place in range(values.shape[1])]
    return Points(values, labels, names)


@dataclass
class Plane:
    """A plane that rows are drawn on: the first axis along the weights, the second along the main direction across.

    Distances are those between rows with each column divided by its standard deviation. A boundary ⟨w, x⟩ + b = 0 is then
    the vertical line through 0, and the first coordinate of a row is its distance to it.
    """

    place: Floats
    #: What one unit of the score is on the first axis.
    unit: float
    #: What the second axis is.
    across: str

    def name_axes(self, ax: Axes, along: str) -> None:
        """Says what the axes are."""
        ax.set_xlabel(f"{along}, in standard deviations of the columns")
        ax.set_ylabel(self.across)
        if self.across == "classes":
            ax.set_yticks([])
            ax.margins(y=0.5)


def plane_of(values: Floats, weights: Floats, intercept: float, outcomes: NDArray[np.intp]) -> Plane:
    """Rows on the plane of the weights and the main direction across them; of one feature, apart by class."""
    spread = values.std(axis=0)
    spread[spread == 0] = 1.0
    direction = weights * spread
    length = float(np.linalg.norm(direction))
    if length == 0:
        raise ValueError("all weights are zero, so there is no boundary to draw")
    first = (values @ weights + intercept) / length
    if values.shape[1] == 1:
        return Plane(np.column_stack([first, outcomes.astype(np.float64)]), 1 / length, "classes")
    direction = direction / length
    centred = (values - values.mean(axis=0)) / spread
    across = centred - np.outer(centred @ direction, direction)
    total = float((across**2).sum())
    # The unit vector that the most of the spread lies along; its sign is that of its largest entry.
    if len(across) >= across.shape[1]:
        strongest = np.linalg.eigh(across.T @ across)[1][:, -1]
    else:
        strongest = np.linalg.svd(across, full_matrices=False)[2][0]
    second = across @ strongest * (np.sign(strongest[np.argmax(np.abs(strongest))]) or 1.0)
    shown = float((second**2).sum()) / total if total > 0 else 1.0
    message = f"main direction across ({percent(shown)} of the spread there)"
    return Plane(np.column_stack([first, second]), 1 / length, message)


def discriminant(values: Floats, signs: Floats) -> tuple[Floats, float]:
    """Weights of Fisher's linear discriminant, with a small ridge, and the intercept halfway between the means."""
    ahead, behind = values[signs > 0], values[signs < 0]
    spread = values.std(axis=0)
    spread[spread == 0] = 1.0
    gap = (ahead.mean(axis=0) - behind.mean(axis=0)) / spread
    within = np.concatenate([ahead - ahead.mean(axis=0), behind - behind.mean(axis=0)]) / spread
    matrix = within.T @ within / len(values)
    matrix += np.eye(len(matrix)) * (1e-6 + 1e-6 * float(np.trace(matrix)))
    weights = np.linalg.solve(matrix, gap) / spread
    if not np.any(weights):
        # The means are the same: any direction shows as much.
        weights = 1 / spread
    middle = (ahead.mean(axis=0) + behind.mean(axis=0)) / 2
    return weights, -float(middle @ weights)


# ------------------------------------------------------------------------------------------------------------- drawing


def scatter(ax: Axes, place: Floats, outcomes: Any, classes: Sequence[str]) -> None:
    """Rows as points, each with the marker and the ink of its class."""
    size = float(np.clip(9000 / max(len(place), 1), 14, 36))
    for which, name in enumerate(classes):
        chosen = place[outcomes == which]
        ax.scatter(
            chosen[:, 0],
            chosen[:, 1],
            s=size,
            marker=MARKERS[which % len(MARKERS)],
            color=INKS[which % len(INKS)],
            alpha=0.9,
            linewidths=0,
            label=f"{name} ({counted(len(chosen), 'row', 'rows')})",
        )


def vertical(ax: Axes, half: float | None) -> None:
    """The boundary and the margin, where the first axis is the distance to the boundary."""
    ax.axvline(0, color=ink(), linewidth=1.8)
    if half is not None:
        ax.axvspan(-half, half, color=ink(), alpha=0.08, linewidth=0)
        for at in (-half, half):
            ax.axvline(at, color=ink(), linewidth=1, linestyle="--")


def ring(ax: Axes, place: Floats, label: str) -> None:
    """Rings around points."""
    if len(place):
        ax.scatter(place[:, 0], place[:, 1], s=95, facecolors="none", edgecolors=ink(), linewidths=1.1, label=label)


def cross(ax: Axes, place: Floats) -> None:
    """Crosses on mistaken rows."""
    if len(place):
        ax.scatter(
            place[:, 0],
            place[:, 1],
            s=42,
            marker="x",
            color=ink(),
            linewidths=1.2,
            label=counted(len(place), "mistake", "mistakes"),
        )


# -------------------------------------------------------------------------------------------------------------- models


class View:
    """What a picture needs of a model or an estimator. Of two classes, scores are for the positive one, as in the reports."""

    def __init__(self, source: Any) -> None:
        if isinstance(source, Classifier):
            self.engine, self.title = source._fitted().model, type(source).__name__
        elif isinstance(source, Model):
            self.engine, self.title = source._engine, source.learner
        else:
            raise TypeError(
                f"expected a fitted estimator of linsep or a linsep.Model, not {type(source).__name__}"
            )
        self.learner = self.engine.learner
        self.record: dict[str, Any] = json.loads(self.engine.record(0))
        self.classes = list(self.engine.outcomes)

    def scores(self, values: Floats) -> Floats:
        """The score of each row of two classes."""
        scores: Floats = answers(self.engine, "scores", values)
        return scores[:, 0] if self.engine.two_sides else scores[:, 1] - scores[:, 0]

    def leads(self, values: Floats) -> Floats:
        """By how much the score of each class is above those of all others: a column for each class."""
        scores: Floats = answers(self.engine, "scores", values)
        others = [np.delete(scores, place, axis=1).max(axis=1) for place in range(scores.shape[1])]
        leads: Floats = scores - np.column_stack(others)
        return leads

    def predicted(self, values: Floats) -> NDArray[np.intp]:
        """The predicted class of each row, as a place among the classes."""
        return answers(self.engine, "labels", values).astype(np.intp)

    def weights(self) -> tuple[Floats, float] | None:
        """The weights and the intercept of two classes; None where the score is no linear function of the rows."""
        found = self.engine.coefficients()
        if found is None or self.record["expansion"] is not None:
            return None
        weights, intercept = found
        if not self.engine.two_sides:
            weights, intercept = weights[1:] - weights[:1], intercept[1:] - intercept[:1]
        return weights[0], float(intercept[0])

    def places(self, labels: list[str]) -> NDArray[np.intp]:
        """The class of each label, as a place among the classes."""
        places = {name: place for place, name in enumerate(self.classes)}
        if self.engine.two_sides:
            places |= {str(name): 0 for name in self.record["classes"].get("negative") or []}
        unknown = next((label for label in labels if label not in places), None)
        if unknown is not None:
            raise ValueError(f"y has the label {unknown!r}, which the model does not know: {', '.join(places)}")
        return np.array([places[label] for label in labels], dtype=np.intp)

    def check_width(self, points: Points) -> None:
        """Refuses rows with another number of features."""
        found, expected = points.values.shape[1], self.engine.inputs
        if found != expected:
            raise ValueError(f"X has {found} features, but the model expects {expected}")


def figure_of(ax: Axes) -> Figure:
    """The figure that axes belong to."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure
