"""What follows the linear lanes in every round: trees, additive lanes, the last aggregation. One loop, compiled when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.auto import additive, features, kernel, knots, neighbours, sleep
from burkholder.auto import blend as blends
from burkholder.auto import forest as forests
from burkholder.auto.additive import Cells, Sheet, new_cells, new_sheet
from burkholder.auto.blend import Blend, Desk, blend_plan, new_blend, new_desk
from burkholder.auto.forest import ROUND, WIDEST, Forest, Walk, new_forest, new_walk, roomy
from burkholder.auto.plan import LOGISTIC, MIX_LOG, Plan
from burkholder.auto.room import plain, plan_with
from burkholder.auto.state import (
    CLIPPED_LABELS,
    FEATURES,
    HEAVY,
    LEARNT_LOSS,
    LEARNT_REST,
    LOSS,
    LOSS_REST,
    ROUNDS,
    WEIGHT_SUM,
    State,
    copied,
)
from burkholder.auto.sums import add
from burkholder.auto.window import lately_of
from burkholder.learning.keeping import Kept
from burkholder.losses import value
from burkholder.machine.compiling import inlined, uncounted
from burkholder.machine.elementary import log
from burkholder.machine.memory import named, place, table
from burkholder.machine.vectors import all8, load8, store

PREFIX = "beyond_"  # of its arrays, where they are saved with the linear lanes'
START = 32  # rounds in which the linear lanes are alone; a multiple of sixteen, see `sleep`
TREES = {"light": 0, "default": 12, "thorough": 32}  # by effort

forest_of, walk_of, blend_of, desk_of = named(Forest), named(Walk), named(Blend), named(Desk)
cells_of, sheet_of = named(Cells), named(Sheet)


@inlined
def scatter(walk, slot_of, indices, values, start, stop):
    """The row as a vector over the slots, repeated features added up; its highest slot, and whether a feature lies beyond the widest.

    A 0 is passed over, as by `features.gather`: in many rows at once its feature may have got a slot from a later row."""
    top, wide = 0, False
    for j in range(start, stop):
        if abs(values[j]) < features.TINY:
            continue
        feature = indices[j]
        slot = int(slot_of[feature]) if feature < slot_of.shape[0] else -1
        if slot > WIDEST:
            wide = True
        elif slot > 0:
            walk.x[slot] += values[j]
            top = max(top, slot)
    return top, wide


@inlined
def clear(walk, slot_of, indices, start, stop):
    """Zeros again."""
    for j in range(start, stop):
        feature = indices[j]
        slot = int(slot_of[feature]) if feature < slot_of.shape[0] else -1
        if 0 < slot <= WIDEST:
            walk.x[slot] = 0.0


@inlined
def play(plan, forest, walk, cells, sheet, blend, desk, linear):
    """The prediction of all lanes together, given the linear lanes'."""
    desk.out[0] = linear
    trees = forest.used.shape[0]
    for k in range(trees):
        walk.base[k] = linear if blends.based(k + 1) else 0.0
    forests.descend(forest, walk)
    forests.mix(plan, walk)
    if plan.mixing == MIX_LOG:
        for k in range(0, trees, 8):  # lanes that follow are written below
            p = load8(walk.mixed, k)
            store(desk.out, k + 1, log(p / (all8(1.0) - p)))
    else:
        for k in range(trees):
            desk.out[k + 1] = walk.mixed[k]
    additive.forecast(cells, sheet, walk.x, linear)
    for k in range(additive.LANES):
        desk.out[plan.full + k] = sheet.out[k]
    neighbours.forecast(plan, forest, walk, sheet, blend.scalars[ROUNDS], linear, desk.out, plan.stacks - neighbours.LANES)
    p = blends.play(plan, blend, desk)
    return log(p) if plan.mixing == MIX_LOG else p


