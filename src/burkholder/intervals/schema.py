"""Intervals and quantiles as (header, arrays), and back: their own numbers, and the learners inside, each by its own rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.auto import Auto
from burkholder.auto.reading import Reading, row_in, row_out
from burkholder.errors import BadInput
from burkholder.experts import Experts
from burkholder.intervals import book, lags, tracker
from burkholder.intervals.around import Own
from burkholder.intervals.base import Given, Memo
from burkholder.intervals.conditional import NAMES, Asked
from burkholder.intervals.windows import KINDS, LENGTHS
from burkholder.learning.saved import State
from burkholder.learning.schema import (
    LARGEST,
    Array,
    Schema,
    all_of,
    check_header,
    check_plays,
    limit,
    name,
    number,
    one_of,
    text,
    truth,
    whole,
)
from burkholder.learning.tickets import Played

VERSION = 1
_ACCOUNT = np.zeros(tracker.SLOTS)
_ACCOUNT[[tracker.WEIGHT_REST, tracker.COVERED_REST, tracker.LOW, tracker.HIGH]] = -LARGEST
_BOOK = np.zeros(book.ROWS)
_BOOK[list(book.SIGNED)] = -LARGEST
_LAGS = np.zeros(lags.SLOTS)
_LAGS[[lags.LAST_Y, lags.LAST, lags.MEAN]] = -LARGEST


def out(learner: Any) -> State:
    """The learner in words and arrays."""
    if learner.centre.saved is None:
        raise BadInput("model", "a model of your own", "save it with its own tools; intervals around a column, model='name', can be saved")
    parts = _parts(learner)
    states = {part: inner.state_dict() for part, inner in parts.items()}
    waiting = learner._tickets.waiting
    header = {
        "version": VERSION,
        "aim": learner.aimed,
        "model": learner.centre.saved if isinstance(learner.centre.saved, str) else list(learner.centre.saved),
        "max_pending": learner.max_pending,
        "rows": learner.reading.to_dict(),
        "tickets": learner._tickets.issued,
        "pending": [[id, play.round, play.memo.asked.warm, row_out(play.row.row)] for id, play in waiting.items()],
        "parts": {part: words for part, (words, _) in states.items()},
    }
    windows = learner.inside.windows
    arrays = {"accounts": learner.accounts, "book": learner.book, "lags": learner.inside.memory, "ring": windows.ring, "met": windows.met}
    if hasattr(learner, "sums"):
        arrays["sums"] = learner.sums
    arrays |= {f"pending.{id}": _flat(play.memo) for id, play in waiting.items()}
    arrays = {key: array.copy() for key, array in arrays.items()}
    return header, arrays | {f"{part}/{key}": array for part, (_, inner) in states.items() for key, array in inner.items()}


def _parts(learner: Any) -> dict[str, Any]:
    own = {"centre": learner.centre.auto} if isinstance(learner.centre, Own) else {}
    return own | learner.inside.parts()


def _flat(memo: Memo) -> np.ndarray:
    """A play in one row of numbers."""
    asked = memo.asked
    scalars = [asked.centre, asked.scale, asked.expected, asked.spread, asked.width, memo.last, memo.weight]
    return np.concatenate([scalars, asked.features, asked.forecasts.ravel(), asked.answers, asked.quantiles, memo.outer])


def _memo(numbers: np.ndarray, levels: int, warm: bool) -> Memo:
    """What `_flat` described."""
    centre, scale, expected, spread, width, last, weight = numbers[:7].tolist()
    sizes = [lags.FEATURES, levels * len(NAMES), levels, levels]
    features, forecasts, answers, quantiles, outer = (part.copy() for part in np.split(numbers[7:], np.cumsum(sizes)))
    asked = Asked(centre, features, scale, expected, spread, forecasts.reshape(levels, -1), answers, warm, quantiles, width)
    return Memo(asked, last, outer, weight)


def _model(value: Any) -> bool:
    return value == "own" or (type(value) is list and len(value) == 1 and (text(value[0]) or whole(value[0])))


_HEADER = {
    "version": one_of(VERSION),
    "aim": lambda value: all_of(number)(value) and 0 < len(value) <= 1000,
    "model": _model,
    "max_pending": limit,
    "rows": lambda value: type(value) is dict,
    "tickets": whole,
    "pending": lambda value: type(value) is list,
    "parts": lambda value: type(value) is dict and all(map(text, value)),
}


def back(kind: Any, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """The learner that `out` described."""
    check_header(header, _HEADER)
    model = None if header["model"] == "own" else header["model"][0]
    options = {"model": model, "max_pending": header["max_pending"]}
    learner = kind(kind.aim(header["aim"]), **options)
    own = {key: array for key, array in arrays.items() if "/" not in key and not key.startswith("pending.")}
    _own_schema(learner).check(own)
    rounds = int(own["accounts"][0, tracker.ROUNDS])
    _check_plays(header, arrays, learner, rounds)
    _fill(learner, header, arrays, rounds)
    learner.reading = Reading.from_dict(header["rows"])
    learner.accounts, learner.book, learner.inside.memory = (np.array(own[key], float) for key in ("accounts", "book", "lags"))
    if "sums" in own:
        learner.sums = np.array(own["sums"], float)
    windows = learner.inside.windows
    windows.ring, windows.met = np.array(own["ring"], float), np.array(own["met"], np.int64)
    windows.rebuild()
    learner._tickets.issued = header["tickets"]
    for id, when, warm, row in header["pending"]:
        memo = _memo(np.array(arrays[f"pending.{id}"], float), len(learner.levels), warm)
        learner._tickets.waiting[id] = Played(Given(row_in(row), None), memo, when)
    return learner


def _own_schema(learner: Any) -> Schema:
    levels = len(learner.levels)
    described = {
        "accounts": Array(learner.accounts.shape, low=_ACCOUNT),
        "book": Array((book.ROWS, levels), low=_BOOK[:, None]),
        "lags": Array((lags.SLOTS,), low=_LAGS),
        "ring": Array((KINDS, max(LENGTHS))),
        "met": Array((1,), "<i8", low=0, high=2**53),
    }
    if hasattr(learner, "sums"):
        described["sums"] = Array((4,), low=np.array([0.0, -LARGEST, 0.0, -LARGEST]))
    return Schema(
        described,
        (
            ("accounts: not those of a stream", lambda a: tracker.possible(a["accounts"])),
            ("book: not that of a stream", lambda a: book.possible(a["book"])),
            ("sums: corrections larger than what they correct", lambda a: "sums" not in a or _small(a["sums"])),
            ("lags, met: more labels than rounds", lambda a: _labels(a)),
        ),
    )


def _small(sums: np.ndarray) -> bool:
    return bool((np.abs(sums[1::2]) <= 1e-6 * sums[::2] + 1e-300).all() and (sums <= 1e250).all())


def _labels(arrays: Any) -> bool:
    rounds, labels, met = arrays["accounts"][0, tracker.ROUNDS], arrays["lags"][lags.LABELS], arrays["met"][0]
    return bool(labels == met <= rounds and arrays["lags"][lags.LARGEST] >= 0.0)


def _check_plays(header: dict[str, Any], arrays: Any, learner: Any, rounds: int) -> None:
    check_plays(header["pending"], header["tickets"], header["max_pending"], rounds, (truth, _row))
    outer = learner.played
    length = 7 + lags.FEATURES + len(learner.levels) * (len(NAMES) + 2) + outer
    plays = {key: array for key, array in arrays.items() if key.startswith("pending.")}
    described = {f"pending.{play[0]}": Array((length,)) for play in header["pending"]}
    Schema(described).check({key: _awake(row, len(learner.levels)) for key, row in plays.items()})
    most = float(arrays["accounts"][0, tracker.WEIGHT]) * (1.0 + 1e-6)
    for id, _, _, _ in header["pending"]:
        memo = _memo(np.asarray(arrays[f"pending.{id}"], float), len(learner.levels), False)
        if not (memo.asked.spread > 0.0 and memo.asked.scale >= 0.0 and memo.asked.width >= 0.0 and 0.0 <= memo.weight <= most):
            raise BadInput(f"array 'pending.{id}'", "sizes", "they are not below 0, and no weight is above what was learned")


def _awake(numbers: np.ndarray, levels: int) -> np.ndarray:
    """A play with 0 in place of the experts that were asleep: only forecasts may be no number."""
    if numbers.dtype.kind != "f" or numbers.ndim != 1:
        return numbers
    start = 7 + lags.FEATURES
    out = numbers.copy()
    part = out[start : start + levels * len(NAMES)]
    part[np.isnan(part)] = 0.0
    return out


def _row(value: Any) -> bool:
    if type(value) is not list or len(value) != 3 or value[0] not in ("names", "vector", "sparse"):
        return False
    keys = name if value[0] == "names" else whole
    return all_of(keys)(value[1]) and all_of(number)(value[2]) and len(value[1]) == len(value[2])


def _fill(learner: Any, header: dict[str, Any], arrays: Any, rounds: int) -> None:
    """Every learner inside, by its own rules; of the settings and the rounds that it has here."""
    parts = _parts(learner)
    if sorted(parts) != sorted(header["parts"]):
        raise BadInput("header 'parts'", sorted(header["parts"]), f"these stand there: {', '.join(parts)}")
    strangers = [key for key in arrays if "/" in key and key.partition("/")[0] not in parts]
    if strangers:
        raise BadInput(f"array {strangers[0]!r}", "there", "this kind of learner has no such array")
    for part, fresh in parts.items():
        inner = {key.partition("/")[2]: array for key, array in arrays.items() if key.startswith(f"{part}/")}
        loaded = type(fresh).from_state(header["parts"][part], inner)
        same = loaded.loss == fresh.loss and loaded.rounds <= rounds and not loaded.pending
        if isinstance(loaded, Auto):
            same = same and loaded.plan == fresh.plan and (loaded.targets.low is None) and loaded.rounds == rounds
        if isinstance(loaded, Experts):
            same = same and loaded.names == NAMES and loaded.outside == fresh.outside and loaded.method == fresh.method
        if not same:
            raise BadInput("header 'parts'", part, "it is not of this learner")
        parts[part] = loaded
    if isinstance(learner.centre, Own):
        learner.centre.auto = parts["centre"]
    levels = range(len(learner.levels))
    learner.inside.size = parts["size"]
    learner.inside.features = [parts[f"features{k}"] for k in levels]
    learner.inside.mixtures = [parts[f"mixture{k}"] for k in levels]
