"""Every property of an optimal U at every state of its game: exhaustive, and in fractions a proof about that game."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np

from burkholder.functions import seal
from burkholder.lab.claims import STATEMENTS
from burkholder.lab.optimal.function import Optimal
from burkholder.lab.optimal.table import exactly, mean_zero, name, parts, rows
from burkholder.lab.verdicts import Report, Status, Verdict, Witness


def examine(found: Optimal) -> Report:
    """1°, 2° and 3° of the table, T and V evaluated afresh; floats end in "not refuted", fractions in "proved".

    Proved is only what this very object says: its class as it was written, its numbers all fractions, states that begin at ζ₀ and are
    found where they stand, and a pair that tells floats what it tells fractions.

    >>> from burkholder.lab.optimal import optimal
    >>> examine(optimal("square-function", features=[1.0, 2.0], rounds=5)).status.value
    'not refuted'
    """
    started = time.perf_counter()
    table, pair, shapes = found.table, found.pair, [np.shape(part) for part in found.pair.zero(found.dimension or 1)]
    kind: Any = object if table.features.dtype == object else float
    states = sum(len(level.states) for level in table.levels)
    domain = f"{states:,} states, {len(table.features)} features, {len(table.slopes)} slopes, {len(table.levels) - 1} rounds"
    places = [{name(row): i for i, row in enumerate(level.states)} for level in table.levels]
    targets = [np.asarray(pair.target(parts(level.states, shapes))) for level in table.levels]
    below = [target - value for target, value in zip(targets, table.values, strict=True)]
    rises: list[np.ndarray] = []
    steady = all(_near(pair.target(parts(np.asarray(level.states, float), shapes)), target) for level, target in zip(table.levels, targets))
    for t, level in enumerate(table.levels[:-1]):
        tau, count = parts(level.states, shapes), len(level.states)
        for x in table.features:
            values = []
            for delta in table.slopes:
                moved = pair.advance(tau, np.tile(x, (count, 1)), np.full(count, 0 * delta, kind), np.full(count, delta, kind))
                values.append(table.values[t + 1][[places[t + 1][name(row)] for row in rows(moved, kind)]])
            for law in mean_zero(list(table.slopes)):
                rises.append(law.chance * values[law.first] + (1 - law.chance) * values[law.second] - table.values[t])
    size = max(1.0, max(float(np.max(np.abs(np.asarray(value, float)))) for value in table.values))
    root = tuple(exactly(np.asarray(part)[None], kind) for part in pair.zero(found.dimension or 1))
    first = table.values[0][places[0][name(rows(root, kind)[0])]]
    told = {"1": np.atleast_1d(first - found.shift), "2": np.concatenate(below), "3": np.concatenate(rises)}
    numbers = (*told.values(), *table.values, *(level.states for level in table.levels), table.features, table.slopes)
    exact = all(type(entry) in (int, Fraction) for part in numbers for entry in np.ravel(part)) and steady and _as_written(found)
    verdicts = [_told(claim, residuals, domain, exact, size) for claim, residuals in told.items()]
    return Report(found.name, tuple(verdicts), time.perf_counter() - started)


def _near(told: Any, exact: np.ndarray) -> bool:
    """Whether floats are what fractions were, but for rounding."""
    numbers = np.asarray(exact, float)
    return bool((np.abs(np.asarray(told, float) - numbers) <= 1e-9 * np.abs(numbers).max(initial=1.0)).all())


def _as_written(found: Optimal) -> bool:
    """The very class, as it was imported, and attributes that its constructor gives."""
    if type(found) is not Optimal or type(vars(found)) is not dict or seal.altered():
        return False
    again = vars(Optimal(found.pair, found.table))
    own = {key: value for key, value in vars(found).items() if key not in ("name", "shift")}
    return set(own) == set(again) - {"name", "shift"} and all(
        value is again[key] or (type(value) is type(again[key]) and value == again[key]) for key, value in own.items()
    )


def _told(claim: str, residuals: np.ndarray, domain: str, exact: bool, size: float) -> Verdict:
    worst = residuals.max()
    limit: Any = 0 if exact else 1e-12 * size
    arithmetic = "fractions, every state" if exact else "float64, every state"
    statement = STATEMENTS[claim] + ", on this game"
    if worst > limit:
        witness = Witness({"residual": str(worst)}, float(worst), arithmetic)
        return Verdict(claim, Status.REFUTED, statement, domain, arithmetic, witness, points=len(residuals))
    status = Status.PROVED if exact else Status.NOT_REFUTED
    return Verdict(claim, status, statement, domain, arithmetic, points=len(residuals), worst=float(worst))
