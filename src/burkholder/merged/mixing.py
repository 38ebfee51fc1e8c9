"""An aggregation of a few forecasts, for one stream or for many streams at once: one row of shared arrays a stream.

The formulas are those of `auto.aggregate`: the loss is at most that of every lane, plus what aggregating costs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from burkholder.auto import aggregate, charged
from burkholder.auto.certificate import lane_costs
from burkholder.auto.kernel import LIMIT
from burkholder.auto.plan import MIX_LOG, Plan, plan_for
from burkholder.auto.room import plain, plan_of
from burkholder.auto.state import ETA, HEAVY, LOSS, LOSS_REST, ROUNDS, SCALARS, SURPRISE, WEIGHT_SUM, aligned, padded
from burkholder.auto.sums import add
from burkholder.auto.targets import HUGE
from burkholder.errors import BadInput
from burkholder.learning.grouping import grouped
from burkholder.learning.rounding import UNIT, above, more
from burkholder.losses import value
from burkholder.machine.compiling import uncounted
from burkholder.machine.memory import Vector, named, stacked, table
from burkholder.machine.prefetch import AHEAD, prefetch

FIRST = 16  # rows to begin with
ALONE = np.zeros(1, np.int64)  # the order of a single round


class Mixing(NamedTuple):
    """What the aggregation of one stream learns, in the places of `auto.state`; lanes are padded to a multiple of eight."""

    scalars: Vector
    weight: Vector
    prior: Vector
    lane_loss: Vector
    lane_rest: Vector
    likelihood: Vector


class Scratch(NamedTuple):
    """Room for one round."""

    played: Vector
    mixed: Vector
    other: Vector


mixing_of, scratch_of = named(Mixing), named(Scratch)


@uncounted
def rounds(plans, mixings, scratches, loss, quiet, order, slots, forecasts, shown, y, weight, out, paid, learning, late):
    """Mix, then learn, round by round in this order; slots say whose. Late rounds are charged with what was shown.

    The lane `quiet`, if any, says before a stream's first label what the last lane says; what it would have lost less is written down.
    """
    plan, work = plan_of(plans, 0), scratch_of(scratches, 0)
    for i in range(order.shape[0]):
        t, later = order[i], order[min(i + AHEAD, order.shape[0] - 1)]
        prefetch(slots, later)
        prefetch(forecasts, later, 0)
        prefetch(y, later)
        prefetch(weight, later)
        prefetch(out, later)
        prefetch(paid, later)
        state = mixing_of(mixings, slots[t])
        silent, own = quiet >= 0 and state.scalars[ROUNDS] == 0.0, 0.0
        for k in range(plan.lanes):
            forecast = forecasts[t, k]
            if plan.mixing == MIX_LOG:
                forecast = min(max(forecast, -LIMIT), LIMIT)
            work.played[k] = forecast
        if silent:
            own = work.played[quiet]
            work.played[quiet] = work.played[plan.lanes - 1]
        yhat = aggregate.combine(plan, state, work)
        if plan.mixing == MIX_LOG:
            yhat = math.log(yhat)
        out[t] = yhat
        if not learning:
            continue
        scalars, label, w = state.scalars, y[t], weight[t]
        if late:
            if plan.mixing == MIX_LOG:  # Bayes' rule pays what is mixed now: whatever was shown beyond it is written down
                scalars[SURPRISE] += max(0.0, w * (value(loss, shown[t], label) - value(loss, yhat, label)))
            yhat = shown[t]
        if silent:
            said, unsaid = value(loss, work.played[quiet], label), value(loss, own, label)
            scalars[SURPRISE] += max(0.0, w * (said - unsaid)) + 4.0 * UNIT * w * (said + unsaid)
        paid[t] = value(loss, yhat, label)
        add(scalars, LOSS, scalars, LOSS_REST, w * paid[t])
        scalars[WEIGHT_SUM] += w
        if w > 1.0:
            scalars[HEAVY] += 1.0
        aggregate.absorb(plan, loss, state, work, yhat, label, w)
        scalars[ROUNDS] += 1.0


def answers_with_a_number(learner: Any) -> bool:
    """Whether a learner's predictions are numbers under one compiled loss, so that they can be aggregated."""
    return getattr(learner, "scalar", True) and bool(getattr(getattr(learner, "loss", None), "compiled", False))


