"""What Auto prints is true of real numbers: exact regret ≤ realised ≤ corrected ≤ bound, with no tolerance.

Losses of what was shown and of comparators are computed in rational arithmetic (the logistic loss with seventy digits), from
x̂ as it is documented: each feature over its running maximum, which grows tenfold at most at once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from exact import REFERENCE, loss_of

from auto_streams import CLASSES, LOSSES, each_loss
from burkholder import losses
from burkholder.auto import Auto, AutoMulticlass
from burkholder.auto.several import LINEAR, PRIOR


class Stream(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None = None


# --- exact arithmetic -----------------------------------------------------------------------------------------
def exact_loss(loss: str, options: dict[str, float], yhat: Fraction, y: Fraction) -> Fraction:
    """ℓ(ŷ, y) of two fractions."""
    return loss_of(losses.get(loss, **options), yhat, y)


def exact_rows(X: np.ndarray, order: list[int] | None = None) -> list[list[Fraction]]:
    """x̂ with the constant first, rows in the order in which their labels came."""
    heights = [Fraction(0)] * X.shape[1]
    out: list[list[Fraction]] = [[] for _ in X]
    for t in order if order is not None else range(len(X)):
        row = [Fraction(1)]
        for i, x in enumerate(map(Fraction, X[t].tolist())):
            if abs(x) > heights[i]:
                heights[i] = abs(x) if heights[i] == 0 else min(abs(x), 10 * heights[i])
            row.append(max(min(x / heights[i], Fraction(1)), Fraction(-1)) if heights[i] else Fraction(0))
        out[t] = row
    return out


def exact_regret(loss: str, options: dict[str, float], shown: Any, stream: Stream, rows: list[list[Fraction]], u: list[float]) -> Any:
    """Σ weight·(ℓ(ŷ_t, y_t) − ℓ(⟨u, x̂_t⟩, y_t))."""
    exact = list(map(Fraction, u))
    total = Fraction(0)
    for t, row in enumerate(rows):
        w, y = Fraction(1 if stream.weight is None else float(stream.weight[t])), Fraction(float(stream.y[t]))
        more = exact_loss(loss, options, Fraction(float(shown[t])), y) - exact_loss(
            loss, options, sum(a * b for a, b in zip(exact, row)), y
        )
        total += w * (more - REFERENCE)
    return total


# --- streams --------------------------------------------------------------------------------------------------
def labels(loss: str, rng: np.random.Generator, signal: np.ndarray) -> np.ndarray:
    return np.where(signal > 0.0, 1.0, -1.0) if loss in CLASSES else signal


def streams(loss: str) -> Iterator[tuple[str, Stream]]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3)) * rng.choice([0.0, 1.0], p=[0.3, 0.7], size=(60, 3))
    yield "signal", Stream(X, labels(loss, rng, X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=60)))
    jumpy = rng.normal(size=(40, 3)) * np.exp(2.0 * rng.normal(size=(40, 3)))
    yield "no pattern", Stream(jumpy, labels(loss, rng, rng.normal(size=40)))
    yield "weights", Stream(X, labels(loss, rng, X @ [1.0, 1.0, 1.0] + 0.1), np.exp(rng.normal(size=60)))
    heavy = np.ones(30)
    heavy[3] = 1e17
    yield "one heavy round", Stream(X[:30], labels(loss, rng, X[:30] @ [1.0, 0.0, 2.0] + 0.1), heavy)
    uneven = np.column_stack([np.full(50, 0.1), 1e14 * rng.normal(size=50), rng.choice([-1.0, 1.0], size=50)])
    yield "scales apart", Stream(uneven, labels(loss, rng, uneven[:, 2] + 0.1))
    alternating = np.tile([[0.1, 0.3, 0.7]], (60, 1)) * np.where(np.arange(60) % 2, 1.0, -1.0)[:, None]
    yield "alternating", Stream(alternating, labels(loss, rng, np.where(np.arange(60) % 3, 0.1, -0.7)))
    if loss not in CLASSES:
        yield "large offset", Stream(X, 1e9 + X @ [1.0, -2.0, 0.5])
        yield "tiny labels", Stream(X, 1e-130 * (X @ [1.0, -2.0, 0.5] + rng.normal(size=60)))


# --- deliveries: each returns the learner and what it showed, row by row ----------------------------------------
Delivered = tuple[Any, Any, list[int] | None]


def as_loop(make: Callable[[], Any], stream: Stream, rows: list[Any]) -> Delivered:
    learner, shown = make(), []
    for t, x in enumerate(rows):
        shown.append(learner.predict(x))
        learner.update(x, stream.y[t], 1.0 if stream.weight is None else stream.weight[t])
    return learner, shown, None


def dense_loop(make: Any, stream: Stream) -> Delivered:
    return as_loop(make, stream, list(stream.X))


def dict_loop(make: Any, stream: Stream) -> Delivered:
    return as_loop(make, stream, [{f"f{i}": v for i, v in enumerate(row)} for row in stream.X.tolist()])


def csr_run(make: Any, stream: Stream) -> Delivered:
    learner = make()
    return learner, learner.run(sp.csr_matrix(stream.X), stream.y, stream.weight, trace=7).predictions, None


def dense_run(make: Any, stream: Stream) -> Delivered:
    learner = make()
    return learner, learner.run(stream.X, stream.y, stream.weight).predictions, None


def dict_run(make: Any, stream: Stream) -> Delivered:
    learner = make()
    rows = [{f"f{i}": v for i, v in enumerate(row)} for row in stream.X.tolist()]
    return learner, learner.run(rows, stream.y, stream.weight).predictions, None


def chunks(make: Any, stream: Stream) -> Delivered:
    learner, shown = make(), []
    rows = sp.csr_matrix(stream.X)
    for start in range(0, len(stream.y), 17):
        part = slice(start, start + 17)
        weight = None if stream.weight is None else stream.weight[part]
        shown += learner.run_batch(rows[part].indptr, rows[part].indices, rows[part].data, stream.y[part], weight).tolist()
    return learner, shown, None


def saved_midway(make: Any, stream: Stream) -> Delivered:
    learner, half = make(), len(stream.y) // 2
    first, second = slice(0, half), slice(half, None)
    weight = [None, None] if stream.weight is None else [stream.weight[first], stream.weight[second]]
    shown = learner.run(stream.X[first], stream.y[first], weight[0]).predictions.tolist()
    header, arrays = learner.state_dict()
    learner = type(learner).from_state(json.loads(json.dumps(header)), arrays)
    return learner, shown + learner.run(stream.X[second], stream.y[second], weight[1]).predictions.tolist(), None


def late(make: Any, stream: Stream) -> Delivered:
    """Labels come up to nine rounds late, out of order; the rows are changed after they were played."""
    learner, shown, order, waiting = make(), [], [], []
    rng = np.random.default_rng(1)
    for t, x in enumerate(stream.X):
        row = x.copy()
        ticket = learner.play(row)
        row[:] = 1e6
        shown.append(ticket.prediction)
        waiting.append((t, ticket.id))
        while waiting and (len(waiting) > 9 or rng.random() < 0.4 or t == len(stream.X) - 1):
            which, id = waiting.pop(int(rng.integers(len(waiting))))
            learner.reveal(id, stream.y[which], 1.0 if stream.weight is None else stream.weight[which])
            order.append(which)
    return learner, shown, order


DELIVERIES = [dense_loop, dict_loop, csr_run, dense_run, dict_run, chunks, saved_midway, late]


def worst_comparators(loss: str, options: dict[str, float], stream: Stream, rows: list[list[Fraction]], radius: float) -> list[list[float]]:
    """Comparators within the radius that do well: from subgradient steps, and the corners they point to."""
    record, Z = losses.get(loss, **options), np.array([[float(v) for v in row] for row in rows])
    weight = np.ones(len(Z)) if stream.weight is None else np.minimum(stream.weight, 1e3)
    u, found = np.zeros(Z.shape[1]), [np.zeros(Z.shape[1])]
    size, y = np.full(Z.shape[1], 1e-300), stream.y
    for _ in range(60):
        delta = np.array([losses.derivative(record, float(p), float(label)) for p, label in zip(Z @ u, y)]) * weight
        g = delta @ Z
        size = size + g * g
        u = np.clip(u - radius * g / np.sqrt(size), -radius, radius)
        found.append(u)
    return [one.tolist() for one in (found[0], found[-1], radius * np.sign(found[-1]), -radius * np.sign(found[-1]))]


# every loss whole and late; the other deliveries give the same bits, so that two losses each are dealt out in turn
DEALT = [
    (loss, options, deliver)
    for k, (loss, options) in enumerate(LOSSES)
    for place, deliver in enumerate(DELIVERIES)
    if deliver in (dense_run, late) or k in (place % len(LOSSES), (place + 3) % len(LOSSES))
]


@pytest.mark.parametrize(("loss", "options", "deliver"), DEALT, ids=[f"{loss}-{deliver.__name__}" for loss, _, deliver in DEALT])
def test_regret_realised_corrected_bound(loss, options, deliver):
    for name, stream in streams(loss):
        learner, shown, order = deliver(lambda: Auto(loss, **options), stream)
        certificate = learner.certificate()
        assert certificate.rounds == len(stream.y), name
        rows = exact_rows(stream.X, order)
        for scale in (0.0, 0.1, 1.0, 25.0):
            radius = scale * certificate.comparators.radius
            realised, corrected = certificate.realised(radius=radius), certificate.corrected(radius=radius)
            assert realised <= corrected <= certificate.bound(radius=radius), name
            for u in worst_comparators(loss, options, stream, rows, radius):
                regret = exact_regret(loss, options, shown, stream, rows, u)
                alone = certificate.realised(u)
                assert regret <= realised and regret <= alone, (name, scale, float(regret), realised, alone)
                assert alone <= certificate.corrected(u) <= certificate.bound(u), name


def test_realised_is_no_larger_than_it_must_be():
    """Where every loss is linear on the way, convexity loses nothing: realised is the regret, up to the grid of a millionth."""
    n, stream = 200, Stream(np.zeros((200, 1)), np.full(200, 100.0))
    learner = Auto("absolute", low=-100.0, high=100.0)
    shown = learner.run(stream.X, stream.y).predictions
    rows = exact_rows(stream.X)
    for radius in (0.0, 1.0, 50.0):
        regret = exact_regret("absolute", {}, shown, stream, rows, [radius, 0.0])
        assert 0.0 <= Fraction(learner.certificate().realised(radius=radius)) - regret <= 100.0 * n * 2.0**-20
        assert 0.0 <= Fraction(learner.certificate().realised([radius, 0.0])) - regret <= 100.0 * n * 2.0**-20


@each_loss
def test_the_given_range_is_held_to_as_well(loss, options):
    if loss in CLASSES:
        pytest.skip("a range is for regression")
    for name, stream in streams(loss):
        low, high = float(stream.y.min()) - 1.0, float(stream.y.max()) + 1.0
        learner, shown, _ = dense_run(lambda low=low, high=high: Auto(loss, low=low, high=high, **options), stream)
        rows, certificate = exact_rows(stream.X), learner.certificate()
        assert certificate.valid
        for u in worst_comparators(loss, options, stream, rows, certificate.comparators.radius):
            assert exact_regret(loss, options, shown, stream, rows, u) <= certificate.realised(), name


@each_loss
def test_labels_from_far_outside_leave_no_realised_number_but_one_about_labels_as_learned(loss, options):
    if loss in CLASSES:
        pytest.skip("classes are not brought in")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    y = X @ [1.0, 2.0]
    y[20] = 1e9
    learner = Auto(loss, **options)
    shown = learner.run(X, y).predictions
    certificate = learner.certificate()
    assert not certificate.valid and certificate.realised() == certificate.bound() == math.inf
    span = y[:20].max() - y[:20].min()
    y[20] = y[:20].max() + 10.0 * span  # up to rounding: what it was learned as
    told = next(item for item in certificate.others if "labels brought in" in item.name)
    rows, stream = exact_rows(X), Stream(X, y)
    for u in worst_comparators(loss, options, stream, rows, told.comparators.radius):
        assert float(exact_regret(loss, options, shown, stream, rows, u)) <= told.value * (1 + 1e-9)


@each_loss
def test_no_lane_lost_less_than_is_said(loss, options):
    """The aggregate's exact loss is at most any lane's, as reported, plus its cost."""
    for name, stream in streams(loss):
        learner, shown, _ = dense_run(lambda: Auto(loss, **options), stream)
        rows = exact_rows(stream.X)
        lost = exact_regret(loss, options, shown, stream, rows, [0.0] * 4)
        zero = exact_regret(loss, options, [0.0] * len(stream.y), stream, rows, [0.0] * 4)
        nothing = Stream(stream.X, stream.y, stream.weight)
        total = lost - zero + _loss_of_zero(loss, options, nothing)
        for lane in learner.certificate().lanes:
            assert total <= lane.loss + lane.cost, (name, lane.name)


def _loss_of_zero(loss: str, options: dict[str, float], stream: Stream) -> Any:
    total = Fraction(0)
    for t, y in enumerate(stream.y.tolist()):
        w = Fraction(1 if stream.weight is None else float(stream.weight[t]))
        total += w * exact_loss(loss, options, Fraction(0), Fraction(y))
    return total


@pytest.mark.parametrize("loss", ["logistic", "squared", "absolute"])
def test_what_rounding_costs_is_negligible(loss):
    """Against the same certificate without its charges, on a stream whose sums are large: below 1e-9 of the losses."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 10))
    y = X @ rng.normal(size=10) + rng.normal(size=100_000)
    y = np.sign(y) if loss == "logistic" else y
    learner = Auto(loss, full_features=0)
    learner.run(X, y, trace=1)
    certificate = learner.certificate()
    scale = certificate.units[1]
    for lane in certificate.linear:
        radius = certificate.comparators.radius / certificate.units[0]
        push = radius * math.fsum(np.abs(lane.evidence.g))
        plain = lane.evidence.a + push
        assert 0.0 <= (lane.evidence.over(push, radius) - plain) * scale <= 1e-9 * learner.cumulative_loss


# --- several classes --------------------------------------------------------------------------------------------
def test_several_classes_lose_at_most_a_number_more_than_the_best_way():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 4, size=120)
    for weight in (None, rng.random(120), np.exp(rng.normal(size=120))):
        learner, total = AutoMulticlass(), mpmath.mpf(0)
        for t, x in enumerate(X):
            known = learner.predict_proba(x)
            p = known.get(int(y[t]))
            w = 1.0 if weight is None else float(weight[t])
            total += w * (mpmath.log(len(known) + 1) if p is None else -mpmath.log(mpmath.mpf(p)))
            learner.update(x, int(y[t]), w)
        certificate = learner.certificate()
        assert total - min(map(mpmath.mpf, certificate.ways)) <= certificate.realised() <= certificate.corrected() <= certificate.bound()
        assert certificate.valid == (weight is None or weight.max() <= 1.0)
        assert certificate.realised() <= math.log(12.0 / PRIOR[LINEAR]) + 1e-9 or not certificate.valid


def test_every_registered_loss_is_here():
    assert {name for name, _ in LOSSES} == set(losses.LOSSES)
