"""Learners that ran on shards of the data, as one: ζ is a sum, and so is what was lost.

What adds up, whoever played: the statistic ζ, the loss, the counts of broken assumptions, Σδŷ and Σδx. Convexity
gives each shard Reg(w) ≤ Σδŷ − ⟨w, Σδx⟩ for every w; the sums bound the summed regret, Σ over all shards of (loss
of the shard's learner − loss of w): the realised certificate of the merged learner. So does V(ζ) + A(w) with the
summed ζ (property 2°, `corrected`). What does not carry over is the promise: each shard's U was ≤ 0, but U of the
sum may be above 0, because no shard saw what the others learned. It is known only after merging, as the potential.

Learners whose state is no sum (Auto, Experts, completion) become lanes of an aggregation instead: `merged.Merged`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning import ledger
from burkholder.learning.audit import Audit
from burkholder.learning.learner import Learner
from burkholder.learning.protocol import OnlineLearner
from burkholder.learning.rows import DIRECT, Rows
from burkholder.rounds import layout

_LARGEST = (ledger.STEEPEST, ledger.LARGEST_SIZE)  # maxima; every other slot of the ledger is a sum


def merge(*learners: Any) -> Any:
    """One learner made of several that ran on different shards, made with equal settings, which goes on learning.

    Learners and Audits add up; others (Auto, Experts, completion) become lanes of an aggregation, see `Merged`.

    >>> import burkholder as bk
    >>> shards = [bk.Learner("adagrad", loss="absolute", radius=2.0) for _ in range(2)]
    >>> for t in range(40):
    ...     shards[t % 2].update({"a": 1.0, "b": t % 3 - 1.0}, 0.5)
    >>> whole = merge(*shards)
    >>> whole.rounds, abs(whole.cumulative_loss - sum(shard.cumulative_loss for shard in shards)) < 1e-12
    (40, True)
    >>> w = {"a": 0.5, "b": 0.0}
    >>> abs(whole.certificate().realised(w) - sum(shard.certificate().realised(w) for shard in shards)) < 1e-9
    True
    >>> whole.certificate().bound(w)  # not promised: the shards did not see each other
    inf
    """
    if len(learners) < 2:
        raise BadInput("learners", len(learners), "give two learners or more")
    first = learners[0]
    if not isinstance(first, (Learner, Audit)):
        from burkholder.merged.learner import Merged

        if not isinstance(first, OnlineLearner):
            raise BadInput("learners", type(first).__name__, "give learners")
        return Merged(learners)
    for other in learners[1:]:
        if isinstance(first, Audit) != isinstance(other, Audit) or not isinstance(other, (Learner, Audit)):
            raise BadInput("learners", type(other).__name__, "all must be of one kind")
        _check_settings(first, other)
    return _merged_audits(learners) if isinstance(first, Audit) else _merged_learners(learners)


# --- what must agree ------------------------------------------------------------------------------------------
def _check_settings(first: Any, other: Any) -> None:
    if not _same(first.loss, other.loss):
        raise BadInput("loss", other.loss, f"all must have the same loss, here {first.loss}")
    if first.rows.intercept != other.rows.intercept:
        raise BadInput("intercept", other.rows.intercept, "all or none must have one")
    kinds = {first.rows.kind, other.rows.kind} - {None}
    lengths = {first.rows.length, other.rows.length} - {None}
    if len(kinds) > 1 or len(lengths) > 1:
        raise BadInput("learners", f"{other.rows.kind} of {other.rows.length}", "all must have the same kind of features")
    if isinstance(first, Audit):
        if not _same(first.geometry, other.geometry):
            raise BadInput("geometry", other.geometry, f"all must have the same, here {first.geometry}")
        return
    for learner in (first, other):
        if learner.function.kind == "generalised":
            raise BadInput("function", learner.function.name, "its state is not a sum, so it cannot be merged")
        if learner.function.in_expectation:
            raise BadInput("function", learner.function.name, "its state holds its own coins, so it cannot be merged")
        if learner.pending:
            raise BadInput("learners", f"{learner.pending} pending", "reveal the labels that are still to come first")
    same = (
        first.function.name == other.function.name
        and _facts(first) == _facts(other)
        and first.bound == other.bound
        and first.made == other.made
    )
    if not same:
        raise BadInput("learners", other.function.name, "all must be made with the same function, bound and strategy")


def _same(one: Any, other: Any) -> bool:
    """Records of different classes may be equal as tuples."""
    return type(one) is type(other) and (one is other or repr(one) == repr(other))


def _facts(learner: Learner) -> str:
    members = [getattr(member, "options", {}) for member in getattr(learner.function, "members", ())]
    return repr((type(learner.function).__name__, getattr(learner.function, "options", None), members))


# --- sums -----------------------------------------------------------------------------------------------------
def _joined_rows(learners: tuple[Any, ...]) -> tuple[Rows, list[np.ndarray | None]]:
    """One memory of features, and where each learner's coordinates go in it (None: they stay)."""
    rows = Rows(learners[0].rows.intercept)
    rows.kind = next((one.rows.kind for one in learners if one.rows.kind is not None), None)
    rows.length = next((one.rows.length for one in learners if one.rows.length is not None), None)
    for one in learners:
        for mine, known in ((one.rows.names, rows.names), (one.rows.far, rows.far)):
            for key in mine:
                known.setdefault(key, len(known))
    if rows.kind == "names":
        return rows, [np.array([rows.names[name] for name in one.rows.names], np.int64) for one in learners]
    if not rows.far:
        return rows, [None] * len(learners)
    near = np.arange(DIRECT + rows.intercept)
    return rows, [np.concatenate([near, len(near) + np.array([rows.far[i] for i in one.rows.far], np.int64)]) for one in learners]


