"""Additive lanes: a function of every feature, and of pairs of features, on top of what the linear lanes play.

A feature of more than two values is spread over its knots (see `knots`): a row between two of them belongs to both, in shares that
add up to 1, so that weights at the knots are a piecewise linear function; where every value is a knot they are a
weight a value. A pair of features that are both not 0 has a weight for every cell of a grid on their knots, hashed. Lanes
are Kalman filters with a variance a weight, as `plan` has them: v₀ is the prior variance of all hats, and of all pairs, together;
q·v₀ is added whenever a weight is touched. Until there are knots they play what the linear lanes play.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burkholder.auto.forest import WIDEST
from burkholder.auto.full import censored
from burkholder.auto.neighbours import NEAREST
from burkholder.auto.plan import LOGISTIC, STEP_NAMES, Plan
from burkholder.auto.state import ROUNDS, aligned
from burkholder.auto.steps import step
from burkholder.machine.compiling import inlined
from burkholder.machine.elementary import sigmoid
from burkholder.machine.memory import Matrix, Vector, Whole
from burkholder.machine.vectors import all4, all8, element, fused, least, load4, load8, put, row4, row8, store, total8, where_positive

KNOTS = 16  # at most
# columns of `knots` after them: how many there are, how many of them make a side of a cell, and 1 over the standard deviation
LEVELS, GRID, SCALE = range(KNOTS, KNOTS + 3)
COLUMNS = KNOTS + 8
PAIRS = 150
# (v₀, q, pairs too); with two kinds of step the last lane makes those of the second kind
SPECS = ((1.0, 0.0, 0.0), (1.0, 0.0, 1.0), (10.0, 1e-3, 1.0), (10.0, 0.0, 1.0))
SECOND = (1.0, 0.0, 1.0)
LANES = len(SPECS)


class Cells(NamedTuple):
    """What the additive lanes learn. A row of `hats` or `crossed` is a knot or a cell: its weight in each lane, then its variances (0: it
    was never touched)."""

    knots: Matrix  # a row a feature
    hats: Matrix  # feature · KNOTS + knot
    pairs: Matrix  # the features of each pair; 0: no pair
    crossed: Matrix  # a power of two of them
    specs: Matrix  # v₀, q and whether pairs count, lane by lane
    live: Vector  # how many features have hats


class Sheet(NamedTuple):
    """Scratch: the weights a row touches."""

    place: Whole  # hats, then pairs
    share: Vector
    variance: Matrix  # as it is when the row comes
    cell: Vector  # of each feature; −1: none
    counts: Whole  # hats, and hats and pairs together
    out: Vector
    reach: Vector
    wrong: Vector  # running mean |residual| of each lane
    step: Vector
    shrink: Vector
    scale: Vector  # 1 over the standard deviation of each feature; 1 in the first place once there are any
    near: Vector  # see `neighbours`
    where: Whole


def specs_of(plan: Plan) -> tuple[tuple[float, float, float], ...]:
    """v₀, q and whether pairs count, lane by lane."""
    return SPECS if plan.groups == 1 else (*SPECS[:-1], SECOND)


def additive_names(plan: Plan) -> list[str]:
    """A name for every lane."""
    kinds = [*[plan.kinds[0]] * (LANES - 1), plan.kinds[1]]
    told = zip(specs_of(plan), kinds)
    return [f"{'hats and pairs' if both else 'hats'} v0={v:g} q={q:g} {STEP_NAMES[kind]}" for (v, q, both), kind in told]


def new_cells(plan: Plan) -> Cells:
    """No knots yet."""
    specs = np.array(specs_of(plan)).T.copy()
    return Cells(aligned(1, COLUMNS), aligned(KNOTS, 8), aligned(1, 2), aligned(1, 8), specs, aligned(1))


def new_sheet(cells: Cells) -> Sheet:
    """Scratch for rows of as many features and pairs."""
    features, most = len(cells.knots), 2 * len(cells.knots) + len(cells.pairs)
    place, counts = np.zeros(most, np.int64), np.zeros(2, np.int64)
    scale = aligned(WIDEST + 9)
    scale[:features] = cells.knots[:, SCALE]
    scale[0] = float(scale.any())
    out, reach, wrong, step, shrink, near = (aligned(8) for _ in range(6))
    nearest = scale, near, np.zeros(NEAREST, np.int64)
    return Sheet(place, aligned(most), aligned(most, LANES), aligned(features), counts, out, reach, wrong, step, shrink, *nearest)


@inlined
def spread(cells, sheet, x):
    """Which weights the row touches, and with what shares."""
    m = 0
    for i in range(1, cells.knots.shape[0]):
        count = int(cells.knots[i, LEVELS])
        sheet.cell[i] = -1.0
        if count < 2:
            continue
        value, below = all8(x[i]), all8(0.0)
        for j in range(0, KNOTS, 8):  # beyond the last knot its value is repeated
            below = below + where_positive(value - row8(cells.knots, i, j), all8(1.0), all8(0.0))
        k = min(int(total8(below)), count - 1)
        share = 1.0
        if k > 0:
            low, high = cells.knots[i, k - 1], cells.knots[i, k]
            share = (x[i] - low) / (high - low)
            if not (0.0 <= share <= 1.0):
                share = 1.0
        sheet.cell[i] = float((k if share > 0.5 else k - 1) // int(cells.knots[i, GRID]))
        if count > 2:
            if share < 1.0:
                sheet.place[m], sheet.share[m] = i * KNOTS + k - 1, 1.0 - share
                m += 1
            sheet.place[m], sheet.share[m] = i * KNOTS + k, share
            m += 1
    sheet.counts[0] = m
    for pair in range(cells.pairs.shape[0]):
        i, j = int(cells.pairs[pair, 0]), int(cells.pairs[pair, 1])
        if i > 0 and x[i] != 0.0 and x[j] != 0.0 and sheet.cell[i] >= 0.0 and sheet.cell[j] >= 0.0:
            key = ((i * 256 + j) * KNOTS + int(sheet.cell[i])) * KNOTS + int(sheet.cell[j])
            sheet.place[m], sheet.share[m] = (key * 2654435761 >> 16) & (cells.crossed.shape[0] - 1), 1.0
            m += 1
    sheet.counts[1] = m


@inlined
def forecast(cells, sheet, x, base):
    """Every lane's prediction into sheet.out; nothing but scratch is written."""
    spread(cells, sheet, x)
    hats, both = sheet.counts[0], sheet.counts[1]
    v0, q, joins = load4(cells.specs[0], 0), load4(cells.specs[1], 0), load4(cells.specs[2], 0)
    p, reach = all4(base), all4(0.0)
    whole = v0 * all4(1.0 / max(cells.live[0], 1.0))
    for j in range(hats):
        at, share = sheet.place[j], all4(sheet.share[j])
        v = row4(cells.hats, at, 4)
        v = where_positive(v, least(v + q * whole, whole), whole)
        put(sheet.variance, j, 0, v)
        p, reach = fused(row4(cells.hats, at, 0), share, p), fused(v * share, share, reach)
    whole = v0 * all4(1.0 / max(float(both - hats), 1.0))
    for j in range(hats, both):
        at = sheet.place[j]
        v = row4(cells.crossed, at, 4)
        v = where_positive(v, least(v + q * whole, whole), whole) * joins
        put(sheet.variance, j, 0, v)
        p, reach = p + row4(cells.crossed, at, 0), reach + v
    store(sheet.out, 0, p)
    store(sheet.reach, 0, reach)


