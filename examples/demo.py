"""Three learners on the shipped electricity stream: a table of losses and certificates, and a picture."""

from __future__ import annotations

import csv
import gzip
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

import burkholder as bk

LEARNERS = {
    "auto": "nothing to tune: lanes, aggregated",
    "adagrad": "the square function's tangent, |w_i| ≤ 5",
    "mixture": "scale-free, no radius, no rate",
}


def stream() -> tuple[np.ndarray, np.ndarray]:
    """Features and labels ±1, in time order."""
    with gzip.open(str(files("burkholder") / "data" / "elec.csv.gz"), "rt") as lines:
        table = np.array([[float(cell) for cell in row] for row in list(csv.reader(lines))[1:]])
    return table[:, :-1], 2.0 * table[:, -1] - 1.0


def build(name: str):
    if name == "auto":
        return bk.Auto(loss="logistic")
    options = {"radius": 5.0} if name == "adagrad" else {}
    return bk.Learner(name, loss="logistic", intercept=True, **options)


def main() -> None:
    X, y = stream()
    console = Console()
    console.print(f"Electricity, New South Wales: {len(y):,} half hours, predict whether the price goes up.\n")
    table = Table("learner", "mean log loss", "error rate", "certified: at most … above", "rounds/s")
    figure = Figure(figsize=(7.5, 4), layout="constrained")
    axes = figure.subplots()
    constant = -np.mean(np.log(np.where(y > 0, np.mean(y > 0), np.mean(y < 0))))
    for name, about in LEARNERS.items():
        build(name).run(X[:200], y[:200])  # compile first: the rate below is of learning
        learner = build(name)
        start = time.perf_counter()
        run = learner.run(X, y)
        seconds = time.perf_counter() - start
        errors = float(np.mean(np.sign(run.predictions) != y))
        first = run.certificate.guarantees[0]
        value = "none" if first.value is None else f"{first.value / len(y):.4f} a round: {first.statement}"
        table.add_row(f"{name}\n[dim]{about}", f"{np.mean(run.losses):.4f}", f"{errors:.3f}", value, f"{len(y) / seconds:,.0f}")
        axes.plot(np.arange(1, len(y) + 1), np.cumsum(run.losses) / np.arange(1, len(y) + 1), label=name)
    axes.axhline(constant, color="grey", linestyle=":", label="best constant in hindsight")
    axes.set(xlabel="rounds", ylabel="mean log loss so far", ylim=(0.2, 0.75))
    axes.legend(frameon=False)
    console.print(table)
    out = Path("out")
    out.mkdir(exist_ok=True)
    figure.savefig(out / "demo.png", dpi=150)
    console.print(f"\nPicture: {out / 'demo.png'}. Next: `burkholder learn --help`.")


if __name__ == "__main__":
    main()
