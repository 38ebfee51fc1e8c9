"""Keyed as (header, arrays), and back: every key's learner, what helps them, and how they are aggregated."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.kinds import KINDS, parts_in, parts_out
from burkholder.learning.schema import all_of, answer, check_header, check_plays, limit, maybe, one_of, text, truth, whole
from burkholder.learning.tickets import Played
from burkholder.merged import schema
from burkholder.merged.mixing import alike

VERSION = 2
PROTOTYPE, HELP = "prototype", "help"
INSIDE = tuple(kind for kind in KINDS if kind not in ("Keyed", "Confidence", "Audit"))


def _key(value: Any) -> bool:
    return type(value) in (str, int)


def _keys(value: Any) -> bool:
    return all_of(_key)(value) and len(set(value)) == len(value)


_HEADER = {
    "version": one_of(VERSION),
    "key": _key,
    "pooled": truth,
    "idle": maybe(limit),
    "store": maybe(text),
    "max_pending": limit,
    "rounds": whole,
    "keys": _keys,
    "tickets": whole,
    "pending": lambda value: type(value) is list,
    "parts": lambda value: type(value) is dict and all(map(text, value)),
}


def out(keyed: Any) -> Any:
    """The learner in words and arrays, keys that were put away among them."""
    parts = {PROTOTYPE: keyed.prototype} | ({} if keyed.help is None else {HELP: keyed.help})
    parts |= {str(slot): keyed.idle.learner(keyed, slot) for slot in keyed._slots.values()}
    words, arrays = parts_out(parts)
    waiting = keyed._tickets.waiting
    header = {
        "version": VERSION,
        "key": keyed.key,
        "pooled": keyed.help is not None,
        "idle": keyed.idle.after,
        "store": None if keyed.idle.store is None else str(keyed.idle.store),
        "max_pending": keyed.max_pending,
        "rounds": keyed.rounds,
        "keys": keyed.keys,
        "tickets": keyed._tickets.issued,
        "pending": [[id, play.round, play.row, *copy.deepcopy(play.memo)] for id, play in waiting.items()],
        "parts": words,
    }
    if keyed.mixer is not None:
        arrays |= schema.out(keyed.mixer)
    if keyed.idle.after is not None:
        arrays["last"] = keyed.idle.last.copy()
    return header, arrays


def back(cls: Any, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    """The learner that `out` described."""
    check_header(header, _HEADER)
    own = {name: array for name, array in arrays.items() if "/" not in name}
    parts = parts_in(header["parts"], {name: array for name, array in arrays.items() if "/" in name}, INSIDE)
    count = len(header["keys"])
    expected = [PROTOTYPE, *([HELP] if header["pooled"] else []), *map(str, range(count))]
    if sorted(parts) != sorted(expected):
        raise BadInput("header 'parts'", len(parts), f"a prototype, what helps, and {count} keys stand there")
    prototype = parts[PROTOTYPE]
    keyed = cls(prototype, header["key"], header["pooled"], header["idle"], header["store"], max_pending=header["max_pending"])
    for name, part in parts.items():
        if not alike(part, prototype):
            raise BadInput("header 'parts'", name, "all keys have learners of one kind and one loss")
    learners = [parts[str(slot)] for slot in range(count)]
    rounds = [learner.rounds for learner in learners]
    if sum(rounds) != header["rounds"] or (header["pooled"] and parts[HELP].rounds != header["rounds"]):
        raise BadInput("header 'rounds'", header["rounds"], "the rounds of the keys do not add up to it")
    _check_waiting(header, learners, parts.get(HELP))
    keyed._admitted(header["keys"])
    for slot, learner in enumerate(learners):
        keyed.shelf.put(slot, learner)
    keyed._rounds = header["rounds"]
    if keyed.mixer is not None:
        keyed.help = parts[HELP]
        mixed = {name: array for name, array in own.items() if name.startswith(schema.PREFIX)}
        schema.fill(keyed.mixer, mixed, count, rounds)
    keyed.idle.take(own, count, header["rounds"])
    strangers = set(own) - {"last"} - {name for name in own if keyed.mixer is not None and name.startswith(schema.PREFIX)}
    if strangers:
        raise BadInput(f"array {min(strangers)!r}", "there", "this kind of learner has no such array")
    keyed._tickets.issued = header["tickets"]
    for id, when, key, *memo in copy.deepcopy(header["pending"]):
        keyed._tickets.waiting[id] = Played(key, tuple(memo), when)
    return keyed


def _check_waiting(header: dict[str, Any], learners: list[Any], help_: Any) -> None:
    """Every play waits with its key's own learner, and with the one that helps, and nothing else does."""
    lanes = 1 if help_ is None else 2
    shown = answer if help_ is not None else lambda value: True
    kinds = (
        _key,
        whole,
        maybe(whole),
        lambda value: type(value) is list and len(value) == lanes and (lanes == 1 or all(map(answer, value))),
        shown,
    )
    check_plays(header["pending"], header["tickets"], header["max_pending"], header["rounds"], kinds)
    places = {key: slot for slot, key in enumerate(header["keys"])}
    waiting: list[tuple[Any, Any]] = []
    for _, _, key, own, other, _, _ in header["pending"]:
        if key not in places or own not in learners[places[key]]._tickets.waiting:
            raise BadInput("header 'pending'", key, "no such play waits with this key's learner")
        if (help_ is None) != (other is None) or (help_ is not None and other not in help_._tickets.waiting):
            raise BadInput("header 'pending'", key, "no such play waits with the learner of all keys")
        waiting.append((places[key], own))
    inner = sum(learner.pending for learner in learners)
    if len(set(waiting)) != len(waiting) or inner != len(waiting) or (help_ is not None and help_.pending != len(waiting)):
        raise BadInput("header 'pending'", len(waiting), f"{inner} plays wait with the keys' learners")
