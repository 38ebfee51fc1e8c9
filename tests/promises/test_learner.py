"""Learner and Audit: regret ≤ realised ≤ corrected ≤ bound in exact arithmetic, however rows and labels are delivered.

Every function of the catalogue meets a loss or two, every loss five functions; one of each kind of state meets every delivery. Streams are
made to cancel: weights of 1e17 beside light rounds, features of 1e14 beside 1, predictions that are far off.
"""

from __future__ import annotations

import copy
import math
import pickle
import zlib
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from exact import in_order, regret

import burkholder as bk
from burkholder import losses
from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE
from burkholder.storage import pack, unpack

LOSSES = list(losses.LOSSES)
# each pair is machine code of its own: the losses are dealt out in turn, and whatever assumes most of a loss meets them all
PAIRS = [
    (name, loss)
    for place, (name, entry) in enumerate(CATALOGUE.items())
    for loss in (["squared"] if entry.curved else LOSSES if name == "adagrad" else [LOSSES[place % len(LOSSES)]])
]
OPTIONS = {"pinball": {"quantile": 0.8}, "huber": {"threshold": 0.7}, "epsilon-insensitive": {"epsilon": 0.3}}
ROUNDS = 14


def make(name: str, loss: str) -> Any:
    bound = None if losses.LOSSES[loss].classes else 1.0
    return bk.Learner(name, loss=loss, bound=bound, **OPTIONS.get(loss, {}))


