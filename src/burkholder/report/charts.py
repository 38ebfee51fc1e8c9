"""Line charts as inline SVG: no script needed to see them, and every number also in a table. What is drawn is worked out here, as plain
data; the template draws it, and escapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

# (class, width, height, left, right, top, bottom): one drawing for wide screens, one for phones
SIZES = (("wide", 720, 300, 64, 16, 12, 40), ("narrow", 380, 260, 58, 14, 12, 40))


@dataclass(frozen=True)
class Line:
    """One curve. `look` 0 … 4 picks colour and dashes."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    look: int = 0

    def finite(self) -> list[tuple[float, float]]:
        return [(float(a), float(b)) for a, b in zip(self.x, self.y) if b is not None and math.isfinite(b)]


def number(value: float) -> str:
    """A number for people: 12,345 or 0.0123."""
    if value == 0.0 or not math.isfinite(value):
        return "0" if value == 0.0 else str(value)
    if abs(value) >= 1e6 or abs(value) < 1e-4:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers that cover [low, high].

    >>> nice_ticks(0.0, 0.93)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    span = (high - low) or abs(high) or 1.0
    step = 10.0 ** math.floor(math.log10(span / count))
    step *= next(m for m in (1, 2, 5, 10) if span / (m * step) <= count)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def wide_ticks(low: float, high: float) -> list[float]:
    """0 and powers of ten either way, for scales that are linear near 0 and logarithmic beyond 1."""
    top = max(abs(low), abs(high), 1.0)
    powers = [10.0**k for k in range(1 if top >= 100.0 else 0, math.ceil(math.log10(top)) + 1)]
    if len(powers) > 6:
        powers = powers[(len(powers) - 1) % 2 :: 2]
    ticks = [-p for p in reversed(powers)] + [0.0, *powers]
    below = max((t for t in ticks if t <= low), default=ticks[0])
    above = min((t for t in ticks if t >= high), default=ticks[-1])
    return [t for t in ticks if below <= t <= above]


def chart(title: str, about: str, lines: list[Line], xlabel: str, ylabel: str, wide: bool = False, key: str = "chart") -> dict[str, Any]:
    """The chart with its legend and its table. `wide`: an asinh scale, for values of very different sizes."""
    shown = [line for line in lines if line.finite()]
    plain = {"title": title, "about": about, "key": key, "xlabel": xlabel, "ylabel": ylabel, "lines": shown}
    if not shown:
        return plain
    points = [point for line in shown for point in line.finite()]
    ys = [b for _, b in points]
    yticks = wide_ticks(min(ys), max(ys)) if wide else nice_ticks(min(0.0, *ys) if min(ys) < 0.4 * max(ys) else min(ys), max(ys))
    begin, end = min(a for a, _ in points), max(a for a, _ in points)
    begin = begin if begin > 0.5 * end else 0.0  # the last rounds alone fill the chart; others begin with the first
    data = {
        "frames": [[left, width - right, begin, end] for _, width, _, left, right, _, _ in SIZES],
        "xlabel": xlabel,
        "lines": [{"name": line.name, "points": line.finite()} for line in shown],
    }
    return {
        **plain,
        "data": data,
        "drawings": [_drawing(shown, yticks, (begin, end), wide, size) for size in SIZES],
        "head": [xlabel, *(line.name for line in shown)],
        "rows": _table(shown),
    }


def _drawing(
    lines: list[Line], yticks: list[float], ends: tuple[float, float], wide: bool, size: tuple[str, int, int, int, int, int, int]
) -> dict[str, Any]:
    """One SVG of the chart: where everything stands."""
    name, width, height, left, right, top, bottom = size
    squeeze: Callable[[float], float] = math.asinh if wide else (lambda v: v)
    y0, y1 = squeeze(yticks[0]), squeeze(yticks[-1])
    y1 = y1 if y1 > y0 else y0 + 1.0
    begin, end = ends[0], ends[1] if ends[1] > ends[0] else ends[0] + 1.0

    def px(a: float) -> float:
        return round(left + (a - begin) / (end - begin) * (width - left - right), 1)

    def py(b: float) -> float:
        return round(height - bottom - (squeeze(b) - y0) / (y1 - y0) * (height - top - bottom), 1)

    return {
        "name": name,
        "width": width,
        "height": height,
        "left": left,
        "right": width - right,
        "top": top,
        "bottom": height - bottom,
        "middle": (left + width - right) / 2,
        "yticks": [{"y": py(t), "text": number(t)} for t in yticks],
        "xticks": [
            {"x": px(t), "anchor": "end" if px(t) > width - 40 else "middle", "text": number(t)}
            for t in nice_ticks(begin, end, 4 if name == "wide" else 3)
            if begin <= t <= end
        ],
        "paths": [{"look": line.look, "d": "M" + "L".join(f"{px(a)},{py(b)}" for a, b in line.finite())} for line in lines],
    }


def _table(lines: list[Line]) -> list[list[str]]:
    """At most 14 rows of the numbers, for who cannot see the chart."""
    xs = sorted({a for line in lines for a, _ in line.finite()})
    chosen = xs if len(xs) <= 14 else [xs[round(k * (len(xs) - 1) / 13)] for k in range(14)]
    values = [dict(line.finite()) for line in lines]
    return [[number(a), *(number(v[a]) if a in v else "–" for v in values)] for a in chosen]


def bars(title: str, about: str, items: list[tuple[str, float]]) -> dict[str, Any]:
    """Signed bars with their names, largest first."""
    top = max((abs(value) for _, value in items), default=1.0) or 1.0
    drawn = [
        {"name": name, "sign": "plus" if value >= 0 else "minus", "width": f"{100.0 * abs(value) / top:.1f}", "text": number(value)}
        for name, value in items
    ]
    return {"title": title, "about": about, "bars": drawn}
