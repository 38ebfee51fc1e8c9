"""Probabilities as (header, arrays), and back; everything is checked before it is handed out."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.schema import (
    COUNTED,
    LARGEST,
    Array,
    Schema,
    all_of,
    check_header,
    check_plays,
    limit,
    name,
    one_of,
    text,
    truth,
    whole,
    within_sizes,
)
from burkholder.learning.tickets import Played
from burkholder.opinions import book as books
from burkholder.opinions import mixing, pools
from burkholder.opinions.rows import FLOOR, MOST, Row

VERSION = 2
SHORTEST = 1e-3  # reading costs nobody more in a round


def _distinct(kind: Any) -> Any:
    return lambda value: all_of(kind)(value) and len(set(value)) == len(value)


def _outcome(value: Any) -> bool:
    return name(value) and value is not None and type(value) is not float


_HEADER = {
    "version": one_of(VERSION),
    "loss": one_of(*mixing.LOSSES),
    "odds": truth,
    "outcomes": lambda value: _distinct(_outcome)(value) and len(value) != 1 and len(value) <= MOST,
    "names": _distinct(text),
    "max_pending": limit,
    "tickets": whole,
    "pending": lambda value: type(value) is list,
}


def out(learner: Any) -> Any:
    """The learner in words and arrays."""
    waiting = learner._tickets.waiting
    header = {
        "version": VERSION,
        "loss": learner.loss,
        "odds": learner.odds,
        "outcomes": list(learner.outcomes),
        "names": list(learner.names),
        "max_pending": learner.max_pending,
        "tickets": learner._tickets.issued,
        "pending": [[id, play.round, list(play.row.names), list(play.row.outcomes)] for id, play in waiting.items()],
    }
    arrays = {key: array.copy() for key, array in learner._book._asdict().items()}
    for id, play in waiting.items():
        arrays[f"pending.{id}.said"], arrays[f"pending.{id}.played"] = play.memo[0].copy(), play.memo[1].copy()
        arrays[f"pending.{id}.short"] = play.row.short.copy()
    return header, arrays


def back(cls: Any, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """The learner that `out` described."""
    check_header(header, _HEADER)
    outcomes = tuple(header["outcomes"])
    learner = cls(header["loss"], outcomes=outcomes or None, odds=header["odds"], max_pending=header["max_pending"])
    fresh = books.start(len(header["names"]), len(outcomes) or 2)
    own = {key: array for key, array in arrays.items() if not key.startswith("pending.")}
    low = np.where(np.isin(np.arange(books.TOTALS), (books.LOSS_REST, books.WEIGHT_REST)), -LARGEST, 0.0)
    high = np.where(np.isin(np.arange(books.TOTALS), (books.ROUNDS, books.LATE, books.SILENT)), COUNTED, LARGEST)
    sums = np.array([-LARGEST, -LARGEST, 0.0])[:, None]
    described = {key: Array(array.shape) for key, array in fresh._asdict().items()} | {
        "totals": Array((books.TOTALS,), low=low, high=high),
        "awake": Array(fresh.awake.shape, low=0.0, high=COUNTED, whole=True),
        "regret": Array(fresh.regret.shape, low=sums),
        "gain": Array(fresh.gain.shape, low=sums),
        "short": Array(fresh.short.shape, low=0.0),
    }
    rules = (
        ("totals: not those of a stream", lambda a: _counted(a["totals"], a["awake"], header)),
        ("regret, gain: sums larger than their terms", lambda a: within_sizes(a["regret"]) and within_sizes(a["gain"])),
        ("log_w: weights that no losses explain", _explained),
        ("means, covariances: not those of a filter", lambda a: _filters(a["means"], a["covariances"])),
    )
    Schema(described, rules).check(own)
    learner._book = books.Book(*(np.array(own[key], float) for key in books.Book._fields))
    learner.names = tuple(header["names"])
    check_plays(header["pending"], header["tickets"], header["max_pending"], learner.rounds, (_distinct(text), _distinct(_outcome)))
    learner._tickets.issued = header["tickets"]
    _plays(learner, header, {key: array for key, array in arrays.items() if key not in own})
    return learner


def _explained(arrays: Any) -> bool:
    """Weights without share are the regrets; no other is further from 1 than losses and shares can move it, or above the mass."""
    logs, sums, totals = arrays["log_w"], arrays["regret"], arrays["totals"]
    heaviest, moved = max(float(totals[books.HEAVIEST]), 1.0), float(sums[books.SIZE].sum())
    off = np.abs(heaviest * logs[0] - (sums[books.SUM] + sums[books.REST]))
    late = moved if totals[books.LATE] else 0.0
    return bool(
        (off <= 1e-6 * (1.0 + sums[books.SIZE])).all()
        and logs.max(initial=0.0) <= 1.0 + np.log(max(logs.size, 1)) + late
        and logs.min(initial=0.0) >= -(64.0 + np.log(max(logs.size, 1)) + moved)
    )


def _counted(totals: np.ndarray, awake: np.ndarray, header: dict[str, Any]) -> bool:
    rounds = totals[books.ROUNDS]
    whole_numbers = totals[[books.ROUNDS, books.LATE, books.SILENT]]
    sound = bool((whole_numbers == np.floor(whole_numbers)).all() and (whole_numbers <= rounds).all() and (awake <= rounds).all())
    rests = abs(totals[books.LOSS_REST]) <= 1e-6 * totals[books.LOSS] and abs(totals[books.WEIGHT_REST]) <= 1e-6 * totals[books.WEIGHT]
    return sound and bool(rests) and totals[books.HEAVIEST] <= 1e40 and (bool(header["outcomes"]) or rounds == 0)


def _filters(means: np.ndarray, covariances: np.ndarray) -> bool:
    """As the filter leaves them: bounded, symmetric to the last bit, no variance below 0 in any direction."""
    variances = np.einsum("lii->li", covariances)
    if not ((np.abs(means) < 1e6).all() and ((variances > 0.0) & (variances < 1e6)).all()):
        return False
    if not np.array_equal(covariances, covariances.transpose(0, 2, 1)):
        return False
    return bool((np.linalg.eigvalsh(covariances) >= -1e-9 * variances.max(axis=1, keepdims=True)).all())


def _plays(learner: Any, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    sizes = {play[0]: (pools.COUNT + len(play[2]), len(play[3])) for play in header["pending"]}
    described = {f"pending.{id}.said": Array(shape) for id, shape in sizes.items()}
    described |= {f"pending.{id}.played": Array((shape[1],), low=0.0, high=1.0 + 1e-6) for id, shape in sizes.items()}
    described |= {f"pending.{id}.short": Array((shape[0] - pools.COUNT,), low=0.0, high=SHORTEST) for id, shape in sizes.items()}
    Schema(described).check({key: np.nan_to_num(array, nan=0.5) if array.dtype.kind == "f" else array for key, array in arrays.items()})
    for id, when, names, outcomes in header["pending"]:
        said, p = np.array(arrays[f"pending.{id}.said"], float), np.array(arrays[f"pending.{id}.played"], float)
        known = learner.outcomes
        if (known and tuple(outcomes) != known) or not 2 <= len(outcomes) <= MOST or not _probable(said, p, learner.loss):
            raise BadInput("header 'pending'", id, "its outcomes or probabilities are not those of a play")
        short = np.array(arrays[f"pending.{id}.short"], float)
        row = Row(said[pools.COUNT :].copy(), tuple(names), tuple(outcomes), short)
        learner._tickets.waiting[id] = Played(row, (said, p), when)


def _probable(said: np.ndarray, p: np.ndarray, loss: str) -> bool:
    """Whole rows of probabilities, or none at all."""
    asleep = np.isnan(said)
    awake = said[~asleep.any(axis=1)]
    good = (
        (asleep.any(axis=1) == asleep.all(axis=1)).all() and (awake >= FLOOR * 0.4).all() and (np.abs(awake.sum(axis=1) - 1.0) < 1e-5).all()
    )
    return bool(good and abs(float(p.sum()) - 1.0) < 1e-5 and (loss != "log" or (p > 0.0).all()))
