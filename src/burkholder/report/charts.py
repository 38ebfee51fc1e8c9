"""Line charts as inline SVG: no script needed to see them, and every number also in a table."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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


def chart(title: str, about: str, lines: list[Line], xlabel: str, ylabel: str, wide: bool = False, key: str = "chart") -> str:
    """The chart with its legend and its table. `wide`: an asinh scale, for values of very different sizes."""
    shown = [line for line in lines if line.finite()]
    if not shown:
        words = f"<h2>{html.escape(title)}</h2><p>{html.escape(about)}</p>"
        return f'<section>{words}<p class="none">Nothing to draw.</p></section>'
    points = [point for line in shown for point in line.finite()]
    ys = [b for _, b in points]
    yticks = wide_ticks(min(ys), max(ys)) if wide else nice_ticks(min(0.0, *ys) if min(ys) < 0.4 * max(ys) else min(ys), max(ys))
    end = max(a for a, _ in points)
    drawings = [_drawing(title, shown, xlabel, yticks, end, wide, size) for size in SIZES]
    data = {
        "frames": [[left, width - right, 0, end] for _, width, _, left, right, _, _ in SIZES],
        "xlabel": xlabel,
        "lines": [{"name": line.name, "points": line.finite()} for line in shown],
    }
    legend = "".join(
        '<li><svg class="swatch" viewBox="0 0 28 8" aria-hidden="true">'
        f'<path class="line look{line.look}" d="M1,4L27,4"/>'
        f"</svg>{html.escape(line.name)}</li>"
        for line in shown
    )
    return (
        f'<section><h2 id="{key}">{html.escape(title)}</h2><p>{html.escape(about)}</p><ul class="legend">{legend}</ul>'
        f'<figure class="chart" tabindex="0" role="group" aria-labelledby="{key}" aria-describedby="{key}-now" '
        f"data-chart='{html.escape(json.dumps(data, separators=(',', ':')), quote=True)}'>"
        f'<figcaption class="unit">{html.escape(ylabel)}</figcaption>{"".join(drawings)}'
        f'<p class="now" id="{key}-now" aria-live="polite">Point at the chart, or focus it and use the arrow keys, '
        "to read values.</p>"
        f"</figure>{_table(shown, xlabel)}</section>"
    )


def _drawing(
    title: str, lines: list[Line], xlabel: str, yticks: list[float], end: float, wide: bool, size: tuple[str, int, int, int, int, int, int]
) -> str:
    """One SVG of the chart."""
    name, width, height, left, right, top, bottom = size
    squeeze: Callable[[float], float] = math.asinh if wide else (lambda v: v)
    y0, y1 = squeeze(yticks[0]), squeeze(yticks[-1])
    y1 = y1 if y1 > y0 else y0 + 1.0

    def px(a: float) -> float:
        return round(left + a / end * (width - left - right), 1)

    def py(b: float) -> float:
        return round(height - bottom - (squeeze(b) - y0) / (y1 - y0) * (height - top - bottom), 1)

    parts = [
        f'<line class="grid" x1="{left}" x2="{width - right}" y1="{py(t)}" y2="{py(t)}"/>'
        f'<text class="tick" x="{left - 8}" y="{py(t) + 4}" text-anchor="end">{number(t)}</text>'
        for t in yticks
    ]
    parts += [
        f'<text class="tick" x="{px(t)}" y="{height - bottom + 18}" '
        f'text-anchor="{"end" if px(t) > width - 40 else "middle"}">'
        f"{number(t)}</text>"
        for t in nice_ticks(0.0, end, 4 if name == "wide" else 3)
        if t <= end
    ]
    parts.append(f'<text class="label" x="{(left + width - right) / 2}" y="{height - 4}" text-anchor="middle">{html.escape(xlabel)}</text>')
    for line in lines:
        path = "M" + "L".join(f"{px(a)},{py(b)}" for a, b in line.finite())
        parts.append(f'<path class="line look{line.look}" d="{path}"/>')
    parts.append(f'<line class="cursor" x1="0" x2="0" y1="{top}" y2="{height - bottom}" visibility="hidden"/>')
    about = f'viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}"'
    return f'<svg class="plot {name}" {about}>{"".join(parts)}</svg>'


def _table(lines: list[Line], xlabel: str) -> str:
    """At most 14 rows of the numbers, for who cannot see the chart."""
    xs = sorted({a for line in lines for a, _ in line.finite()})
    chosen = xs if len(xs) <= 14 else [xs[round(k * (len(xs) - 1) / 13)] for k in range(14)]
    values = [dict(line.finite()) for line in lines]
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in (xlabel, *(line.name for line in lines)))
    rows = "".join(
        f'<tr><th scope="row">{number(a)}</th>' + "".join(f"<td>{number(v[a]) if a in v else '–'}</td>" for v in values) + "</tr>"
        for a in chosen
    )
    return (
        '<details><summary>The numbers</summary><div class="scroll" tabindex="0" role="region" '
        'aria-label="The numbers">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def bars(title: str, about: str, items: list[tuple[str, float]]) -> str:
    """Signed bars with their names, largest first."""
    if not items:
        return ""
    top = max(abs(value) for _, value in items) or 1.0
    rows = "".join(
        f'<li><span class="name">{html.escape(name)}</span><span class="track">'
        f'<span class="bar {"plus" if value >= 0 else "minus"}" '
        f'style="width:{100.0 * abs(value) / top:.1f}%"></span></span><span class="value">{number(value)}</span></li>'
        for name, value in items
    )
    return f'<section><h2>{html.escape(title)}</h2><p>{html.escape(about)}</p><ol class="bars">{rows}</ol></section>'
