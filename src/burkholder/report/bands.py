"""Pages about uncertainty: intervals over time with their coverage, and two predictors compared."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from burkholder.report.charts import Line, bars, chart, number
from burkholder.report.page import _assumptions, _guarantees
from burkholder.report.rendering import rendered, written

WINDOW = 500  # rounds of the rolling coverage
SHOWN = 400  # points of a line


def write_bands(path: str, result: dict[str, Any], table: np.ndarray, y: np.ndarray) -> None:
    """The page of a run of intervals; `table` holds prediction, low and high of every row."""
    written(path, bands_page(result, table, y))


def bands_page(result: dict[str, Any], table: np.ndarray, y: np.ndarray) -> str:
    """Fan, rolling coverage with the promise, width, and how often each end was crossed."""
    level, bound = result["coverage_target"], result["coverage_bound"]
    n = len(y)
    rounds = np.arange(1, n + 1)
    inside = (table[:, 1] <= y) & (y <= table[:, 2])
    keep = _spread(n)
    window = max(1, min(WINDOW, n))
    sums = np.concatenate([[0.0], np.cumsum(inside)])
    rolling = (sums[window:] - sums[:-window]) / window
    at = rounds[window - 1 :]
    some = _spread(len(at))
    late = rounds[-min(n, 200) :] - 1
    flat = np.ones(len(some))
    fan = [_line("target", late + 1, y[late], 4), _line("prediction", late + 1, table[late, 0], 0)]
    fan += [_line("low", late + 1, table[late, 1], 2), _line("high", late + 1, table[late, 2], 2)]
    coverage = [_line(f"coverage of the last {window} rounds", at[some], rolling[some], 0), _line("asked for", at[some], level * flat, 1)]
    coverage += [_line("promised for all rounds, at least", at[some], (level - bound) * flat, 2)]
    coverage += [_line("promised for all rounds, at most", at[some], min(1.0, level + bound) * flat, 2)]
    width = [_line("width", rounds[keep], (table[:, 2] - table[:, 1])[keep], 0)]
    tail = 0.5 * (1.0 - level)
    ends = [("below low", float(np.mean(y < table[:, 1]))), ("above high", float(np.mean(y > table[:, 2]))), ("asked for, each", tail)]
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
        bars("Calibration of both ends", "How often targets lay beyond each end, and how often they should.", ends),
        _guarantees(result),
        _assumptions(result),
    ]  # fmt: skip
    return rendered(f"{os.path.basename(str(result['data']))}: intervals", facts, parts)


def write_comparison(path: str, told: dict[str, Any], comparison: Any) -> None:
    """The page of two predictors compared."""
    rounds, keep = np.arange(1, comparison.rounds + 1), _spread(comparison.rounds)
    a, b = comparison.names
    lines = [_line(f"mean loss of {a} minus that of {b}", rounds[keep], comparison.mean[keep], 0)]
    # the first intervals are as wide as everything: what can be told apart is near the end
    near = 4.0 * max(abs(comparison.low[-1]), abs(comparison.high[-1]), 1e-300) if comparison.rounds else 0.0
    lines += [
        _line(name, rounds[keep], np.clip(ends[keep], -near, near), 2)
        for name, ends in (("at least", comparison.low), ("at most", comparison.high))
    ]
    facts = [("rounds", f"{comparison.rounds:,}"), ("better", comparison.better or "nobody can tell yet")]
    facts += [] if comparison.decided is None else [("seen since round", f"{comparison.decided + 1:,}")]
    about = f"Below 0, {a} is better; above, {b}. The interval holds at all moments at once, but for an error of {comparison.alpha:g}."
    parts = [chart("Difference", about, lines, "rounds", "mean loss", key="difference"), _assumptions(told)]
    written(path, rendered(f"{os.path.basename(str(told['data']))}: {a} and {b}", facts, parts))


def _line(name: str, x: np.ndarray, y: np.ndarray, look: int) -> Line:
    return Line(name, x.tolist(), y.tolist(), look)


def _spread(n: int) -> np.ndarray:
    return np.unique(np.linspace(0, n - 1, min(n, SHOWN)).astype(int)) if n else np.zeros(0, int)