def stream(name: str, loss: str, seed: int = 0, wild: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(X, y, weight); wild ones leave every assumption behind, which costs the promise and nothing else."""
    rng = np.random.default_rng(zlib.crc32(f"{name} {loss} {seed}".encode()))
    d = CATALOGUE[name].dims[-1]
    X = rng.standard_normal((ROUNDS, d)) * rng.choice([0.1, 0.3, 1.0], (ROUNDS, 1))
    X[rng.random(X.shape) < 0.2] = 0.0
    weight = rng.choice([0.0, 0.3, 1.0, 1.0], ROUNDS)
    if wild:
        X = X * 10.0 ** rng.integers(-3, 15, (1, d))
        weight[rng.integers(0, ROUNDS // 2)] = 1e17
    else:
        function = make(name, loss).function
        ratio = max((float(np.max(seen)) / limit for seen, limit in function.sizes(X).values()), default=0.0)
        X = X / (1.001 * max(ratio, 1.0))
    y = rng.choice([-1.0, 1.0], ROUNDS) if losses.LOSSES[loss].classes else rng.uniform(-1, 1, ROUNDS)
    return X, y, weight


def comparators(learner: Any, d: int) -> list[np.ndarray]:
    rng = np.random.default_rng(d)
    drawn = 0.999 * learner.function.comparators(rng, 4, d)
    if learner.function.comparator_norm == "w in the simplex":
        drawn = learner.function.comparators(rng, 4, d)
        return [*drawn, np.eye(d)[0]]
    return [np.zeros(d), *drawn]


# --- deliveries: each plays the stream through a fresh learner and returns (learner, predictions in order) -----------
def _loop(learner: Any, X: Any, y: Any, weight: Any, row: Any) -> tuple[Any, list[float]]:
    out = []
    for t in range(len(y)):
        out.append(learner.predict(row(X[t])))
        learner.update(row(X[t]), y[t], weight[t])
    return learner, out


def vectors(learner: Any, X: Any, y: Any, weight: Any) -> Any:
    return _loop(learner, X, y, weight, list)


def dicts(learner: Any, X: Any, y: Any, weight: Any) -> Any:
    return _loop(learner, X, y, weight, lambda x: {f"f{i}": v for i, v in enumerate(x.tolist())})


def sparse_rows(learner: Any, X: Any, y: Any, weight: Any) -> Any:
    return _loop(learner, X, y, weight, lambda x: (np.arange(len(x))[::-1], x[::-1]))


def dense_run(learner: Any, X: Any, y: Any, weight: Any) -> Any:
    return learner, learner.run(X, y, weight, trace=3).predictions


def csr_run(learner: Any, X: Any, y: Any, weight: Any) -> Any:
    return learner, learner.run(scipy.sparse.csr_matrix(X), y, weight, trace=0).predictions


def float32_run(learner: Any, X: Any, y: Any, weight: Any) -> Any:
    return learner, learner.run(scipy.sparse.csr_matrix(X.astype(np.float32)), y, weight, trace=2).predictions


def late(learner: Any, X: Any, y: Any, weight: Any) -> Any:
    """Labels three rounds late, and what was played is overwritten in between."""
    tickets, out = [], []
    for t in range(len(y)):
        x = X[t].copy()
        tickets.append(learner.play(x))
        out.append(tickets[-1].prediction)
        x[:] = 1e9
        if t >= 3:
            learner.reveal(tickets[t - 3].id, y[t - 3], weight[t - 3])
    for t in range(max(0, len(y) - 3), len(y)):
        learner.reveal(tickets[t].id, y[t], weight[t])
    return learner, out


def saved(learner: Any, X: Any, y: Any, weight: Any) -> Any:
    half = len(y) // 2
    learner, first = vectors(learner, X[:half], y[:half], weight[:half])
    learner = copy.deepcopy(pickle.loads(pickle.dumps(unpack(pack(learner)))))
    learner, last = vectors(learner, X[half:], y[half:], weight[half:])
    return learner, [*first, *last]


def merged(learner: Any, X: Any, y: Any, weight: Any) -> Any:
    half, other = len(y) // 2, copy.deepcopy(learner)
    learner, first = vectors(learner, X[:half], y[:half], weight[:half])
    other, last = vectors(other, X[half:], y[half:], weight[half:])
    try:
        return bk.merge(learner, other), [*first, *last]
    except BadInput:
        pytest.skip("its state is not a sum")


DELIVERIES = (vectors, dicts, sparse_rows, dense_run, csr_run, float32_run, late, saved, merged)
KINDS = (
    "square-function",
    "adagrad",
    "square-function-l4",
    "mixture",
    "adaptive-coordinates",
    "experts",
    "strongly-convex",
    "adaptive-mahalanobis",
)


def check(name: str, loss: str, delivery: Any, wild: bool) -> None:
    X, y, weight = stream(name, loss, wild=wild)
    if delivery is float32_run:
        X = X.astype(np.float32).astype(float)
    learner, predictions = delivery(make(name, loss), X, y, weight)
    certificate = learner.certificate()
    rounds = list(zip(X, predictions, y, weight))
    worst = -math.inf
    for w in comparators(learner, X.shape[1]):
        exact = regret(learner.loss, rounds, w)
        in_order(exact, certificate, w={f"f{i}": v for i, v in enumerate(w)} if delivery is dicts else w)
        worst = max(worst, exact)
    in_order(worst, certificate)  # the headline: everyone of the class, w among them
    if not wild and delivery not in (late, merged) and not learner.function.in_expectation:
        assert certificate.valid and certificate.bound() < math.inf


@pytest.mark.parametrize(("name", "loss"), PAIRS)
def test_every_function_keeps_its_word(name: str, loss: str) -> None:
    delivery = (vectors, dense_run)[zlib.crc32(f"{name}{loss}".encode()) % 2]
    for wild in (False, True):
        check(name, loss, delivery, wild)


@pytest.mark.parametrize("delivery", DELIVERIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", [name for name in KINDS if name in CATALOGUE])
def test_every_delivery_keeps_its_word(name: str, delivery: Any) -> None:
    for wild in (False, True):
        check(name, "squared" if CATALOGUE[name].curved else "absolute", delivery, wild)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("geometry", ["l2", "coordinates"])
def test_audits_of_absurd_models_are_true(loss: str, geometry: str) -> None:
    X, y, weight = stream("square-function", loss, seed=1, wild=True)
    yhat = np.random.default_rng(3).standard_normal(ROUNDS) * 10.0 ** np.random.default_rng(4).integers(-3, 18, ROUNDS)
    one, many = bk.Audit(loss, geometry, **OPTIONS.get(loss, {})), bk.Audit(loss, geometry, **OPTIONS.get(loss, {}))
    for t in range(ROUNDS):
        one.update(X[t], yhat[t], y[t], weight[t])
    many.run(X, yhat, y, weight)
    assert np.array_equal(one.sums, many.sums) and np.array_equal(one.ledger, many.ledger)
    whole = unpack(pack(one)).certificate()
    rng = np.random.default_rng(5)
    for w in (np.zeros(X.shape[1]), *rng.uniform(-1, 1, (5, X.shape[1])) / X.shape[1]):
        exact = regret(one.loss, list(zip(X, yhat, y, weight)), w)
        in_order(exact, whole, w=w)
        in_order(exact, whole, radius=1.0)


# --- the attacks that once succeeded, as they were ----------------------------------------------------------------
def test_what_was_played_is_what_is_learned() -> None:
    for x in (np.array([1.0, 2.0]), {"a": 1.0, "b": 2.0}, [1.0, 2.0], (np.array([0, 1]), np.array([1.0, 2.0]))):
        learner, untouched = (bk.Learner("adagrad", loss="absolute", radius=2.0) for _ in range(2))
        for _ in range(5):
            ticket, same = learner.play(x), untouched.play(copy.deepcopy(x))
            fresh = copy.deepcopy(x)
            if isinstance(x, dict):
                x["a"], x["c"] = 100.0, 3.0
            elif isinstance(x, tuple):
                x[1][:] = 100.0
            else:
                x[0] = 100.0
            learner.reveal(ticket.id, 200.0)
            untouched.reveal(same.id, 200.0)
            x = fresh
        probe = {"a": 1.0} if isinstance(x, dict) else [1.0, 0.0]
        assert learner.certificate().realised(probe) == untouched.certificate().realised(probe)


def test_long_light_streams_after_one_heavy_round() -> None:
    learner = bk.Learner("adagrad", loss="absolute", radius=1.0)
    n = 20_000
    X, y, weight = np.full((n, 1), 0.1), np.full(n, 10.0), np.ones(n)
    weight[0] = 1e17
    predictions = learner.run(X, y, weight, trace=0).predictions
    in_order(regret(learner.loss, list(zip(X, predictions, y, weight)), [1.0]), learner.certificate(), w=[1.0])


def test_rounding_is_negligible_on_ordinary_streams() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 20))
    y = np.sign(X @ rng.standard_normal(20) + rng.standard_normal(len(X)))
    for name in ("square-function", "adagrad", "square-function-l4", "adaptive-coordinates"):
        learner = bk.Learner(name, loss="hinge")
        learner.run(X, y, trace=0)
        certificate = learner.certificate()
        plain = certificate.evidence.a + learner.function.support(certificate.evidence.g, certificate.comparators.radius)
        cost = certificate.realised() - plain
        # n² at worst: fifty times the rounds may cost 2500 times as much
        assert 0.0 < cost * 2500 <= 1e-9 * 50 * certificate.cumulative_loss
