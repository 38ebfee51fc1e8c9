"""Threads that share a learner, switched as often as the interpreter can: nothing is lost, nothing is done twice.

Labels lie so far away that every round has |δ| = 1, and all numbers are small and whole: the sums come out exactly, in
whatever order the rounds were.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from burkholder.errors import BadInput
from burkholder.learning.learner import Learner
from burkholder.machine import locks
from burkholder.rounds import dicts
from burkholder.rounds.plain import KNOWN

EACH, FAR = 300, 1000.0


class Slow:
    """A number that lets other threads run while it is read."""

    def __init__(self, number: float) -> None:
        self.number = number

    def __float__(self) -> float:
        time.sleep(0)
        return self.number


class Twin:
    """A name with code of its own, which lets others run whenever a name with its hash is looked up."""

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        time.sleep(0)
        return self is other


@pytest.fixture(autouse=True)
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def plain(learner: Learner, t: int) -> list[dict[Any, float]]:
    x = {"one": 1.0, "a": float(t % 5), "b": float(t % 3)}
    learner.predict(x)
    learner.update(x, FAR)
    return [x]


def new_names(learner: Learner, t: int) -> list[dict[Any, float]]:
    x = {"one": 1.0, f"name {threading.get_ident() % 1000} {t}": 2.0, "a": 1.0}
    learner.update(x, FAR)
    learner.predict(x)
    return [x]


def slow_numbers(learner: Learner, t: int) -> list[dict[Any, float]]:
    x = {"one": 1.0, "b": 3.0, "c": float(t % 2)}
    y, weight = (Slow(FAR), 1.0) if t % 2 else (FAR, Slow(1.0))
    learner.update({**x, "c": Slow(x["c"])} if t % 3 else x, y, weight)  # type: ignore[arg-type]
    learner.predict({"a": Slow(1.0)})
    return [x]


def runs(learner: Learner, t: int) -> list[dict[Any, float]]:
    """Every other run has a bad label at its end, and must leave no trace, nor take anyone's round with it."""
    rows = [{"one": 1.0, "b": 1.0, f"run {t} {k}": 1.0} for k in range(3)]
    if t % 2:
        with pytest.raises(BadInput):
            learner.run(rows, [FAR, FAR, "bad"], trace=3)
        return []
    learner.run(rows, [FAR, FAR, FAR], trace=2)
    return rows


def late(learner: Learner, t: int) -> list[dict[Any, float]]:
    x = {"one": 1.0, "a": 1.0}
    learner.reveal(learner.play(x).id, FAR)
    return [x]


def looked_at(learner: Learner, t: int) -> list[dict[Any, float]]:
    """Whatever is asked for belongs to one moment: feature "one" has taken part in every round."""
    certificate = learner.certificate()
    if certificate.rounds:
        place = learner.rows.names["one"]
        assert -certificate.evidence.g[place] == certificate.tau[2][place] == certificate.rounds
    return []


def worked(learner: Learner, works: list[Callable[[Learner, int], list[dict[Any, float]]]]) -> Counter[Any]:
    """All of them at once; the sums that came of it must be these."""
    expected: Counter[Any] = Counter()
    trouble: list[BaseException] = []
    done: list[list[dict[Any, float]]] = []

    def hammer(work: Callable[[Learner, int], list[dict[Any, float]]]) -> None:
        try:
            for t in range(EACH):
                done.append(work(learner, t))
        except BaseException as error:  # pytest sees only what its own thread raises
            trouble.append(error)

    threads = [threading.Thread(target=hammer, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if trouble:
        raise trouble[0]
    for rows in done:
        for x in rows:
            expected.update(x)
    return expected


def sums(learner: Learner) -> dict[Any, float]:
    return dict(zip(learner.rows.names, (-learner.state.g).tolist(), strict=True))


def make() -> Learner:
    return Learner("adagrad", loss="absolute", radius=1e-3)


def test_every_round_counts_once():
    learner = make()
    expected = worked(learner, [plain, plain, plain, new_names, new_names, slow_numbers, runs, late, looked_at])
    assert sums(learner) == {name: float(expected[name]) for name in learner.rows.names} and set(expected) == set(learner.rows.names)
    assert learner.rounds == expected["one"] == learner.ledger[10] and learner.pending == 0
    assert [*learner.rows.names.values()] == [*range(len(expected))]
    assert (learner._named is not None) is KNOWN


def test_a_name_with_code_of_its_own_ends_the_rounds_without_a_lock():
    learner, twin = make(), Twin()

    def twins(learner: Learner, t: int) -> list[dict[Any, float]]:
        x = {"one": 1.0, twin: 1.0, "a": 1.0}
        learner.update(x, FAR)
        return [x]

    plain(learner, 1)
    learner.update({"one": 1.0, twin: 1.0}, FAR)
    assert learner._named is None and learner.predict({"a": 1.0}) != 0.0 and learner._named is None
    learner = make()
    expected = worked(learner, [plain, twins, plain])
    assert sums(learner) == dict(expected)
    assert not learner._quick or not KNOWN


@pytest.mark.skipif(not KNOWN, reason="dicts go the long way here")
def test_who_holds_the_lock_is_known_here():
    lock = threading.RLock()
    word, seen = locks.holder(lock), []
    with lock, lock:
        other = threading.Thread(target=lambda: seen.append(int(word[0])))
        other.start()
        other.join()
    assert seen == [threading.get_ident()] and word[0] == 0
    assert locks.holder(threading.Lock())[0] != 0 and locks.holder(None)[0] != 0  # not to be told: never free


@pytest.mark.skipif(not KNOWN, reason="dicts go the long way here")
def test_rounds_without_the_lock_wait_while_it_is_held():
    learner = make()
    plain(learner, 1)
    x, after = {"one": 1.0, "a": 1.0}, threading.Event()
    assert learner._named.step(x, FAR, 1.0) == 0.0 and learner.rounds == 2
    with learner._lock:
        assert np.isnan(learner._named.step(x, FAR, 1.0)) and np.isnan(learner._named.glance(x)) and learner.rounds == 2
        other = threading.Thread(target=lambda: (learner.update(x, FAR), after.set()))
        other.start()
        assert not after.wait(0.05) and learner.rounds == 2
        learner.update(x, FAR)  # whoever holds it goes on
        assert learner.rounds == 3
    other.join()
    assert learner.rounds == 4
    assert np.isnan(learner._named.step({"new": 1.0}, FAR, 1.0)) and "new" not in learner.rows.names and learner.rounds == 4


@pytest.mark.skipif(not KNOWN, reason="dicts go the long way here")
def test_where_the_lock_cannot_be_asked_it_is_taken(monkeypatch):
    monkeypatch.setattr(dicts, "holder", lambda lock: np.ones(1, np.uint64))
    asked, taken = make(), make()
    for t in range(20):
        plain(taken, t)
    monkeypatch.undo()
    for t in range(20):
        plain(asked, t)
    assert np.isnan(taken._named.glance({"a": 1.0})) and sums(asked) == sums(taken) and taken.rounds == 20
