"""Charts as SVG, written by hand: bars with their spread, and curves on logarithmic axes."""

import math
from html import escape

OURS, THEIRS, INK, FAINT = "#1f6f8b", "#b9bec4", "#22262a", "#dfe3e6"
FONT = "font-family='Helvetica, Arial, sans-serif'"
LEFT, WIDTH, RIGHT, ROW = 290, 430, 100, 26


def text(x, y, words, anchor="start", size=12, weight="normal", colour=INK):
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' {FONT} font-size='{size}' font-weight='{weight}' fill='{colour}' "
        f"text-anchor='{anchor}'>{escape(words)}</text>"
    )


def line(x1, y1, x2, y2, colour=INK, width=1.0, dash=""):
    dash = f" stroke-dasharray='{dash}'" if dash else ""
    return (
        f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}' "
        f"stroke-width='{width}'{dash}/>"
    )


def picture(width, height, parts):
    head = f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}'>"
    return "\n".join([head, f"<rect width='{width}' height='{height}' fill='white'/>", *parts, "</svg>", ""])


def number(value):
    """Three digits, without an exponent where people do not use one."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 6)}f}" if value < 1e6 else f"{value:.0e}"


def bars(title, unit, rows):
    """Horizontal bars from zero: (name, value, least, most, ours)."""
    top = 46
    most = 1.02 * max(row[3] for row in rows)
    height = top + ROW * len(rows) + 32
    x = lambda value: LEFT + WIDTH * value / most
    end = top + ROW * len(rows)
    parts = [text(16, 24, title, size=15, weight="bold")]
    for tick in ticks(most):
        parts += [line(x(tick), top - 6, x(tick), end, FAINT), text(x(tick), end + 16, f"{tick:.6g}", "middle", 11)]
    parts.append(text(LEFT + WIDTH + RIGHT - 12, end + 16, unit, "end", 11))
    for place, (name, value, low, high, mine) in enumerate(rows):
        y = top + ROW * place
        middle = y + ROW / 2 - 2
        colour = OURS if mine else THEIRS
        parts += [
            text(LEFT - 8, middle + 4, name, "end", weight="bold" if mine else "normal"),
            f"<rect x='{LEFT}' y='{y + 3}' width='{max(x(value) - LEFT, 1):.1f}' height='{ROW - 10}' fill='{colour}'/>",
        ]
        if high > low:
            parts += [line(x(low), middle, x(high), middle, INK, 1.2)]
            parts += [line(x(at), middle - 3, x(at), middle + 3, INK, 1.2) for at in (low, high)]
        parts.append(text(x(high) + 6, middle + 4, number(value), size=11))
    return picture(LEFT + WIDTH + RIGHT, height, parts)


def ticks(most):
    """Round numbers from 0 up to `most`, about five of them."""
    raw = most / 5
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    return [step * count for count in range(int(most / step) + 1)]


def curves(title, x_name, y_name, series):
    """Curves on logarithmic axes: (name, [(x, y)], colour). Every point is marked."""
    left, top, width, height, right = 70, 46, 520, 260, 190
    xs = [x for _, points, _ in series for x, _ in points]
    ys = [y for _, points, _ in series for _, y in points]
    # What is nearly a power of ten needs no further one beyond it.
    x_low, x_high = math.floor(math.log10(min(xs)) + 0.05), math.ceil(math.log10(max(xs)) - 0.05)
    y_low, y_high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    x_high, y_high = max(x_high, x_low + 1), max(y_high, y_low + 1)
    x = lambda value: left + width * (math.log10(value) - x_low) / (x_high - x_low)
    y = lambda value: top + height * (1 - (math.log10(value) - y_low) / (y_high - y_low))
    parts = [text(16, 24, title, size=15, weight="bold")]
    for power in range(x_low, x_high + 1):
        at = x(10.0**power)
        parts += [line(at, top, at, top + height, FAINT), text(at, top + height + 18, f"{10.0**power:.0e}", "middle", 11)]
    for power in range(y_low, y_high + 1):
        at = y(10.0**power)
        parts += [line(left, at, left + width, at, FAINT), text(left - 8, at + 4, f"{10.0**power:g}", "end", 11)]
    parts += [text(left + width / 2, top + height + 38, x_name, "middle"), text(left - 54, top - 8, y_name, size=11)]
    heights = []
    for name, points, colour in series:
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)
        parts.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
        parts += [f"<circle cx='{x(a):.1f}' cy='{y(b):.1f}' r='3.5' fill='{colour}'/>" for a, b in points]
        # Names stand at the ends of their curves, and make room for each other.
        at = y(points[-1][1]) + 4
        while any(abs(at - other) < 14 for other in heights):
            at += 14
        heights.append(at)
        parts.append(text(x(points[-1][0]) + 10, at, name, colour=colour))
    return picture(left + width + right, top + height + 52, parts)