def alike(one: Any, other: Any) -> bool:
    """Whether two learners are of one kind and have the same loss."""
    mine, its = (getattr(learner, "loss", None) for learner in (one, other))
    return type(one) is type(other) and type(mine) is type(its) and repr(mine) == repr(its)


def given(targets: Any) -> np.ndarray:
    """The labels as they were handed in, of what a learner's `_targets` gave: completion keeps ratings beside them on its own scale."""
    found = np.asarray(targets, dtype=float)
    return np.ascontiguousarray(found[:, 0]) if found.ndim == 2 else found


def labels_of(targets: Any, loss: Any) -> np.ndarray:
    """The same as the loss takes them: ±1 where it is one of odds, which ratings of two values are only on completion's scale."""
    found = np.asarray(targets, dtype=float)
    return np.ascontiguousarray(found[:, 1]) if found.ndim == 2 and loss.odds else given(found)


class Behind(NamedTuple):
    """How the aggregate of one stream stands to one of its lanes, rounding charged."""

    ahead: float  # what it lost beyond the lane, on this very stream
    cost: float  # what aggregating may cost at most, and at least `ahead`
    weight: float
    loss: float  # of the lane


class Mixer:
    """The aggregations of as many streams as were asked for.

    `quiet` is a lane that knows nothing before a stream's first label (see `rounds`).
    """

    def __init__(self, loss: Any, lanes: int, prior: tuple[float, ...] | None = None, quiet: int = -1) -> None:
        self.loss, self.quiet = loss, quiet
        self.plan: Plan = plan_for(loss, False, False, 0)._replace(lanes=lanes)
        first = aligned(1, padded(lanes))
        first[0, :lanes] = 1.0 / lanes if prior is None else prior
        self.prior = first
        self.count = 0
        self.many = self._fresh(FIRST)
        self._ready()

    def _fresh(self, room: int) -> Mixing:
        width = self.prior.shape[1]
        scalars, lost, rest = aligned(room, SCALARS), aligned(room, width), aligned(room, width)
        scalars[:, ETA] = 1.0 if self.plan.mixing == MIX_LOG else 0.0
        weight, likelihood = aligned(room, width), aligned(room, width)
        weight[:], likelihood[:] = self.prior, 1.0
        return Mixing(scalars, weight, self.prior, lost, rest, likelihood)

    def _ready(self) -> None:
        width = self.prior.shape[1]
        self.scratch = Scratch(aligned(width), aligned(width), aligned(width))
        self.tables = table(self.plan), stacked(self.many), table(self.scratch)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "tables": None, "scratch": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.adopt(self.many, self.count)

    def adopt(self, many: Mixing, count: int) -> None:
        """Take the rows of these arrays over."""
        fresh = self._fresh(max(count, FIRST))
        for mine, other in zip(fresh, many):
            if mine is not self.prior:
                mine[:count] = other[:count]
        self.many, self.count = fresh, count
        self._ready()

    def grow(self, count: int) -> None:
        """Have a row for each of so many streams."""
        if count > len(self.many.scalars):
            room = max(count, len(self.many.scalars) * 5 // 4 + 16)
            many = self._fresh(room)
            for mine, other in zip(many, self.many):
                if mine is not self.prior:
                    mine[: self.count] = other[: self.count]
            self.many = many
            self._ready()
        self.count = max(self.count, count)

    def reset(self, slots: np.ndarray) -> None:
        """Let these rows be as new."""
        fresh = self._fresh(1)
        self.put(slots, [array[:1] for array in fresh if array is not self.prior])

    def kept(self, slots: np.ndarray) -> list[np.ndarray]:
        """Copies of some rows, for `put`."""
        return [array[slots] for array in self.many if array is not self.prior]

    def put(self, slots: np.ndarray, rows: list[np.ndarray]) -> None:
        """Write rows back."""
        for array, kept in zip((array for array in self.many if array is not self.prior), rows):
            array[slots] = kept

    # --- rounds ------------------------------------------------------------------------------------------------
    def mix(self, slots: np.ndarray, forecasts: np.ndarray) -> np.ndarray:
        """What is played; nothing is learned."""
        out = np.empty(len(slots))
        self._walk(slots, forecasts, out, out, out, out, out, False, False)
        return out

    def learn(
        self, slots: np.ndarray, forecasts: np.ndarray, y: np.ndarray, weight: np.ndarray, shown: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(what was played, losses), each played before it is learned; `shown`: what had been shown for late labels."""
        out, paid = np.empty(len(slots)), np.empty(len(slots))
        late = shown is not None
        before = out if shown is None else plain(shown, np.float64)
        self._walk(slots, forecasts, before, plain(y, np.float64), plain(weight, np.float64), out, paid, True, late)
        return out, paid

    def _walk(self, slots: np.ndarray, forecasts: np.ndarray, *rest: Any) -> None:
        loop: Any = rounds
        plans, mixings, scratches = self.tables
        slots, forecasts = plain(slots, np.int64), plain(forecasts, np.float64)
        if not isinstance(mixings, list):
            order = ALONE if len(slots) == 1 else grouped(slots)[2]  # one stream after another: its numbers stay near
            loop(plans, mixings, scratches, self.loss, self.quiet, order, slots, forecasts, *rest)
            return
        *arrays, learning, late = rest
        for t, slot in enumerate(slots.tolist()):
            parts = [array[t : t + 1] for array in arrays]
            loop(plans, (mixings[slot],), scratches, self.loss, self.quiet, ALONE, ALONE, forecasts[t : t + 1], *parts, learning, late)

    def learn_checked(self, slots: np.ndarray, forecasts: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`learn`, refusing what overflows; some rounds have then been learned."""
        out, paid = self.learn(slots, forecasts, y, weight)
        good = np.isfinite(paid)
        if not good.all():
            place = int(np.argmin(good))
            raise BadInput(f"y[{place}]", float(y[place]), "the loss of what was predicted overflows: rescale the target")
        return out, paid

    def check_labels(self, labels: np.ndarray) -> None:
        """Refuse labels whose losses could overflow where they are compared."""
        good = np.abs(labels) <= HUGE ** (1.0 / self.loss.degree)
        if not good.all():
            place = int(np.argmin(good))
            raise BadInput(f"y[{place}]", float(labels[place]), "its loss may overflow: rescale the target")

    # --- what it knows of itself -------------------------------------------------------------------------------
    def row(self, slot: int) -> Mixing:
        """One stream's own."""
        return Mixing(*(array[slot if len(array) > 1 else 0] for array in self.many))

    def loss_of(self, slot: int) -> float:
        """Σ weight·loss of one stream."""
        scalars = self.many.scalars[slot]
        return float(scalars[LOSS] + scalars[LOSS_REST])

    def rounds_of(self, slot: int) -> int:
        """How many rounds one stream had."""
        return int(self.many.scalars[slot, ROUNDS])

    def weight_of(self, slot: int) -> float:
        """Σ weight of one stream."""
        return float(self.many.scalars[slot, WEIGHT_SUM])

    def lost(self, slot: int) -> np.ndarray:
        """The loss of every lane."""
        row, lanes = self.row(slot), self.plan.lanes
        return row.lane_loss[:lanes] + (row.lane_rest[:lanes] - np.log(row.likelihood[:lanes]))

    def behind(self, slot: int) -> list[Behind]:
        """How one stream stands to each of its lanes."""
        row = self.row(slot)
        n, weight = float(row.scalars[ROUNDS]), more(float(row.scalars[WEIGHT_SUM]), float(row.scalars[ROUNDS]))
        idle = max(map(abs, self.loss.kinks(0.0) or (0.0,)))
        size = charged.Sizes(n, weight, 0.0, 0.0, 0.0, 0.0, 0.0, np.zeros(0), 0.0, idle)
        mine, clipping = self.loss_of(slot), weight * math.log1p(math.exp(-LIMIT)) if self.plan.mixing == MIX_LOG else 0.0
        found = []
        for k, (lost, cost, share) in enumerate(zip(self.lost(slot), lane_costs(self.plan, row), row.weight)):  # type: ignore[arg-type]
            unsaid = float(row.scalars[SURPRISE]) if k == self.quiet else 0.0
            spent = unsaid + charged.lane(self.plan, size, max(mine, 0.0)) + charged.lane(self.plan, size, max(float(lost), 0.0)) + clipping
            ahead = above(mine, -float(lost), spent) if n else 0.0
            found.append(Behind(ahead, max(ahead, more(float(cost), 64.0)), float(share), float(lost)))
        return found
