"""The page of a run of `Quantiles`: all levels over time, what each covered, and the calibration of every one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from burkholder.report.bands import lately, line, spread
from burkholder.report.calibration import calibration
from burkholder.report.charts import chart, number
from burkholder.report.page import _assumptions, _guarantees
from burkholder.report.rendering import rendered, written

if TYPE_CHECKING:
    from burkholder.intervals.quantiles import QuantileRun

LAST = 200  # rounds of the fan
DRAWN = 5  # levels drawn over time; calibration shows all


def write_quantiles(path: str, run: QuantileRun, title: str = "quantiles") -> None:
    """The page of a run of `Quantiles`, one self-contained file.

    >>> import os, tempfile
    >>> import burkholder as bk
    >>> run = bk.Quantiles((0.1, 0.5, 0.9)).run(np.ones((50, 1)), np.arange(50.0) % 7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_quantiles(os.path.join(folder, "page.html"), run)
    ...     "Calibration of every level" in open(os.path.join(folder, "page.html"), encoding="utf-8").read()
    True
    """
    written(path, quantiles_page(run, title))


def quantiles_page(run: QuantileRun, title: str) -> str:
    """The whole page as text."""
    told, shares, y = run.certificate.to_dict(), run.calibration(), run.targets
    levels, n = list(shares), len(y)
    rounds, keep = np.arange(1, n + 1), spread(n)
    some = np.unique(np.linspace(0, len(levels) - 1, DRAWN).round().astype(int)).tolist()
    late = slice(max(0, n - LAST), n)
    fan = [line("target", rounds[late], y[late], 4)]
    fan += [line(f"{levels[k]:g}", rounds[late], run.quantiles[late, k], 0 if levels[k] == 0.5 else 2) for k in some]
    covered = []
    for k in some:
        window, at, share = lately(y <= run.quantiles[:, k])
        shown = spread(len(at))
        covered += [line(f"at or below {levels[k]:g}", at[shown], share[shown], 0)]
        covered += [line(f"asked for: {levels[k]:g}", at[shown], np.full(len(shown), levels[k]), 1)]
    facts = [("rounds", f"{n:,}"), ("levels", f"{len(levels)}"), ("mean CRPS", number(run.mean_loss))]
    # the promise is about every round the learner had: of this run when there was no other
    whole = told["rounds"] == n
    parts = [
        chart("Quantiles", "The last rounds: each quantile was said before its target was seen.", fan, "rounds", "target", key="fan"),
        chart("Coverage", f"How many targets lay at or below the quantiles, of the last {window} rounds.", covered, "rounds", "share",
              key="coverage"),
        _width(levels, run.quantiles[keep], rounds[keep]),
        *calibration(shares, {entry["level"]: entry["coverage_bound"] for entry in told["levels"]} if whole else None),
        _guarantees(told),
        _assumptions(told),
    ]  # fmt: skip
    return rendered(title, facts, parts)


def _width(levels: list[float], quantiles: np.ndarray, rounds: np.ndarray) -> dict[str, Any]:
    """The distance of the outermost levels; nothing for a single one."""
    if len(levels) < 2:
        return {}
    lines = [line("width", rounds, quantiles[:, -1] - quantiles[:, 0], 0)]
    return chart("Width", f"From the {levels[0]:g} to the {levels[-1]:g} quantile.", lines, "rounds", "width", key="width")
