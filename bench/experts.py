"""Expert advice on electricity prices: Huber-root untuned against the well-known rules.

Day-ahead prices of 43,944 hours with four forecasters (epex-lear), one learner per hour of day, because the
24 prices of a day are published together. EWA is tuned in hindsight: the best fixed rate of a grid, learning
from slopes or from losses, whichever is better. Run from the repository root:

    python bench/experts.py

The data folder is BURKHOLDER_DATA, or ../shared/data; out/experts.json gets the figures.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from burkholder.experts import Experts, best_mixture

RATES = [10.0 ** (power / 4) for power in range(-24, 9)]
TASKS: list[tuple[str, dict[str, float]]] = [("absolute", {}), ("squared", {}), ("pinball", {"quantile": 0.9})]
METHODS: list[tuple[str, dict[str, Any]]] = [
    ("huber-root", {}),
    ("huber-root, no tracking", {"method": "huber-root", "shares": (0.0,)}),
    ("squint", {}),
    ("ml-poly", {}),
    ("boa", {}),
]


def read() -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Hour of day, price, forecasts; None when the data are not there."""
    root = Path(os.environ.get("BURKHOLDER_DATA", "../shared/data"))
    path = root / "epex-lear" / "epex_lear_hourly.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt") as file:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    table = np.array(rows)
    return table[:, 1].astype(int), table[:, 2], table[:, 3:]


def by_hour(
    hour: np.ndarray, y: np.ndarray, x: np.ndarray, loss: str, options: dict[str, Any], hindsight: bool = False
) -> dict[str, float]:
    """The mean loss over all hours; on request the best mixture of each hour and the bound against it."""
    n, figures = len(y), dict.fromkeys(("mean_loss", "best_convex_loss", "gap", "bound", "realised"), 0.0)
    for h in np.unique(hour):
        mine = hour == h
        run = Experts(loss, **options).run(x[mine], y[mine], trace=0, weights=False)
        figures["mean_loss"] += run.losses.sum() / n
        if hindsight:
            best = best_mixture(run)
            figures["best_convex_loss"] += best.loss * mine.sum() / n
            figures["gap"] += best.gap * mine.sum() / n
            certificate = run.learner.certificate()
            figures["bound"] += certificate.bound(best.weights)
            figures["realised"] += certificate.realised(best.weights)
    return figures


def task(hour: np.ndarray, y: np.ndarray, x: np.ndarray, loss: str, options: dict[str, float]) -> dict[str, Any]:
    """Every method on one loss."""
    result: dict[str, Any] = {"loss": loss, **options, "rounds": len(y), "mean_loss": {}, "seconds": {}}
    for label, settings in METHODS:
        settings = {"method": label, **settings, **options}
        by_hour(hour[:48], y[:48], x[:48], loss, settings)  # compiled before it is timed
        began = time.perf_counter()
        figures = by_hour(hour, y, x, loss, settings, hindsight=label == "huber-root")
        result["mean_loss"][label] = figures["mean_loss"]
        result["seconds"][label] = time.perf_counter() - began
        if label == "huber-root":
            result |= {key: figures[key] for key in ("best_convex_loss", "gap", "bound", "realised")}
    tuned = [
        (by_hour(hour, y, x, loss, {"method": "ewa", "rate": rate, "linear": linear, **options})["mean_loss"], rate, linear)
        for rate in RATES
        for linear in (True, False)
    ]
    least, rate, linear = min(tuned)
    result["mean_loss"]["ewa tuned in hindsight"] = least
    result["ewa"] = {"rate": rate, "learns_from": "slopes" if linear else "losses"}
    plain = Experts(loss, **options)
    plain.run(x, y, trace=0, weights=False)
    result["mean_loss"]["average of the experts"] = plain.average_loss
    alone = plain.expert_losses()
    result["mean_loss"]["best single expert"] = min(alone[name] for name in plain.names)
    return result


def main() -> None:
    data = read()
    if data is None:
        sys.exit("epex-lear is not there: set BURKHOLDER_DATA to the folder that holds it")
    results = []
    for loss, options in TASKS:
        result = task(*data, loss, options)
        results.append(result)
        print(f"\nepex-lear, {loss} loss {options or ''}: {result['rounds']:,} hours, a learner per hour")
        for label, figure in sorted(result["mean_loss"].items(), key=lambda item: item[1]):
            print(f"  {label:26s} {figure:10.4f}   {figure / result['mean_loss']['huber-root']:.4f}")
        print(f"  {'best mixture in hindsight':26s} {result['best_convex_loss']:10.4f}   (duality gap {result['gap']:.1e})")
        print(
            f"  regret to it: promised ≤ {result['bound']:.4g}, realised ≤ {result['realised']:.4g}; "
            f"huber-root took {result['seconds']['huber-root']:.1f} s"
        )
    Path("out").mkdir(exist_ok=True)
    Path("out/experts.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
