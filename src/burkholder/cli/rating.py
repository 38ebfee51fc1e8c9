"""The work behind `burkholder complete`: a file of ratings learned in its order, and what to recommend afterwards."""

from __future__ import annotations

import csv
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from burkholder.cli.console import progress
from burkholder.errors import BadInput
from burkholder.matrix.completion import MatrixCompletion
from burkholder.matrix.ratings import Ratings, read_ratings


def completed(
    path: str,
    learner: Any,
    ends: tuple[float | None, float | None],
    options: dict[str, Any],
    columns: dict[str, str | None],
    file_order: bool,
    predictions: Path | None,
    quiet: bool,
) -> tuple[Any, dict[str, Any]]:
    """(the learner, the run as plain data); a learner that is given goes on."""
    data = read_ratings(path, time_order=not file_order, **columns)
    if learner is None:
        low, high = ends
        lowest = min(data.ratings) if low is None else low
        highest = max(data.ratings) if high is None else high
        if lowest == highest and (low is None or high is None):
            highest = lowest + 1.0  # a file with one rating value: any range around it serves
        rate = options["rate"]
        number = rate if rate is None or rate in ("lowering", "doubling", "mixture") else _number(rate)
        learner = MatrixCompletion(lowest, highest, **{**options, "rate": number})
    elif any(end is not None for end in ends) or options["strategy"] != "default" or options["rate"] or options["radius"]:
        raise BadInput("load", path, "the model brings its own range and strategy; leave --low, --high, --strategy, --rate, --radius out")
    begun = time.perf_counter()
    with progress("ratings", len(data.ratings), quiet=quiet) as advance:
        run = learner.run(data.rows, data.columns, data.ratings, progress=advance)
    seconds = time.perf_counter() - begun
    found = np.asarray(run.predictions)
    if predictions is not None:
        _write(predictions, data, found.tolist())
    certificate: Any = run.certificate
    error = found - np.array(data.ratings)
    means = np.concatenate([[0.5 * (learner.low + learner.high)], np.cumsum(data.ratings)[:-1] / np.arange(1, len(error))])
    return learner, {
        "data": path, "rounds": certificate.rounds, "rounds_today": len(error), "features": certificate.rows + certificate.columns,
        "loss": certificate.loss, "learner": certificate.learner, "mean_loss": certificate.mean_loss,
        "bound": _value(certificate, "promised"), "realised_regret_bound": _value(certificate, "realised"),
        "comparators": certificate.comparators.to_dict(),
        "potential": certificate.potential, "assumptions": [a.to_dict() for a in certificate.assumptions],
        "seconds": seconds, "rounds_per_second": len(error) / seconds, "rows": certificate.rows,
        "columns": certificate.columns, "mae": float(np.abs(error).mean()), "rmse": float(np.sqrt((error * error).mean())),
        "baseline_mae": float(np.abs(means - data.ratings).mean()),
        "low": learner.low, "high": learner.high, "time_order": data.timed, "block_steps": float(run.details["steps"].mean()),
        "krylov_error": float(run.details["errors"].max()), "guarantees": [g.to_dict() for g in certificate.guarantees],
    }  # fmt: skip


def recommended(learner: Any, users: list[str], count: int) -> dict[str, list[tuple[str, float]]]:
    """What to recommend to each of these users; "all" names everyone the learner knows."""
    wanted = [str(user) for user in learner.known_rows] if "all" in users else users
    return {user: [(str(item), score) for item, score in learner.top(learner.spelled(user), count)] for user in wanted}


def guaranteed(certificate: Any) -> str:
    """One line: the most that these very ratings prove of the certificate's own comparators."""
    realised = _value(certificate, "realised")
    if realised is None or not certificate.rounds:
        return "guaranteed: nothing; --details shows the certificate"
    each = realised / certificate.rounds
    words = f"at most {each:.4g} a rating worse than" if each > 0.0 else f"at least {-each:.4g} a rating better than"
    return f"guaranteed: {words} {certificate.comparators}; --details shows the certificate"


def _value(certificate: Any, name: str) -> float | None:
    """The guarantee of that kind about the certificate's own comparators."""
    return next((g.value for g in certificate.guarantees if name in g.name), None)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadInput("rate", text, "give lowering, doubling, mixture or a positive number") from None


def _write(path: Path, data: Ratings, predictions: list[float]) -> None:
    """row, column, rating, prediction: one line a round, in the order played; the file appears whole."""
    with open(f"{path}.partial", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["row", "column", "rating", "prediction"])
        writer.writerows(zip(data.rows, data.columns, data.ratings, predictions))
    os.replace(f"{path}.partial", path)
