"""regret ≤ realised ≤ corrected ≤ bound, exactly and without tolerance: every contract, however it is delivered and wrapped."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from contracts import CONTRACTS, Contract, Round, Stream
from exact import in_order

import burkholder as bk
from burkholder import storage
from burkholder.merged.mixing import answers_with_a_number

KEYS = ("north", "south", 7)


# --- ways to wrap: rows as the whole takes them, and certificates with the rounds each is about --------------------------
class Plain:
    """The learner alone."""

    def __init__(self, contract: Contract) -> None:
        self.contract, self.learner = contract, contract.make()

    def row(self, t: int, x: Any) -> Any:
        return x

    def inside(self, t: int) -> Any:
        return self.learner

    def before(self, stream: Stream) -> tuple[list[Round], int]:
        """Rounds that were played before the learner was what it is now, and how many of the stream they took."""
        return [], 0

    def check(self, rounds: list[tuple[int, Round]]) -> None:
        held(self.contract, [one for _, one in rounds], self.learner.certificate())


class Own(Plain):
    """One learner a key; what a certificate says of a key, and of all keys."""

    pooled = False

    def __init__(self, contract: Contract) -> None:
        self.contract, self.learner = contract, bk.Keyed(contract.make(), pooled=self.pooled)

    def row(self, t: int, x: Any) -> Any:
        return KEYS[t * t % 5 % 3], x

    def inside(self, t: int) -> Any:
        key = self.row(t, None)[0]
        return self.learner.learner(key) if key in self.learner else self.learner.prototype

    def check(self, rounds: list[tuple[int, Round]]) -> None:
        each = {key: [one for t, one in rounds if self.row(t, None)[0] == key] for key in self.learner.keys}
        sums: dict[int, list[Any]] = {}
        for key, mine in each.items():
            certificate = self.learner.certificate(key)
            held(self.contract, mine, certificate)
            for place, (whom, regret) in enumerate(self.contract.regrets(mine, certificate)):
                sums.setdefault(place, []).append((key, whom, regret))
        whole = self.learner.certificate()
        for told in sums.values():
            if all("w" in whom for _, whom, _ in told):
                in_order(sum(regret for _, _, regret in told), whole, w={key: whom["w"] for key, whom, _ in told})
            elif not any(whom for _, whom, _ in told):
                in_order(sum(regret for _, _, regret in told), whole)


class Helped(Own):
    """The same, each key helped by all."""

    pooled = True


class Shards(Plain):
    """Half of the stream on two shards, merged for the rest."""

    def __init__(self, contract: Contract) -> None:
        self.contract, self.learner = contract, None

    def before(self, stream: Stream) -> tuple[list[Round], int]:
        shards, done, half = [self.contract.make() for _ in range(2)], [], len(stream.y) // 2
        for t in range(half):
            shard, weight = shards[t % 2], 1.0 if stream.weight is None else stream.weight[t]
            done.append(Round(stream.x[t], shard.predict(stream.x[t]), stream.y[t], weight))
            shard.update(stream.x[t], stream.y[t], weight)
        self.learner = bk.Merged(shards)
        return done, half


# --- deliveries: each gives the rounds as they were played, in the order of their labels ---------------------------------
Played = list[tuple[int, Round]]


def shown_by(wrap: Plain, t: int, x: Any) -> Any:
    peek = wrap.contract.peek
    return wrap.learner.predict(wrap.row(t, x)) if peek is None else peek(wrap.inside(t), x)


def loop(wrap: Plain, stream: Stream, form: Callable[[Any], Any], start: int) -> Played:
    done = []
    for t in range(start, len(stream.y)):
        weight = 1.0 if stream.weight is None else stream.weight[t]
        done.append((t, Round(stream.x[t], shown_by(wrap, t, form(stream.x[t])), stream.y[t], weight)))
        wrap.learner.update(wrap.row(t, form(stream.x[t])), stream.y[t], weight)
    return done


def saved(wrap: Plain, stream: Stream, form: Callable[[Any], Any], start: int) -> Played:
    half = (start + len(stream.y)) // 2
    first = Stream(stream.x[:half], stream.y[:half], None if stream.weight is None else stream.weight[:half])
    done = loop(wrap, first, form, start)
    wrap.learner = copy.deepcopy(pickle.loads(pickle.dumps(storage.unpack(storage.pack(wrap.learner)))))
    return done + loop(wrap, stream, form, half)


def late(wrap: Plain, stream: Stream, form: Callable[[Any], Any], start: int) -> Played:
    """Labels up to four rounds late and out of order; what was played is overwritten in between."""
    done, waiting = [], []
    for t in range(start, len(stream.y)):
        x = form(stream.x[t])
        row, shown = wrap.row(t, x), shown_by(wrap, t, form(stream.x[t]))
        ticket = wrap.learner.play(row)
        overwrite(x)
        weight = 1.0 if stream.weight is None else stream.weight[t]
        waiting.append((t, ticket.id, Round(stream.x[t], ticket.prediction if wrap.contract.peek is None else shown, stream.y[t], weight)))
        while waiting and (len(waiting) > 4 or t == len(stream.y) - 1 or t % 4 == 2):
            place, id, one = waiting.pop(-1 if t % 2 else 0)
            wrap.learner.reveal(id, one.y, one.weight)
            done.append((place, one))
    return done


def whole(wrap: Plain, stream: Stream, form: Callable[[Any], Any], start: int) -> Played:
    if wrap.contract.peek is not None:
        pytest.skip("a run does not show what its loss is about")
    x = [wrap.row(t, form(one)) for t, one in enumerate(stream.x)][start:]
    weight = None if stream.weight is None else stream.weight[start:]
    said = wrap.learner.run(x, stream.y[start:], weight, trace=3).predictions
    weights = [1.0] * len(x) if weight is None else weight
    return [(start + k, Round(stream.x[start + k], p, stream.y[start + k], weights[k])) for k, p in enumerate(said)]


def sparse(wrap: Plain, stream: Stream, form: Callable[[Any], Any], start: int) -> Played:
    if not isinstance(stream.x[0], np.ndarray) or wrap.contract.peek is not None:
        pytest.skip("its rows are no features")
    X = scipy.sparse.csr_matrix(np.array(stream.x[start:]))
    weight = None if stream.weight is None else stream.weight[start:]
    keys = {} if wrap.row(0, None) is None else {"keys": [wrap.row(t, None)[0] for t in range(start, len(stream.y))]}
    said = wrap.learner.run(X, stream.y[start:], weight, trace=0, **keys).predictions
    weights = [1.0] * len(said) if weight is None else weight
    return [(start + k, Round(stream.x[start + k], p, stream.y[start + k], weights[k])) for k, p in enumerate(said)]


def overwrite(x: Any) -> None:
    if isinstance(x, dict):
        for key in x:
            overwrite(x[key])
        x.update(dict.fromkeys(x, 0.125))
    elif isinstance(x, (list, np.ndarray)):
        x[:] = [77.0] * len(x) if isinstance(x, list) else 77.0
    elif isinstance(x, tuple):
        for part in x:
            overwrite(part)


def held(contract: Contract, rounds: list[Round], certificate: Any) -> None:
    """Every number the certificate tells, about everybody the contract names."""
    assert certificate.rounds == len(rounds)
    asked = 0
    for whom, regret in contract.regrets(rounds, certificate):
        in_order(regret, certificate, **whom)
        asked += 1
    assert asked
    told = [item.value for item in certificate.guarantees[:3] if item.value is not None and item.holds]
    assert told == sorted(told, reverse=True)


# --- the suite -----------------------------------------------------------------------------------------------------------
WRAPS = {"alone": Plain, "own": Own, "helped": Helped, "merged": Shards}
DELIVERIES = (loop, whole, late, saved, sparse)


def dealt() -> list[Any]:
    """Every contract late, alone and in every wrap that takes it; the other deliveries in turn."""
    found = []
    for k, (name, contract) in enumerate(CONTRACTS.items()):
        for j, wrap in enumerate(WRAPS):
            if wrap in ("helped", "merged") and (not answers_with_a_number(contract.make()) or contract.peek is not None):
                continue
            for place, deliver in enumerate(DELIVERIES):
                if deliver is late or (k + j + place) % 3 == 0 or (wrap == "alone" and (k + place) % 2):
                    found.append(pytest.param(contract, WRAPS[wrap], deliver, id=f"{name}-{wrap}-{deliver.__name__}"))
    return found


@pytest.mark.parametrize(("contract", "wrap", "deliver"), dealt())
def test_what_is_printed_is_true(contract: Contract, wrap: Any, deliver: Any) -> None:
    for number in range(2):
        stream = contract.stream(number)
        one = wrap(contract)
        done, start = one.before(stream)
        form = contract.forms[number % len(contract.forms)]
        try:
            played = deliver(one, stream, form, start)
        except bk.BadInput:
            assert number % 2, "an ordinary stream is not refused"  # absurd ones may be, as a whole
            continue
        one.check([*((t, round) for t, round in enumerate(done)), *played])


def test_every_kind_that_is_saved_and_states_a_regret_is_listed() -> None:
    """Wrapped ones are `WRAPS`; audits are held to exact arithmetic in test_learner.py, completion with features in test_described.py; a
    confidence sequence states an interval."""
    elsewhere = {"Keyed", "Merged", "DescribedCompletion"}
    listed = {contract.kind for contract in CONTRACTS.values()} | elsewhere
    assert listed == set(storage.KINDS) - {"Audit", "Confidence"}
    assert {type(contract.make()).__name__ for contract in CONTRACTS.values()} | elsewhere == listed
