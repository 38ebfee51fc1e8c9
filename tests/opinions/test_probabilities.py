"""Combined probabilities: the two losses are mixed as promised, and every printed number is true in real arithmetic."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput
from burkholder.opinions import book as books
from burkholder.opinions import mixing, pools

LOSSES = tuple(mixing.LOSSES)
each_loss = pytest.mark.parametrize("loss", LOSSES)


def exact_loss(loss: str, p: Any, y: int) -> Any:
    """ℓ(p, y) of these very doubles: a fraction, or sixty digits."""
    if loss == "brier":
        return sum((Fraction(float(v)) - (k == y)) ** 2 for k, v in enumerate(p))
    return -mpmath.log(mpmath.mpf(float(p[y])))


def total(loss: str, terms: Any) -> Any:
    return sum(terms, Fraction(0) if loss == "brier" else mpmath.mpf(0))


def streams(seed: int) -> tuple[np.ndarray, list[int], np.ndarray]:
    """A short hostile stream: certain experts that are wrong, tiny probabilities, sleep, weights of every size."""
    rng = np.random.default_rng(seed)
    n, d, outcomes = 40, 3, int(rng.integers(2, 5))
    X = rng.dirichlet(np.full(outcomes, rng.choice([0.02, 0.3, 3.0])), size=(n, d))
    y = [int(rng.choice(outcomes, p=X[t, rng.integers(d)])) for t in range(n)]
    if seed % 2:  # what happens is what our mixture thinks least of
        learner = bk.Probabilities("log", outcomes=range(outcomes))
        for t in range(n):
            p = learner.predict(X[t])
            y[t] = min(p, key=p.get)
            learner.update(X[t], y[t])
    X[rng.random((n, d)) < 0.15] = math.nan
    weights = 10.0 ** rng.uniform(-3, 3, n) if seed % 3 else np.where(rng.random(n) < 0.05, 1e17, 1e-3)
    return X, y, weights


@each_loss
@pytest.mark.parametrize("late", [0, 3])
@pytest.mark.parametrize("seed", range(12))
def test_printed_numbers_are_true_in_real_arithmetic(loss: str, late: int, seed: int) -> None:
    X, y, weights = streams(seed)
    learner = bk.Probabilities(loss, outcomes=range(X.shape[2]))
    rounds, waiting = [], []
    with mpmath.workdps(60):
        for t in range(len(y)):
            ticket = learner.play(X[t])
            rounds.append(learner._tickets.look(ticket.id).memo)
            waiting.append((ticket.id, t))
            if len(waiting) > late:
                id, s = waiting.pop(0)
                learner.reveal(id, y[s], weights[s])
        for id, s in waiting:
            learner.reveal(id, y[s], weights[s])
        certificate = learner.certificate()
        exact_weights = [Fraction(float(w)) if loss == "brier" else mpmath.mpf(float(w)) for w in weights]
        order = np.roll(np.arange(pools.COUNT + X.shape[1]), -pools.COUNT)  # the certificate tells the user's experts first

        def said(t: int, column: int) -> np.ndarray:
            full, p = rounds[t]
            return p if math.isnan(full[column, 0]) else full[column]

        worst = None
        for name, column in zip(certificate.names, order.tolist()):
            regret = total(
                loss,
                (w * (exact_loss(loss, rounds[t][1], y[t]) - exact_loss(loss, said(t, column), y[t])) for t, w in enumerate(exact_weights)),
            )
            assert regret <= certificate.realised(name) <= certificate.corrected(name) <= certificate.bound(name)
            worst = regret if worst is None else max(worst, regret)
        assert worst <= certificate.realised() <= certificate.corrected()
        for mixture in ([0.5, 0.5, 0.0], [0.2, 0.3, 0.5]):
            shares = [Fraction(s) if loss == "brier" else mpmath.mpf(s) for s in mixture]
            norm = sum(shares)

            def blended(t: int, shares: Any = shares, norm: Any = norm) -> list[Any]:
                rows = [said(t, pools.COUNT + j) for j in range(3)]
                convert = (lambda v: Fraction(float(v))) if loss == "brier" else (lambda v: mpmath.mpf(float(v)))
                return [sum(s * convert(row[k]) for s, row in zip(shares, rows)) / norm for k in range(X.shape[2])]

            def loss_of(p: Any, t: int) -> Any:
                if loss == "brier":
                    return sum((v - (k == y[t])) ** 2 for k, v in enumerate(p))
                return -mpmath.log(p[y[t]])

            regret = total(loss, (w * (exact_loss(loss, rounds[t][1], y[t]) - loss_of(blended(t), t)) for t, w in enumerate(exact_weights)))
            assert regret <= certificate.realised(dict(zip(certificate.names, mixture)))


@each_loss
def test_the_promise_is_not_larger_than_it_must_be(loss: str) -> None:
    """Labels chosen against the mixture bring the regret to within a factor of what is promised; it is logarithmic in the experts."""
    learner = bk.Probabilities(loss)
    X = np.eye(2)[[[j >> t & 1 for j in range(16)] for t in range(4)]] * 0.98 + 0.01  # every sequence of four is somebody's
    for t in range(4):
        p = learner.predict(X[t])
        learner.update(X[t], min(p, key=p.get))
    certificate = learner.certificate()
    assert certificate.bound() == pytest.approx(math.log(4 * (16 + pools.COUNT)))
    assert certificate.realised() > 0.4 * certificate.bound()


@each_loss
def test_what_is_played_beats_the_exponential_mean_whatever_happens(loss: str) -> None:
    rng, kind = np.random.default_rng(3), mixing.LOSSES[loss]
    for _ in range(300):
        d, outcomes = int(rng.integers(1, 6)), int(rng.integers(2, 6))
        said = rng.dirichlet(np.full(outcomes, rng.choice([0.1, 1.0])), size=d) * (1 - outcomes * 1e-9) + 1e-9
        weights, p = rng.dirichlet(np.ones(d)), np.empty(outcomes)
        mixing.mixed(kind, weights, said, p)
        assert p.sum() == pytest.approx(1.0, abs=1e-12) and (p >= 0.0).all()
        for y in range(outcomes):
            mean = sum(w * math.exp(-float(exact_loss(loss, q, y))) for w, q in zip(weights, said))
            assert math.exp(-float(exact_loss(loss, p, y))) >= mean * (1.0 - 1e-12)


@each_loss
def test_sequences_of_experts_are_bounded_too(loss: str) -> None:
    rng = np.random.default_rng(5)
    X, learner = rng.dirichlet([0.3, 0.3], size=(7, 2)), bk.Probabilities(loss)
    y = [int(np.argmax(X[t, t // 4])) for t in range(7)]
    run = learner.run(X, y)
    certificate, own = learner.certificate(), math.fsum(run.losses)
    paid = [[float(exact_loss(loss, np.maximum(X[t, j], 1e-9), y[t])) for j in range(2)] for t in range(7)]
    for path in itertools.product(range(2), repeat=7):
        switches = sum(a != b for a, b in zip(path, path[1:]))
        assert own - math.fsum(paid[t][j] for t, j in enumerate(path)) <= certificate.tracking(switches)


def test_a_pool_learns_to_sharpen_and_outplays_every_expert() -> None:
    """Experts that are too timid, in the same way: no mixture of them is right, their pool is."""
    rng = np.random.default_rng(7)
    truth = rng.dirichlet([0.5, 0.5, 0.5], size=3000)
    timid = truth**0.4 * np.exp(0.2 * rng.normal(size=truth.shape))
    other = truth**0.4 * np.exp(0.2 * rng.normal(size=truth.shape))
    X = np.stack([p / p.sum(1, keepdims=True) for p in (timid, other)], axis=1)
    y = [int(rng.choice(3, p=p)) for p in truth]
    for loss in LOSSES:
        learner = bk.Probabilities(loss)
        run = learner.run(X, y)
        paid = [np.mean([float(exact_loss(loss, X[t, j], y[t])) for t in range(3000)]) for j in range(2)]
        assert run.mean_loss < 0.95 * min(paid)
        assert max(learner.weights(), key=learner.weights().get) in pools.NAMES[pools.FIRST_POOL :]


def test_rows_may_be_written_in_many_ways() -> None:
    named = bk.Probabilities(outcomes=("no", "yes"))
    for row in ({"a": 0.3}, {"a": [0.7, 0.3]}, {"a": {"yes": 0.3, "no": 0.7}}, {"a": np.array([0.7, 0.3])}):
        assert named.predict(row) == pytest.approx({"no": 0.7, "yes": 0.3})
    named.update({"a": 0.3}, "yes")
    named.update({"a": 0.3, "late": [0.1, 0.9]}, "yes")
    assert named.names == ("a", "late") and set(named.weights()) == {"a", "late", *pools.NAMES}
    assert named.weights({"late": 0.4})["a"] == 0.0
    odds = bk.Probabilities(odds=True, outcomes=("H", "D", "A"))
    assert odds.predict({"b": [2.0, 4.0, 4.0]}) == pytest.approx({"H": 0.5, "D": 0.25, "A": 0.25})
    assert odds.predict({"b": [1.9, 3.8, 3.8]}) == pytest.approx({"H": 0.5, "D": 0.25, "A": 0.25})  # the overround is taken out
    assert odds.predict({}) == pytest.approx(dict.fromkeys("HDA", 1 / 3))


@pytest.mark.parametrize(
    ("options", "row", "argument"),
    [
        ({}, {"a": [0.5, 0.6]}, "x['a']"),
        ({}, {"a": [0.5]}, "x['a']"),
        ({}, {}, "x"),
        ({}, [], "x"),
        ({"outcomes": ("H", "D", "A")}, {"a": {"H": 1.0, "B": 0.0, "A": 0.0}}, "x['a']"),
        ({"odds": True}, {"a": [0.5, 2.0]}, "x['a']"),
        ({"odds": True}, {"a": 2.0}, "x['a']"),
        ({}, {"a": "heads"}, "x['a']"),
    ],
)
def test_what_is_no_row_is_refused_by_name(options: dict[str, Any], row: Any, argument: str) -> None:
    learner = bk.Probabilities(**options)
    with pytest.raises(BadInput) as caught:
        learner.predict(row)
    assert caught.value.argument == argument


def test_options_are_checked() -> None:
    for bad in ({"loss": "logg"}, {"loss": 3}, {"outcomes": ("a",)}, {"outcomes": ("a", "a")}, {"outcomes": "ab"}, {"odds": 1}):
        with pytest.raises(BadInput):
            bk.Probabilities(**bad)
    with pytest.raises(BadInput, match="did you mean 'brier'"):
        bk.Probabilities("brierr")


def test_spoiled_states_are_refused() -> None:
    learner = bk.Probabilities("brier")
    X = np.random.default_rng(2).dirichlet([1.0, 1.0, 1.0], size=(30, 2))
    learner.run(X, [0, 1, 2] * 10)
    learner.play(X[0])
    header, arrays = learner.state_dict()
    for key in arrays:
        for spoil in (lambda a: a * math.nan, lambda a: a[..., :-1], lambda a: a - 1e9, lambda a: a.astype(np.float32)):
            spoiled = {**arrays, key: spoil(arrays[key].copy())}
            if key.endswith("said") and np.isnan(spoiled[key]).all():
                continue  # everybody may have been asleep
            with pytest.raises(BadInput):
                bk.Probabilities.from_state(header, spoiled)
    for key, value in (("outcomes", [0, 1]), ("names", ["0"]), ("loss", "hinge"), ("version", 1), ("outcomes", [0, 0, 1])):
        with pytest.raises(BadInput):
            bk.Probabilities.from_state({**header, key: value}, arrays)


def test_experts_met_late_have_played_the_mixture_before() -> None:
    learner = bk.Probabilities()
    learner.update({"a": [0.5, 0.5]}, 0)
    ticket = learner.play({"a": [0.9, 0.1]})
    learner.update({"b": [0.2, 0.8], "a": [0.6, 0.4]}, 1)
    learner.reveal(ticket.id, 0)
    assert learner.names == ("a", "b") and learner._book.awake[pools.COUNT :].tolist() == [3.0, 1.0]
    assert learner.certificate().rounds == 3 and learner._book.totals[books.LATE] == 1.0


@each_loss
@pytest.mark.parametrize("odds", [False, True])
def test_experts_are_judged_by_what_they_said(loss: str, odds: bool) -> None:
    """Sums a little off 1, zeros and ones, decimal odds: the regret to the numbers as they were given, in sixty digits."""
    rng = np.random.default_rng(5)
    learner = bk.Probabilities(loss, odds=odds, outcomes=range(3))
    given, shown, labels = [], [], []
    for t in range(60):
        p = rng.dirichlet([0.3] * 3, size=2)
        p[0] = np.eye(3)[t % 3] if t % 2 else p[0] * (1.0 + 9e-7)
        p = np.round(1.0 / np.clip(p, 0.01, 0.95), 2) if odds else p
        labels.append(int(t % 3 if t % 4 else rng.integers(3)))
        row = {"a": p[0].tolist(), "b": p[1].tolist()}
        said = learner.predict(row)
        learner.update(row, labels[-1])
        given.append(p)
        shown.append([said[k] for k in range(3)])
    certificate = learner.certificate()
    with mpmath.workdps(60):

        def cost(p: list[Any], y: int) -> Any:
            if loss == "brier":
                return sum((v - (k == y)) ** 2 for k, v in enumerate(p))
            return -mpmath.log(max(p[y], mpmath.mpf(1e-9)))

        def meant(p: Any) -> list[Any]:
            numbers = [1 / mpmath.mpf(float(v)) if odds else mpmath.mpf(float(v)) for v in p]
            return [v / sum(numbers) for v in numbers] if odds else numbers

        paid = sum(cost([mpmath.mpf(v) for v in p], y) for p, y in zip(shown, labels))
        for j, name in enumerate("ab"):
            regret = paid - sum(cost(meant(p[j]), y) for p, y in zip(given, labels))
            assert regret <= certificate.realised(name) <= certificate.corrected(name) <= certificate.bound(name)
        even = [[(x + z) / 2 for x, z in zip(meant(p[0]), meant(p[1]))] for p in given]
        assert paid - sum(cost(p, y) for p, y in zip(even, labels)) <= certificate.realised({"a": 0.5, "b": 0.5})
        steps = [min(cost(meant(p[j]), y) for j in (0, 1)) for p, y in zip(given[:5], labels[:5])]
        best = sum(steps) + sum(cost(meant(p[0]), y) for p, y in zip(given[5:], labels[5:]))
        assert paid - best <= certificate.promise.tracking(5, 60.0)