@inlined
def learn(plan, loss, forest, walk, cells, sheet, blend, desk, linear, p, y, weight):
    """Everything the label changes."""
    low, high = blends.ends(plan, blend)
    usual = min(max(y, low), high)  # within the labels seen before: one absurd label is no mean of a node
    additive.learn(plan, blend, cells, sheet, desk, plan.full, usual, weight)
    blends.learn(plan, loss, blend, desk, p, y, usual, weight)
    now = blend.scalars[ROUNDS]
    forests.remember(forest, walk, linear, usual, weight, now)
    forests.learn(plan, loss, forest, walk, y, usual, weight)
    for k in range(forest.used.shape[0]):
        forests.hold(plan, forest, walk, k, 1.0 if blends.based(k + 1) else 0.0, now)


@inlined
def account(plan, loss, blend, p, given, label, weight):
    """The loss of a round, and of the label as it is learned, into the sums; the first of them."""
    scalars, lost = blend.scalars, weight * value(loss, p, given)
    add(scalars, LOSS, scalars, LOSS_REST, lost)
    add(scalars, LEARNT_LOSS, scalars, LEARNT_REST, lost if label == given else weight * value(loss, p, label))
    scalars[WEIGHT_SUM] += weight
    if weight > 1.0:
        scalars[HEAVY] += 1.0
    if label != given:
        scalars[CLIPPED_LABELS] += 1.0
    return lost


@uncounted
def run_rows(
    plans,
    forest_table,
    walk_table,
    cells_table,
    sheet_table,
    blend_table,
    desk_table,
    loss,
    unit,
    slots,
    indptr,
    indices,
    values,
    linear,
    y,
    weight,
    yhat,
    losses,
    learning,
):
    """Predict, then learn, row by row, after the linear lanes did (`linear`: what they played, in the target's units, as is yhat).
    Without `learning` only yhat and scratch are written. y and losses are in internal units."""
    plan, forest, walk = plan_with(plans, 0, loss), forest_of(forest_table, 0), walk_of(walk_table, 0)
    cells, sheet = cells_of(cells_table, 0), sheet_of(sheet_table, 0)
    blend, desk = blend_of(blend_table, 0), desk_of(desk_table, 0)
    slot_of, ids, numbers = place(slots), place(indices), place(values)
    for t in range(yhat.shape[0]):
        start, stop, base = indptr[t], indptr[t + 1], linear[t] / unit
        quiet, p, top, wide = sleep.asleep(blend), base, 0, False
        if not quiet:
            top, wide = scatter(walk, slot_of, ids, numbers, start, stop)
            p = play(plan, forest, walk, cells, sheet, blend, desk, base)
        yhat[t] = p * unit
        if learning:
            label = y[t]
            if plan.kinds[0] != LOGISTIC:
                label = kernel.tame(plan, blend, label)
            losses[t] = account(plan, loss, blend, p, y[t], label, weight[t])
            alone = weight[t] * value(loss, base, label)
            if quiet:
                for k in range(plan.lanes):
                    add(blend.lane_loss, k, blend.lane_rest, k, alone)
            else:
                forest.seen[0] = max(forest.seen[0], float(top))  # only now: what is new in a row has no part in what is played
                learn(plan, loss, forest, walk, cells, sheet, blend, desk, base, p, label, weight[t])
            if wide:  # the trees retire, after this round
                blend.watch[sleep.RETIRED] = 1.0
            sleep.note(blend, alone, losses[t])
            if plan.kinds[0] != LOGISTIC:
                kernel.extend(plan, blend, label)
            blend.scalars[ROUNDS] += 1.0
        if not quiet:
            clear(walk, slot_of, ids, start, stop)