def _joined_books(learners: tuple[Any, ...]) -> np.ndarray:
    book = np.sum([one.ledger for one in learners], axis=0)
    book[ledger.LOSS_LOW] += _added([one.ledger[[ledger.LOSS]] for one in learners])[1][0]
    for slot in _LARGEST:
        book[slot] = max(one.ledger[slot] for one in learners)
    return book


def _spread(vector: np.ndarray, places: np.ndarray | None, dim: int) -> np.ndarray:
    """The vector's last axis over the joined coordinates."""
    out = np.zeros((*vector.shape[:-1], dim))
    out[..., slice(0, vector.shape[-1]) if places is None else places[: vector.shape[-1]]] = vector
    return out


def _dimension(rows: Rows, places: list[np.ndarray | None], sizes: list[int]) -> int:
    tops = [size if place is None else int(place[:size].max(initial=-1)) + 1 for place, size in zip(places, sizes)]
    return max(len(rows.names) if rows.kind == "names" else 0, *tops)


def _added(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(sum, its correction) of several arrays, entry by entry."""
    total, low = parts[0].copy(), np.zeros_like(parts[0])
    for part in parts[1:]:
        after = total + part
        back = after - total
        low += (total - (after - back)) + (part - back)
        total = after
    return total, low


def _merged_audits(audits: tuple[Audit, ...]) -> Audit:
    out = Audit(audits[0].loss, audits[0].geometry, audits[0].rows.intercept)
    out.rows, places = _joined_rows(audits)
    dim = _dimension(out.rows, places, [one.sums.shape[1] for one in audits])
    spread = [_spread(one.sums, place, dim) for one, place in zip(audits, places)]
    total, low = _added([part[0] for part in spread])
    out.sums = np.stack([total, low + np.sum([part[1] for part in spread], axis=0), np.sum([part[2] for part in spread], axis=0)])
    lean, lean_low = _added([one.lean for one in audits])
    out.lean = np.array([lean[0], lean[1] + lean_low[0], lean[2]])
    out.ledger[:] = _joined_books(audits)
    return out


def _merged_learners(learners: tuple[Learner, ...]) -> Learner:
    first = learners[0]
    out = Learner(
        first.function,
        loss=first.loss,
        bound=None if math.isinf(first.bound) else first.bound,
        features=first.features,
        intercept=first.rows.intercept,
        seed=first.seed,
        **first.made,
    )
    out.requested, out.options = first.requested, first.options
    out.rows, places = _joined_rows(learners)
    out.ledger[:] = _joined_books(learners)  # in place: compiled rounds write to this very array
    out.parts = sum(one.parts for one in learners)
    dim = _dimension(out.rows, places, [one.state.dim for one in learners])
    (_add_linear if out.state.atomic else _add_generic)(out, learners, places, dim)
    return out


def _add_linear(out: Learner, learners: tuple[Learner, ...], places: list[np.ndarray | None], dim: int) -> None:
    state, taus = out.state, [one.state.tau() for one in learners]
    if dim:
        state.grow(dim - 1)
    state.scalars[layout.DIM] = dim
    g = np.sum([_spread(tau[1], place, dim) for tau, place in zip(taus, places)], axis=0)
    state.cells[0 : dim * state.width : state.width] = g
    a, low = _added([one.state.scalars[[layout.A]] for one in learners])
    state.scalars[layout.A] = a[0]
    state.scalars[layout.A_LOW] = low[0] + math.fsum(one.state.scalars[layout.A_LOW] for one in learners)
    for slot in (layout.LEANED, layout.MOVED, layout.DRIFTED):
        state.scalars[slot] = math.fsum(one.state.scalars[slot] for one in learners)
    # adding the parts rounds each g_i once a part, by no more than it and its parts are large
    state.scalars[layout.DRIFTED] += len(learners) * float(sum(np.abs(tau[1]).sum() for tau in taus))
    if state.separable:
        s = np.sum([_spread(tau[2], place, dim) for tau, place in zip(taus, places)], axis=0)
        state.cells[1 : dim * state.width : state.width] = s
        return
    state.scalars[layout.S] = math.fsum(float(tau[2]) for tau in taus)
    # the running power sum of the norm, afresh: Σ|g_i/scale|^p, scale a power of two
    p = float(getattr(state.frame.geometry, "p", 2.0))
    top = float(np.max(np.abs(g), initial=0.0))
    scale = math.ldexp(1.0, math.frexp(top)[1]) if top > 0.0 else 1.0
    power = math.fsum((np.abs(g) / scale) ** p)
    state.scalars[layout.SCALE], state.scalars[layout.POWER] = scale, power
    state.scalars[layout.DRIFT] = 16.0 * p * 1.2e-16 * power


def _add_generic(out: Learner, learners: tuple[Learner, ...], places: list[np.ndarray | None], dim: int) -> None:
    """Coordinates go to their new places along every axis that grows with the number of features."""
    state = out.state
    if not dim:
        return
    zero, wider = out.function.zero(dim), out.function.zero(dim + 1)
    total = [np.zeros(part.shape) for part in zero]
    for one, place in zip(learners, places):
        if not one.state.dim:
            continue
        where = np.arange(one.state.dim) if place is None else place[: one.state.dim]
        for part, mine, more in zip(total, one.state.tau(), wider):
            axes: list[np.ndarray] = [
                np.concatenate([np.arange(size - dim), size - dim + where]) if size != more.shape[axis] else np.arange(size)
                for axis, size in enumerate(tuple(map(int, part.shape)))
            ]
            if axes:
                part[np.ix_(*axes)] += mine
            else:
                part += mine
    state.take_sums(dim, tuple(total), [one.state for one in learners], [lambda v, p=place: _spread(v, p, dim) for place in places])
