"""Every property of an optimal U at every state of its game: exhaustive, and in fractions a proof about that game."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from burkholder.lab.claims import STATEMENTS
from burkholder.lab.optimal.function import Optimal
from burkholder.lab.optimal.table import mean_zero, name, parts, rows
from burkholder.lab.verdicts import Report, Status, Verdict, Witness


def examine(found: Optimal) -> Report:
    """1°, 2° and 3° of the table, T and V evaluated afresh; floats end in "not refuted", fractions in "proved".

    >>> from burkholder.lab.optimal import optimal
    >>> examine(optimal("square-function", features=[1.0, 2.0], rounds=5)).status.value
    'not refuted'
    """
    started = time.perf_counter()
    table, pair, shapes = found.table, found.pair, [np.shape(part) for part in found.pair.zero(found.dimension or 1)]
    kind: Any = object if found.exact else float
    domain = f"{found.states:,} states, {len(table.features)} features, {len(table.slopes)} slopes, {found.rounds} rounds"
    below = [np.asarray(pair.target(parts(level.states, shapes))) - value for level, value in zip(table.levels, table.values)]
    rises: list[np.ndarray] = []
    for t, level in enumerate(table.levels[:-1]):
        later = table.levels[t + 1]
        tau, count = parts(level.states, shapes), len(level.states)
        for x in table.features:
            values = []
            for delta in table.slopes:
                moved = pair.advance(tau, np.tile(x, (count, 1)), np.full(count, 0 * delta, kind), np.full(count, delta, kind))
                values.append(table.values[t + 1][[later.places[name(row)] for row in rows(moved, kind)]])
            for law in mean_zero(list(table.slopes)):
                rises.append(law.chance * values[law.first] + (1 - law.chance) * values[law.second] - table.values[t])
    size = max(1.0, max(float(np.max(np.abs(np.asarray(value, float)))) for value in table.values))
    verdicts = [
        _told("1", np.atleast_1d(found.price - found.shift), domain, found, size),
        _told("2", np.concatenate(below), domain, found, size),
        _told("3", np.concatenate(rises), domain, found, size),
    ]
    return Report(found.name, tuple(verdicts), time.perf_counter() - started)


def _told(claim: str, residuals: np.ndarray, domain: str, found: Optimal, size: float) -> Verdict:
    worst = residuals.max()
    limit: Any = 0 if found.exact else 1e-12 * size
    arithmetic = "fractions, every state" if found.exact else "float64, every state"
    statement = STATEMENTS[claim] + ", on this game"
    if worst > limit:
        witness = Witness({"residual": str(worst)}, float(worst), arithmetic)
        return Verdict(claim, Status.REFUTED, statement, domain, arithmetic, witness, points=len(residuals))
    status = Status.PROVED if found.exact else Status.NOT_REFUTED
    return Verdict(claim, status, statement, domain, arithmetic, points=len(residuals), worst=float(worst))
