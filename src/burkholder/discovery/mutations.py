"""Certificates changed in one place and sealed again: what a checker worth its name must refuse.

Every leaf is given other types and other values, every dictionary a renamed, a missing and an extra key, every list one
element more and one less. A change of type is one that no certificate may contain, whatever its value; a change of
value is refused by the mathematics, unless it is another way to write a proof of the very same statement.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from burkholder.checker import Rejected, digest
from burkholder.limited import verify

Path = tuple[str | int, ...]
EXTRAS: tuple[Any, ...] = (None, "", 0, {}, "1")


class Mutation(NamedTuple):
    """A certificate that differs from an honest one at `path`; `typed` when the difference is one of type or shape."""

    path: Path
    what: str
    certificate: dict[str, Any]
    typed: bool


class Tally(NamedTuple):
    """How many changes were tried, and how many the checker let pass that it should not have."""

    tried: int
    accepted: tuple[Mutation, ...]


def attack(honest: dict[str, Any], changes: Iterator[Mutation] | None = None) -> Tally:
    """Try the changes: accepted is one of type that passes at all, or one whose statement is not the honest one."""
    statement, tried, accepted = verify(honest), 0, []
    for mutation in mutations(honest) if changes is None else changes:
        tried += 1
        try:
            said = verify(mutation.certificate)
        except Rejected:
            continue
        if mutation.typed or said != statement:
            accepted.append(mutation)
    return Tally(tried, tuple(accepted))


def mutations(honest: dict[str, Any]) -> Iterator[Mutation]:
    """Every change of every place, the digest recomputed as one who meant to deceive would."""
    for path, old in places(honest):
        for what, new, typed in (*_types(old), *_values(path, old)):
            yield _sealed(honest, path, what, new, typed)
        if isinstance(old, dict):
            for key in old:
                for name in (key + "x", key.upper() + "_", " " + key, ""):
                    yield _sealed(honest, path, f"{key} renamed", {(name if k == key else k): v for k, v in old.items()}, path != ("U",))
                yield _sealed(honest, path, f"{key} missing", {k: v for k, v in old.items() if k != key}, path != ("U",))
            for extra in EXTRAS:
                yield _sealed(honest, path, "an extra key", {**old, "note": extra}, True)
        if isinstance(old, list) and old:
            for what, new in (("one more", [*old, old[-1]]), ("one less", old[:-1]), ("nested", [old]), ("a null", [*old, None])):
                yield _sealed(honest, path, what, new, what in ("nested", "a null"))


def places(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every entry of the file, containers included, with the way to it."""
    yield path, data
    if isinstance(data, (dict, list)):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(item, (*path, key))


def _types(old: Any) -> Iterator[tuple[str, Any, bool]]:
    others: list[Any] = [None, True, False, 0, 1, -1, 0.0, 1.5, 1e308, float("nan"), "1", "", [], {}, [old], {"value": old}]
    if isinstance(old, int):
        others += [float(old), old + 0.9, str(old)]
    if isinstance(old, str):
        try:
            others += [int(old), float(old)]
        except ValueError:
            pass
    for new in others:
        if type(new) is not type(old):
            yield f"{type(old).__name__} to {type(new).__name__}", new, True


def _values(path: Path, old: Any) -> Iterator[tuple[str, Any, bool]]:
    if isinstance(old, int):
        for new in (-old, 0, old + 1, old + 2, 2 * old, old - 1, 10**9, 10**30):
            yield "another number", new, False
    if isinstance(old, str) and path[0] != "digest":
        near = [f"-({old})", f"-{old}", f"{old} + 1", f"2*({old})", f"({old})*x", f"{old}/2", f"{old}0", f"({old})**2", f"{old} "]
        near += [f"{old}.0", f"{old}e0", old[:-1], old + old]
        far = ["0", "1", "2", "x", "-x", "1e999999999", "9" * 5000, "x**999999", "((((x", "1/0", "nan", "zigzag", "general", "start"]
        for text in near + far:
            if text != old:
                yield "another text", text, False


def _sealed(honest: dict[str, Any], path: Path, what: str, new: Any, typed: bool) -> Mutation:
    changed = copy.copy(honest)
    if path:
        place: Any = changed
        for key in path[:-1]:
            place[key] = copy.copy(place[key])
            place = place[key]
        place[path[-1]] = new
    else:
        changed = new
    if type(changed) is dict and path != ("digest",):
        json.dumps(changed)  # only what a file can hold
        changed = changed | {"digest": digest(changed)} if "digest" in changed else changed
    return Mutation(path, what, changed, typed)