class Nonlinear:
    """The arrays of the trees, of the additive lanes and of the blend, and the calls of their loop."""

    def __init__(self, plan: Plan, state: State, trees: int, restless: bool) -> None:
        self.plan = blend_plan(plan, trees)
        self.forest, self.cells = new_forest(trees), new_cells(plan)
        self.blend = new_blend(self.plan, state.scalars, restless)
        self._ready()

    def _ready(self) -> None:
        self._walk, self._desk = new_walk(self.forest), new_desk(self.plan)
        self._sheet = new_sheet(self.cells)
        self._tables: Any = None

    def learn(self, state: State, rows: kernel.Rows, linear: Any, loss: Any, unit: float, y: Any, weight: Any) -> tuple[Any, Any]:
        """(predictions, losses in internal units) of rows that the linear lanes have played and learned; cut where knots are due."""
        indptr, ids, values = kernel.plain_rows(rows)
        labels, weights = plain(y, np.float64), plain(weight, np.float64)
        yhat, losses, start = np.empty(len(labels)), np.empty(len(labels)), 0
        while start < len(labels):
            done = int(self.blend.scalars[ROUNDS])
            stop = min(start + knots.due(done + 1) - done, len(labels))
            part = slice(start, stop)
            self._room(state, stop - start)
            told: Any = (linear[part], labels[part], weights[part], yhat[part], losses[part], True)
            given: Any = (*self._all(), loss, unit, state.slot_of, indptr[start : stop + 1], ids, values, *told)
            run_rows(*given)
            start, done = stop, done + stop - start
            if done == knots.due(done) and not sleep.asleep(self.blend):  # before anything more is predicted
                self._place_knots()
        return yhat, losses

    def _place_knots(self) -> None:
        self.cells = knots.found(self.cells, self.forest)
        self._sheet, self._tables = new_sheet(self.cells), None

    def _room(self, state: State, rows: int) -> None:
        """Room for so many rows, where trees will be awake."""
        if self.blend.watch[sleep.RETIRED] == 1.0:
            self._forget()
        elif not sleep.asleep(self.blend) or self.blend.scalars[ROUNDS] + rows > self.blend.watch[sleep.UNTIL]:
            width = min(int(state.scalars[FEATURES]) - 1, WIDEST)
            forest = roomy(self.forest, int(self.blend.scalars[ROUNDS]), rows, width)
            if forest.ring is not self.forest.ring:
                self._walk = self._walk._replace(lately=lately_of(forest.ring, ROUND))
            if forest is not self.forest:
                self.forest, self._tables = forest, None

    def predict(self, state: State, rows: kernel.Rows, linear: Any, loss: Any, unit: float) -> NDArray[np.float64]:
        """Predictions of rows, given the linear lanes'; nothing is learned."""
        yhat = np.empty(len(linear))
        given: Any = (*self._all(), loss, unit, state.slot_of, *kernel.plain_rows(rows), linear, yhat, yhat, yhat, yhat, False)
        run_rows(*given)
        return yhat

    def _forget(self) -> None:
        """Trees that never play again keep no nodes and no rows."""
        if len(self.forest.ring) > 1:
            self.forest, self.cells = new_forest(len(self.forest.used)), new_cells(self.plan)
            self._ready()

    def _all(self) -> tuple[Any, ...]:
        if self._tables is None:
            parts = (self.plan, self.forest, self._walk, self.cells, self._sheet, self.blend, self._desk)
            self._tables = tuple(table(part) for part in parts)
        return self._tables

    # --- saved and copied ------------------------------------------------------------------------------------
    def arrays(self) -> dict[str, NDArray]:
        """Everything that was learned, by name."""
        return {name: array.copy() for name, array in self._own().items()}

    def kept(self) -> Mapping[str, NDArray]:
        """`arrays`, for `restore` alone."""
        return Kept(self._own())

    def _own(self) -> dict[str, NDArray]:
        return {name: array for part in (self.forest, self.cells, self.blend) for name, array in part._asdict().items()}

    def restore(self, arrays: Mapping[str, NDArray]) -> None:
        """Back to what `arrays` gave."""
        self.forest = Forest(**{name: copied(arrays[name]) for name in Forest._fields})
        self.cells = Cells(**{name: copied(arrays[name]) for name in Cells._fields})
        self.blend = Blend(**{name: copied(arrays[name]) for name in Blend._fields})
        self._ready()

    def __getstate__(self) -> dict[str, Any]:
        # addresses of this very learner's arrays must not reach a copy
        return {"plan": self.plan, "arrays": self.arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.plan = state["plan"]
        self.restore(state["arrays"])