@inlined
def learn(plan, blend, cells, sheet, desk, first, y, weight):
    """Every lane steps towards the label; the lanes' places in the blend begin with `first`."""
    hats, both = sheet.counts[0], sheet.counts[1]
    if both == 0:
        return
    regression = plan.kinds[0] != LOGISTIC
    often = max(1.0 / (blend.scalars[ROUNDS] + 1.0), 0.01)
    for k in range(LANES):
        sheet.out[k] = desk.played[first + k]
        if regression:
            blend.residual[first + k] += often * (abs(sheet.out[k] - y) - blend.residual[first + k])
            sheet.wrong[k] = blend.residual[first + k]
    p, reach, wrong = load8(sheet.out, 0), load8(sheet.reach, 0), load8(sheet.wrong, 0)
    chance = sigmoid(all8(0.0 - y) * p)
    g, shrink = step(plan.kinds[0], p, reach, chance, y, weight, wrong, plan.quantile)
    store(sheet.step, 0, g)
    store(sheet.shrink, 0, shrink)
    if plan.groups == 2:
        g, shrink = step(plan.kinds[1], p, reach, chance, y, weight, wrong, plan.quantile)
        sheet.step[LANES - 1], sheet.shrink[LANES - 1] = element(g, LANES - 1), element(shrink, LANES - 1)
    for k in range(LANES):
        if regression and censored(blend, desk.out[first + k], y):
            sheet.step[k], sheet.shrink[k] = 0.0, 0.0
    back, narrow = all4(0.0) - load4(sheet.step, 0), all4(0.0) - load4(sheet.shrink, 0)
    for j in range(hats):
        at, v = sheet.place[j], row4(sheet.variance, j, 0)
        reached = v * all4(sheet.share[j])
        put(cells.hats, at, 0, fused(back, reached, row4(cells.hats, at, 0)))
        put(cells.hats, at, 4, fused(narrow * reached, reached, v))
    for j in range(hats, both):
        at, v = sheet.place[j], row4(sheet.variance, j, 0)
        put(cells.crossed, at, 0, fused(back, v, row4(cells.crossed, at, 0)))
        put(cells.crossed, at, 4, fused(narrow * v, v, v))
