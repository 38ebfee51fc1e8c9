"""Whether quantiles are where they should be: the share of labels below every level, and between neighbours."""

from __future__ import annotations

import math
from typing import Any

from burkholder.intervals.pictures import between
from burkholder.report.charts import Line, bars, chart


def calibration(shares: dict[float, float], promised: dict[float, float] | None = None) -> list[dict[str, Any]]:
    """Every level beside the share of labels at or below its quantile, and their histogram over the levels (PIT). `promised`: how far
    each share may be from its level.

    >>> line, histogram = calibration({0.25: 0.25, 0.75: 0.5})
    >>> [(bar["name"], bar["text"]) for bar in histogram["bars"]]
    [('at or below 0.25', '1'), ('0.25 to 0.75', '0.5'), ('above 0.75', '2'), ('as asked for', '1')]
    """
    if not shares or not all(math.isfinite(share) for share in shares.values()):
        return []  # nothing was learned
    levels = list(shares)
    lines = [Line("at or below", levels, list(shares.values()), 0), Line("asked for", [0.0, *levels, 1.0], [0.0, *levels, 1.0], 1)]
    about = "The share of targets at or below the quantile of each level, beside the level. On the line is right."
    if promised:
        lines.append(Line("promised, at least", levels, [max(0.0, level - off) for level, off in promised.items()], 2))
        lines.append(Line("promised, at most", levels, [min(1.0, level + off) for level, off in promised.items()], 2))
        about += " The promise holds over all rounds on every path."
    names = [f"at or below {levels[0]:g}", *(f"{a:g} to {b:g}" for a, b in zip(levels, levels[1:])), f"above {levels[-1]:g}"]
    items = [*zip(names, between(shares).tolist()), ("as asked for", 1.0)]
    told = "Targets between neighbouring levels, over how many there should be: 1 everywhere is right; high at both ends is too narrow."
    return [
        chart("Calibration of every level", about, lines, "level", "share of targets", key="calibration"),
        bars("Histogram over the levels (PIT)", told, items),
    ]
