"""Pages about uncertainty: intervals over time with their coverage, and two predictors compared."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from burkholder.intervals.pictures import shares_below
from burkholder.report.calibration import calibration
from burkholder.report.charts import Line, chart, number
from burkholder.report.page import _assumptions, _guarantees
from burkholder.report.rendering import rendered, written

WINDOW = 500  # rounds of the rolling coverage
SHOWN = 400  # points of a line


def write_bands(path: str, result: dict[str, Any], table: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
    """The page of a run of intervals; `table` holds prediction, low and high of every row."""
    written(path, bands_page(result, table, y, weights))


def bands_page(result: dict[str, Any], table: np.ndarray, y: np.ndarray, weights: np.ndarray) -> str:
    """Fan, rolling coverage with the promise, width, and the calibration of both ends."""
    level, bound = result["coverage_target"], result["coverage_bound"]
    n = len(y)
    rounds = np.arange(1, n + 1)
    inside = (table[:, 1] <= y) & (y <= table[:, 2])
    keep = spread(n)
    window, at, rolling = lately(inside)
    some = spread(len(at))
    late = rounds[-min(n, 200) :] - 1
    flat = np.ones(len(some))
    fan = [line("target", late + 1, y[late], 4), line("prediction", late + 1, table[late, 0], 0)]
    fan += [line("low", late + 1, table[late, 1], 2), line("high", late + 1, table[late, 2], 2)]
    coverage = [line(f"coverage of the last {window} rounds", at[some], rolling[some], 0), line("asked for", at[some], level * flat, 1)]
    coverage += [line("promised for all rounds, at least", at[some], (level - bound) * flat, 2)]
    coverage += [line("promised for all rounds, at most", at[some], min(1.0, level + bound) * flat, 2)]
    width = [line("width", rounds[keep], (table[:, 2] - table[:, 1])[keep], 0)]
    tail = 0.5 * (1.0 - level)
    ends = shares_below(np.array([tail, 1.0 - tail]), table[:, 1:], y, weights)
    facts = [
        ("rounds", f"{result['rounds']:,}"), ("coverage", f"{result['coverage']:.4f}"), ("asked for", f"{level:g}"),
        ("promised within", f"±{bound:.4f}"), ("mean width", number(result["mean_width"])),
        ("interval score", number(result["interval_score"])),
    ]  # fmt: skip
    parts = [
        chart("Intervals", "The last rounds: each interval was said before its target was seen.", fan, "rounds", "target", key="fan"),
        chart("Coverage", "How many targets lay in their intervals, lately; and what holds over all rounds on every path.", coverage,
              "rounds", "coverage", key="coverage"),
        chart("Width", "How wide the intervals are.", width, "rounds", "width", key="width"),
        *calibration(ends),
        _guarantees(result),
        _assumptions(result),
    ]  # fmt: skip
    return rendered(f"{os.path.basename(str(result['data']))}: intervals", facts, parts)


def write_comparison(path: str, told: dict[str, Any], comparison: Any) -> None:
    """The page of two predictors compared."""
    rounds, keep = np.arange(1, comparison.rounds + 1), spread(comparison.rounds)
    a, b = comparison.names
    lines = [line(f"mean loss of {a} minus that of {b}", rounds[keep], comparison.mean[keep], 0)]
    # the first intervals are as wide as everything: what can be told apart is near the end
    near = 4.0 * max(abs(comparison.low[-1]), abs(comparison.high[-1]), 1e-300) if comparison.rounds else 0.0
    lines += [
        line(name, rounds[keep], np.clip(ends[keep], -near, near), 2)
        for name, ends in (("at least", comparison.low), ("at most", comparison.high))
    ]
    facts = [("rounds", f"{comparison.rounds:,}"), ("better", comparison.better or "nobody can tell yet")]
    facts += [] if comparison.decided is None else [("seen since round", f"{comparison.decided + 1:,}")]
    about = f"Below 0, {a} is better; above, {b}. The interval holds at all moments at once, but for an error of {comparison.alpha:g}."
    parts = [chart("Difference", about, lines, "rounds", "mean loss", key="difference"), _assumptions(told)]
    written(path, rendered(f"{os.path.basename(str(told['data']))}: {a} and {b}", facts, parts))


def lately(hits: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """(the window, the rounds it ends at, the share of hits in it)."""
    window = max(1, min(WINDOW, len(hits) // 4))  # short runs have a curve too
    sums = np.concatenate([[0.0], np.cumsum(hits)])
    return window, np.arange(window, len(hits) + 1), (sums[window:] - sums[:-window]) / window


def line(name: str, x: np.ndarray, y: np.ndarray, look: int) -> Line:
    """A curve from arrays."""
    return Line(name, x.tolist(), y.tolist(), look)


def spread(n: int) -> np.ndarray:
    """Which of n points are drawn."""
    return np.unique(np.linspace(0, n - 1, min(n, SHOWN)).astype(int)) if n else np.zeros(0, int)
