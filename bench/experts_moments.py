"""Expert advice where labels do not come one by one, or are no numbers: blocks, late labels, probabilities; and opera's load example.

    python bench/experts_moments.py

Blocks: the hours of a day are published together, one learner for all of them. Late: forecasts 48 hours ahead, so that the
labels of two days are missing when a forecast is combined. Probabilities: bookmakers, under log and Brier loss. The load example is
the one shipped with the public source of opera (112 weeks, three forecasts): put its experts.csv and targets.csv into the folder
that OPERA_LOAD names, or it is left out. The data folder is BURKHOLDER_DATA, or ../shared/data; out/experts-moments.json gets the
figures.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

import burkholder as bk
from burkholder.experts import Experts
from experts_data import SETS, Streams, tennis_books

RULES = ("huber-root", "boa", "ml-poly", "squint")
LATE = 2


def paid(loss: str, predictions: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean((predictions - y) ** 2 if loss == "squared" else np.abs(predictions - y)))


def by_day(streams: Streams) -> tuple[np.ndarray, np.ndarray, int]:
    """The hours of a day beside each other, as far as every hour has them."""
    days = min(len(y) for _, y in streams)
    x = np.stack([x[:days] for x, _ in streams], axis=1)
    y = np.stack([y[:days] for _, y in streams], axis=1)
    return x.reshape(-1, x.shape[2]), y.reshape(-1), len(streams)


def blocks(name: str) -> list[dict[str, Any]]:
    x, y, size = by_day(SETS[name]())
    rows = []
    for loss in ("absolute", "squared"):
        runs = {rule: Experts(loss, method=rule).run(x, y, together=size, trace=0, weights=False) for rule in RULES}
        row: dict[str, Any] = {"set": f"{name}, {size} rows together", "loss": loss}
        row |= {rule: float(run.losses.mean()) for rule, run in runs.items()} | {"mean": paid(loss, x.mean(axis=1), y)}
        certificate, total = runs["huber-root"].certificate, runs["huber-root"].losses.sum()
        whom = np.full(x.shape[1], 1.0 / x.shape[1])
        rows.append(row | {"promised/loss": certificate.bound(whom) / total, "realised/loss": certificate.realised(whom) / total})
    return rows


def late(name: str) -> list[dict[str, Any]]:
    """Every row is played before the labels of the last LATE rows are known."""
    x, y = SETS[name]()[0]
    rows = []
    for loss in ("absolute", "squared"):
        row: dict[str, Any] = {"set": f"{name}, {LATE} labels late", "loss": loss}
        for rule in RULES:
            learner, tickets = Experts(loss, method=rule), []
            for t in range(len(y)):
                tickets.append(learner.play(x[t]))
                if t >= LATE:
                    learner.reveal(tickets[t - LATE].id, y[t - LATE])
            row[rule] = paid(loss, np.array([ticket.prediction for ticket in tickets]), y)
        rows.append(row | {"mean": paid(loss, x.mean(axis=1), y)})
    return rows


def probabilities() -> list[dict[str, Any]]:
    """Bookmakers' probabilities of a match; a loss in nats, and Brier's Σ(p − e)²."""
    books, won = tennis_books()
    rows = []
    for loss in ("log", "brier"):
        learner = bk.Probabilities(loss, outcomes=("first", "second"))
        spent = 0.0
        for row, first in zip(books, won):
            said = {f"book {j}": [float(p), float(1.0 - p)] for j, p in enumerate(row)}
            p = learner.predict(said)["first"]
            spent += -np.log(p if first else 1.0 - p) if loss == "log" else 2.0 * (p - first) ** 2
            learner.update(said, "first" if first else "second")
        hit = np.where(won[:, None] > 0, books, 1.0 - books)
        each = -np.log(hit) if loss == "log" else 2.0 * (1.0 - hit) ** 2
        mean = np.where(won > 0, books.mean(axis=1), 1.0 - books.mean(axis=1))
        plain = -np.log(mean) if loss == "log" else 2.0 * (1.0 - mean) ** 2
        certificate, n = learner.certificate(), len(won)
        rows.append({
            "set": "tennis", "loss": loss, "Probabilities": spent / n, "best book": float(each.mean(axis=0).min()),
            "mean": float(plain.mean()),
            "promised/loss": certificate.bound() / spent, "realised/loss": certificate.realised() / spent,
        })  # fmt: skip
    return rows


def load() -> list[dict[str, Any]]:
    folder = Path(os.environ.get("OPERA_LOAD", "opera-load"))
    if not (folder / "experts.csv").exists():
        print("opera's load example is not there: OPERA_LOAD names the folder with its experts.csv and targets.csv")
        return []
    x = np.loadtxt(folder / "experts.csv", delimiter=",", skiprows=1)
    y = np.loadtxt(folder / "targets.csv", skiprows=1)
    row: dict[str, Any] = {"set": "opera's load", "loss": "RMSE"}
    for rule in RULES:
        row[rule] = float(np.sqrt(Experts("squared", method=rule).run(x, y, trace=0).losses.mean()))
    return [row | {"mean": float(np.sqrt(paid("squared", x.mean(axis=1), y)))}]


def main() -> None:
    results = []
    parts = (load, probabilities, lambda: blocks("spot-price"), lambda: blocks("epex-lear"), lambda: late("magdeburg-48"))
    for part in parts:
        for row in part():
            results.append(row)
            print("  ".join(f"{key} {value:.5g}" if isinstance(value, float) else str(value) for key, value in row.items()), flush=True)
    Path("out").mkdir(exist_ok=True)
    Path("out/experts-moments.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
