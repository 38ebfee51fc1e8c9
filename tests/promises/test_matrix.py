"""What the matrix learners print is true: exact regret ≤ realised ≤ corrected ≤ bound, in rational arithmetic, no tolerance.

A `Kind` is all that such a check needs to know of a learner, so that it can be listed beside other learners' kinds.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from exact import loss_of
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder import losses
from burkholder.matrix.completion import MatrixCompletion
from burkholder.matrix.learner import MatrixLearner

SHAPE = (3, 2)
IDS = [(f"u{i}", j) for i in range(SHAPE[0]) for j in range(SHAPE[1])]


class Kind(NamedTuple):
    """A learner, how to draw its rounds, and what its comparators predict at a round."""

    make: Callable[[], Any]
    loss: str
    rounds: Any  # strategy: lists of (x, y)
    comparators: Callable[[Any], list[tuple[Any, float, Callable[[int], Fraction]]]]  # of a played stream: (w, nuclear norm, prediction)


class Played(NamedTuple):
    """A stream as it was played, in the order in which it was learned."""

    x: list[Any]
    y: list[float]
    predictions: list[float]
    base: list[float]


# --- comparators ----------------------------------------------------------------------------------------------------
def matrices(shape: tuple[int, int], size: float) -> list[tuple[np.ndarray, float]]:
    """Rank one, sparse, zero, and of full rank, with a number not below the nuclear norm, from entries that are exact."""
    d1, d2 = shape
    left, right = np.array([1.0, -0.5, 0.25][:d1]), np.array([1.0, -1.0][:d2])
    one = np.outer(left, right)
    single = np.zeros(shape)
    single[0, -1] = -1.0
    full = np.ones(shape)
    full[-1] = [-1.0, 1.0][:d2]
    found = [(np.zeros(shape), 0.0)]
    for W in (one, -one, single, full):
        found.append((size * W, float(np.linalg.norm(size * W, "nuc")) * (1 + 1e-12)))
    return found


def ratings_kind(loss: str = "squared", low: float = 1.0, high: float = 5.0, **options: Any) -> Kind:
    """MatrixCompletion: comparators are added to the bias model, or to the middle of the range under the sign flip."""
    middle, half = (Fraction(low) + Fraction(high)) / 2, (Fraction(high) - Fraction(low)) / 2
    step = (high - low) / 4
    ratings = st.one_of(
        st.sampled_from([low, high, low + step, low + 2 * step]), st.floats(low, high), st.just(float(np.nextafter(low, high)))
    )
    if loss == "logistic":
        ratings = st.sampled_from([low, high])
    default = options.get("strategy") != "sign-flip"

    def comparators(played: Played) -> Any:
        for size in (0.3, 4.0, 1e3):
            for W, nuclear in matrices(SHAPE, size):
                entries = {pair: float(W[int(pair[0][1]), pair[1]]) for pair in IDS}

                def predicted(t: int, entries: Any = entries) -> Fraction:
                    base = Fraction(played.base[t]) if default else middle
                    return base + half * Fraction(entries[played.x[t]])

                yield entries, nuclear, predicted

    options["loss"] = loss
    return Kind(
        lambda: MatrixCompletion(low, high, **options), loss, st.lists(st.tuples(st.sampled_from(IDS), ratings), max_size=25), comparators
    )


def exact(X: Any) -> list[list[Fraction]]:
    """X in rational numbers, as a matrix."""
    if isinstance(X, tuple) and np.ndim(X[0]) == 0:
        dense = [[Fraction(0)] * SHAPE[1] for _ in range(SHAPE[0])]
        dense[X[0]][X[1]] = Fraction(X[2])
        return dense
    if isinstance(X, tuple):
        U, V = X
        return [
            [sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(U[i], V[j])), Fraction(0)) for j in range(SHAPE[1])]
            for i in range(SHAPE[0])
        ]
    X = X.toarray() if hasattr(X, "toarray") else X
    return [[Fraction(float(value)) for value in row] for row in X]


def numbers(sizes: Any) -> Any:
    return st.builds(lambda a, b: a * b, st.sampled_from([1.0, -0.3, 0.1, 0.7]), st.sampled_from(sizes))


def entries(sizes: Any) -> Any:
    return st.tuples(st.integers(0, 2), st.integers(0, 1), numbers(sizes))


def inputs(sizes: Any) -> Any:
    """Every kind of X, at every scale."""
    from scipy.sparse import coo_matrix

    cells = st.lists(numbers(sizes), min_size=6, max_size=6)
    entry = entries(sizes)
    dense = cells.map(lambda c: np.array(c).reshape(SHAPE))
    sparse = entry.map(lambda e: coo_matrix(([e[2]], ([e[0]], [e[1]])), shape=SHAPE))
    pair = cells.map(lambda c: (np.array(c[:3])[:, None], np.array([c[3], 0.5])[:, None]))
    return st.one_of(entry, dense, sparse, pair)


def matrix_kind(loss: str = "absolute", sizes: Any = (1.0, 1e-3, 30.0), shape: Any = SHAPE, **options: Any) -> Kind:
    """MatrixLearner with every kind of X; one larger than SHAPE sees entries of its corner only, and takes them compiled."""
    labels = st.sampled_from([-1.0, 1.0]) if loss == "hinge" else st.one_of(st.sampled_from([-1.0, 0.0, 1.0, 0.1]), st.floats(-1, 1))

    def comparators(played: Played) -> Any:
        exactly = [exact(x) for x in played.x]
        for size in (0.25, 8.0):
            for W, nuclear in matrices(SHAPE, size):

                def predicted(t: int, W: Any = W) -> Fraction:
                    places = itertools.product(range(SHAPE[0]), range(SHAPE[1]))
                    return sum((Fraction(float(W[i, j])) * exactly[t][i][j] for i, j in places), Fraction(0))

                yield np.pad(W, [(0, shape[0] - SHAPE[0]), (0, shape[1] - SHAPE[1])]), nuclear, predicted

    X = inputs(sizes) if shape == SHAPE else entries(sizes)
    return Kind(lambda: MatrixLearner(*shape, loss=loss, **options), loss, st.lists(st.tuples(X, labels), max_size=12), comparators)


FLIP = {"strategy": "sign-flip", "radius": 3.0}
KINDS: dict[str, Kind] = {
    "completion": ratings_kind(),
    "completion, fast": ratings_kind(fast=True),
    "completion, no krylov space": ratings_kind(exact=0),
    "completion, few krylov spaces": ratings_kind(exact=4),
    "completion, awkward range": ratings_kind(low=-0.1, high=0.7),
    "completion, far range": ratings_kind(low=1e15, high=1e15 + 3.0),
    "completion, absolute": ratings_kind("absolute"),
    "completion, pinball": ratings_kind("pinball", low=-0.1, high=0.7),
    "completion, logistic": ratings_kind("logistic", low=-1.0, high=1.0),
    "completion, sign flip": ratings_kind("absolute", **FLIP),
    "completion, sign flip, squared": ratings_kind("squared", low=0.1, high=10.0, **FLIP),
    "completion, doubling": ratings_kind("absolute", rate="doubling", **FLIP),
    "completion, mixture, pinball": ratings_kind("pinball", strategy="sign-flip", rate="mixture"),
    "matrix": matrix_kind(radius=3.0),
    "matrix, krylov": matrix_kind(radius=3.0, method="krylov"),
    "matrix, doubling": matrix_kind(radius=3.0, rate="doubling"),
    "matrix, mixture": matrix_kind(rate="mixture"),
    "matrix, compiled entries": matrix_kind(shape=(60, 10), radius=3.0),
    "matrix, compiled entries, doubling": matrix_kind(shape=(60, 10), radius=3.0, rate="doubling"),
    "matrix, tangent": matrix_kind(radius=3.0, strategy="tangent"),
    "matrix, wild scales": matrix_kind(radius=3.0, sizes=(1.0, 1e14, 1e-14)),
    **{f"matrix, {loss}": matrix_kind(loss, radius=3.0) for loss in ("squared", "huber", "pinball", "epsilon-insensitive", "hinge")},
}
DELIVERIES = ("loop", "run", "late", "saved")


# --- deliveries -----------------------------------------------------------------------------------------------------
def saved(learner: Any) -> Any:
    header, arrays = learner.state_dict()
    return type(learner).from_state(json.loads(json.dumps(header)), arrays)


def deliver(kind: Kind, stream: list[tuple[Any, float]], how: str) -> tuple[Any, Played]:
    """The learner after the stream, and what it played."""
    learner = kind.make()
    x, y = [row for row, _ in stream], [label for _, label in stream]
    if how == "run":
        run = learner.run(x, y)
        return learner, Played(x, y, list(run.predictions), list(run.details.get("bias", ())))
    if how == "loop":
        base, predictions = [], []
        for row, label in stream:
            base.append(_bias(learner, learner._play(learner._read(row))[1]))
            predictions.append(learner.predict(row))
            learner.update(row, label)
        return learner, Played(x, y, predictions, base)
    base, predictions, order = [], [], []
    waiting: list[tuple[Any, int]] = []
    for t, (row, _) in enumerate(stream):
        ticket = learner.play(row)
        base.append(_bias(learner, learner._tickets.look(ticket.id).memo))
        predictions.append(ticket.prediction)
        waiting.append((ticket.id, t))
        if how == "saved" and t == len(stream) // 2:
            learner = saved(learner)
        while waiting and (how != "late" or len(waiting) > 3 or t % 4 == 3):
            id, place = waiting.pop(-1 if t % 2 and how == "late" else 0)
            learner.reveal(id, y[place])
            order.append(place)
    for id, place in waiting:
        learner.reveal(id, y[place])
        order.append(place)
    assert learner.rounds == len(stream) and learner.pending == 0
    return learner, Played(*([column[t] for t in order] for column in (x, y, predictions, base)))


def _bias(learner: Any, memo: Any) -> float:
    """What the bias model said at that play, as a run reports it."""
    return float(learner._shown(np.array(memo[1]))) if isinstance(memo, tuple) and len(memo) > 1 else 0.0


# --- the promises ---------------------------------------------------------------------------------------------------
# every kind late, which is the hardest; a loop gives the bits of a run (below), so that the others are dealt out in turn
DEALT = [(name, how) for k, name in enumerate(KINDS) for place, how in enumerate(DELIVERIES) if how == "late" or k % 3 == place % 3]


@pytest.mark.parametrize(("name", "how"), DEALT)
def test_what_is_printed_is_true(name: str, how: str) -> None:
    kind = KINDS[name]
    loss = partial(loss_of, losses.get(kind.loss))

    @settings(max_examples=12, deadline=None, derandomize=True, database=None)
    @given(kind.rounds)
    def check(stream: Any) -> None:
        learner, played = deliver(kind, stream, how)
        certificate = learner.certificate()
        y = [Fraction(label) for label in played.y]
        paid = sum((loss(Fraction(float(p)), label) for p, label in zip(played.predictions, y)), Fraction(0))
        for w, nuclear, predicted in kind.comparators(played):
            regret = paid - sum((loss(predicted(t), label) for t, label in enumerate(y)), Fraction(0))
            for whom in ({"w": w}, {"radius": nuclear}):
                realised, corrected = certificate.realised(**whom), certificate.corrected(**whom)
                assert regret <= Fraction(realised), (float(regret), realised)
                assert realised <= corrected <= certificate.bound(**whom)
                assert certificate.bound(**whom) == (certificate.bound(nominal=True, **whom) if certificate.valid else np.inf)
        # what was promised bounds nothing once an assumption was violated
        told = [np.inf if g.value is None else g.value for g in certificate.guarantees[:3] if g.holds]  # None: nothing is promised
        assert told == sorted(told, reverse=True) and len(told) == (3 if certificate.valid else 2)
        assert certificate.comparators == certificate.guarantees[2].comparators

    check()


@pytest.mark.parametrize("name", KINDS)
def test_loop_and_run_give_the_same_bits(name: str) -> None:
    kind = KINDS[name]

    @settings(max_examples=6, deadline=None, derandomize=True, database=None)
    @given(kind.rounds)
    def check(stream: Any) -> None:
        loop, played = deliver(kind, stream, "loop")
        whole = kind.make()
        run = whole.run([x for x, _ in stream], [y for _, y in stream], trace=3)
        assert list(run.predictions) == played.predictions
        assert run.learner is whole and run.certificate.to_dict() == loop.certificate().to_dict()
        assert len(run.losses) == whole.rounds and sum(run.losses) == pytest.approx(whole.cumulative_loss, abs=1e-9)
        if stream:
            assert run.mean_loss == pytest.approx(run.certificate.mean_loss, rel=1e-9, abs=1e-12)
            assert run.trace["rounds"][-1] == len(stream)
        many = whole.predict_many([x for x, _ in stream])
        assert [whole.predict(x) for x, _ in stream] == list(many)

    check()


@pytest.mark.parametrize("name", ["completion", "completion, sign flip", "matrix"])
def test_rounding_costs_nothing_on_ordinary_streams(name: str) -> None:
    """The charge stays below 1e-9 of the summed losses: realised is what exact sums give."""
    rng = np.random.default_rng(0)
    kind = KINDS[name]
    learner = kind.make()
    x = [IDS[k] if "completion" in name else (int(k) // 2, int(k) % 2, 1.0) for k in rng.integers(0, 6, 400)]
    y = (rng.uniform(1, 5, 400) if "completion" in name else rng.uniform(-1, 1, 400)).tolist()
    run = learner.run(x, y)
    certificate = run.certificate
    middle = 3.0 if "completion" in name else 0.0
    base = run.details.get("bias", np.full(400, middle))
    error = run.predictions - np.array(y)
    delta = 2 * error if kind.loss == "squared" else np.sign(error)
    assert np.abs(error).min() > 1e-6 or kind.loss == "squared"
    want = float(delta @ (run.predictions - base))
    assert want <= certificate.realised(radius=0.0) <= want + 1e-9 * certificate.cumulative_loss
    G = np.zeros(SHAPE)
    for pair, slope in zip(x, delta):
        G[int(str(pair[0])[-1]), pair[1]] += slope
    half = 2.0 if "completion" in name else 1.0
    exactly = want + half * float(np.linalg.norm(G, 2))
    assert certificate.realised(radius=1.0) == pytest.approx(exactly, rel=1e-9)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_with_factors_what_is_printed_is_true(loss: str) -> None:
    """A stream long enough for the low-rank direction to be fitted and to pay: exact regret to biases plus W, and to biases alone."""
    rng = np.random.default_rng(1)
    p, q = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    i, j = rng.integers(0, 12, 2600), rng.integers(0, 9, 2600)
    clean = (p[i] * q[j]).sum(axis=1) + 0.3 * rng.normal(size=2600)
    y = np.where(clean > 0, 1.0, -1.0) if loss == "logistic" else np.clip(0.5 * clean, -1.0, 1.0)
    learner = MatrixCompletion(-1, 1, loss=loss, exact=300)
    run = learner.run(i.tolist(), j.tolist(), y.tolist())
    assert learner.engine.factors.counts[1] > 1000 and run.losses[1500:].sum() < 0.9 * run.losses[:1100].sum()
    record, labels = losses.get(loss), [Fraction(float(label)) for label in y]
    paid = sum((loss_of(record, Fraction(float(r)), label) for r, label in zip(run.predictions, labels)), Fraction(0))
    certificate = learner.certificate()
    for size in (0.0, 0.25, 1.0):
        W = size * (p @ q.T)
        said = [Fraction(float(b)) + Fraction(float(W[a, c])) for b, a, c in zip(run.details["bias"], i, j)]
        regret = paid - sum((loss_of(record, s, label) for s, label in zip(said, labels)), Fraction(0))
        entries = {(a, c): float(W[a, c]) for a in range(12) for c in range(9)}
        assert regret <= Fraction(certificate.realised(entries)) <= Fraction(certificate.realised(radius=np.linalg.norm(W, "nuc") * 1.0001))
    assert certificate.others[0].value == pytest.approx(1.0 / learner.engine.aim.share) and regret < paid


def test_what_was_played_is_what_is_learned() -> None:
    """Nothing outside can change a play afterwards; late labels void the promise and nothing else."""
    X = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    learner, twin = (MatrixLearner(*SHAPE, radius=3.0) for _ in range(2))
    for one in (learner, twin):
        one.update((0, 0), 1.0)
    ticket, other = learner.play(X), twin.play(X.copy())
    X[:] = 100.0
    learner.update((1, 1), -1.0)
    twin.update((1, 1), -1.0)
    learner.reveal(ticket.id, 0.5)
    twin.reveal(other.id, 0.5)
    assert learner.certificate().to_dict() == twin.certificate().to_dict()
    assert not learner.certificate().valid and learner.certificate().bound() == np.inf
    assert "VIOLATED 1 times: each label arrives" in str(learner.certificate())
