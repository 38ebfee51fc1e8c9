"""Every learner that states a regret, as a contract: how it is made, what it meets, and what its numbers must not be below, exactly.

A new learner is covered by a line in `CONTRACTS`: `test_every_learner.py` then delivers its streams in every way, alone, as one learner a
key (helped by all keys, or not) and merged from shards, and holds each certificate to rational arithmetic without tolerance.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import mpmath
import numpy as np
from exact import REFERENCE, inner, loss_of

import burkholder as bk
from burkholder import losses
from burkholder.opinions.rows import FLOOR

N = 20
OPTIONS = {"pinball": {"quantile": 0.8}, "huber": {"threshold": 0.7}, "epsilon-insensitive": {"epsilon": 0.3}}


class Round(NamedTuple):
    """What was given, what was shown for it, and what it was; in the order in which labels came."""

    x: Any
    shown: Any
    y: Any
    weight: float


class Stream(NamedTuple):
    x: list[Any]
    y: list[Any]
    weight: list[float] | None


Regrets = Iterator[tuple[dict[str, Any], Fraction]]  # whom to ask about, and the regret against it


class Contract(NamedTuple):
    """`peek` says what the loss is about where `predict` does not; such learners are not run in whole streams."""

    kind: str  # its name in a model file
    make: Callable[[], Any]
    stream: Callable[[int], Stream]  # of a number; odd ones leave every assumption behind
    regrets: Callable[[list[Round], Any], Regrets]
    forms: tuple[Callable[[Any], Any], ...] = (copy.deepcopy,)  # ways to write down a row, each time anew
    peek: Callable[[Any, Any], Any] | None = None


def total(rounds: list[Round], one: Callable[[Round], Fraction]) -> Fraction:
    """Σ weight·one(round)."""
    return sum((Fraction(float(r.weight)) * one(r) for r in rounds if r.weight), Fraction(0))


# --- features ----------------------------------------------------------------------------------------------------------
def features(loss: Any, number: int) -> Stream:
    rng = np.random.default_rng(number)
    X = rng.standard_normal((N, 3)) * rng.choice([0.1, 0.5], (N, 1))
    X[rng.random(X.shape) < 0.2] = 0.0
    weight = rng.choice([0.0, 0.3, 1.0, 1.0], N)
    if number % 2:
        X = X * 10.0 ** rng.integers(-3, 15, (1, 3))
        weight[3] = 1e17
    else:
        X /= 1.001 * max(1.0, float(np.linalg.norm(X, axis=1).max()))
    y = rng.choice([-1.0, 1.0], N) if loss.classes else rng.uniform(-1, 1, N)
    return Stream(list(X), y.tolist(), weight.tolist())


AS_ROWS = (lambda x: x.copy(), lambda x: x.tolist(), lambda x: (np.arange(3)[::-1], x[::-1].copy()))


def linear(name: str, loss_name: str) -> Contract:
    options = OPTIONS.get(loss_name, {})
    bound = None if losses.LOSSES[loss_name].classes else 1.0
    loss = losses.get(loss_name, **options)

    def regrets(rounds: list[Round], certificate: Any) -> Regrets:
        function, rng = bk.Learner(name, loss=loss_name, bound=bound, **options).function, np.random.default_rng(5)
        worst = Fraction(-(10**400))
        for w in (np.zeros(3), *(0.999 * function.comparators(rng, 3, 3))):
            found = total(rounds, lambda r: loss_of(loss, r.shown, r.y) - loss_of(loss, inner(w, r.x), r.y) - REFERENCE)  # noqa: B023
            if function.comparator_norm != "‖w‖₂" or np.linalg.norm(w) <= (certificate.comparators.radius or np.inf):
                worst = max(worst, found)  # of the headline's class
            yield {"w": w}, found
        yield {}, worst

    make = partial(bk.Learner, name, loss=loss_name, bound=bound, **options)
    return Contract("Learner", make, partial(features, loss), regrets, AS_ROWS)


def auto(loss_name: str) -> Contract:
    """Constants: the one feature that no scaling changes."""
    options = OPTIONS.get(loss_name, {})
    loss = losses.get(loss_name, **options)

    def regrets(rounds: list[Round], certificate: Any) -> Regrets:
        for c in (0.0, 0.25, -0.7, certificate.comparators.radius or 1.0):
            constant = Fraction(c)
            found = total(rounds, lambda r: loss_of(loss, r.shown, r.y) - loss_of(loss, constant, r.y) - REFERENCE)  # noqa: B023
            yield {"w": [c]}, found
            yield {"radius": abs(c)}, found

    return Contract("Auto", partial(bk.Auto, loss_name, effort="light", **options), partial(features, loss), regrets, AS_ROWS)


# --- forecasts ---------------------------------------------------------------------------------------------------------
def forecasts(loss: Any, number: int) -> Stream:
    rng = np.random.default_rng(number)
    X = rng.normal(size=(N, 3))
    weight = rng.choice([0.0, 0.3, 1.0, 3.7], N)
    y = rng.normal(size=N)
    if number % 2:
        X[:, 0] *= 1e14
        weight[3] = 1e17
    y = np.sign(y) if loss.classes else y
    return Stream([dict(zip("abc", row)) for row in X.tolist()], y.tolist(), weight.tolist())


def experts(method: str, loss_name: str) -> Contract:
    options = OPTIONS.get(loss_name, {})
    loss = losses.get(loss_name, **options)

    def regrets(rounds: list[Round], certificate: Any) -> Regrets:
        for w in ({"a": 1.0}, {"b": 1.0}, {"c": 1.0}, {"a": 0.25, "b": 0.25, "c": 0.5}):
            found = total(
                rounds,
                lambda r: (
                    loss_of(loss, r.shown, r.y)
                    - loss_of(loss, sum((Fraction(s) * Fraction(r.x[k]) for k, s in w.items()), Fraction(0)), r.y)  # noqa: B023
                    - REFERENCE
                ),
            )
            yield {"w": w}, found
            if len(w) == 1:
                yield {}, found

    more = {"rate": 0.3} if method == "ewa" else {}
    make = partial(bk.Experts, loss_name, method=method, **more, **options)
    return Contract("Experts", make, partial(forecasts, loss), regrets, (copy.deepcopy,))


LEVELS = (0.1, 0.5, 0.9)


def crps(shown: Any, y: float) -> Fraction:
    pinball = losses.get("pinball", quantile=0.5)
    parts = (loss_of(pinball._replace(quantile=level), float(p), y) for level, p in zip(LEVELS, shown))
    return Fraction(2, 3) * sum(parts, Fraction(0))


def levels() -> Contract:
    def stream(number: int) -> Stream:
        x, y, weight = forecasts(losses.get("absolute"), number)
        rng = np.random.default_rng(number)
        return Stream([{**row, "b": rng.normal(size=3).tolist()} for row in x], y, weight)

    def regrets(rounds: list[Round], certificate: Any) -> Regrets:
        for name in "abc":
            said = lambda r: r.x[name] if isinstance(r.x[name], list) else [r.x[name]] * 3  # noqa: B023, E731
            found = total(rounds, lambda r: crps(r.shown, r.y) - crps(said(r), r.y))  # noqa: B023
            yield {"w": {name: 1.0}}, found
            yield {}, found

    return Contract("QuantileExperts", partial(bk.Experts, quantiles=LEVELS), stream, regrets, (copy.deepcopy,))


def people(p: np.ndarray) -> list[float]:
    """Made to sum to 1 where rounding them left it."""
    return (p if abs(p.sum() - 1.0) < 1e-6 else p + (1.0 - p.sum()) * np.eye(len(p))[p.argmax()]).tolist()


def opinions(loss: str) -> Contract:
    """Probabilities as people give them: sums a little off, zeros and ones; those below the floor count as it under the log loss."""

    def cost(p: Any, y: int) -> Fraction:
        if loss == "brier":
            return sum(((Fraction(float(v)) - (k == y)) ** 2 for k, v in enumerate(p)), Fraction(0))
        value = -mpmath.log(mpmath.mpf(max(float(p[y]), FLOOR)))
        return Fraction(int(mpmath.nint(value * mpmath.mpf(10) ** 75)), 10**75)

    def stream(number: int) -> Stream:
        rng = np.random.default_rng(number)
        ways = (lambda p: p, lambda p: p * (1.0 + 9e-7 * rng.uniform(-1, 1)), lambda p: np.eye(3)[p.argmax()], lambda p: np.round(p, 2))
        x = [{k: people(ways[rng.integers(4)](rng.dirichlet([0.2] * 3))) for k in "ab"} for _ in range(N)]
        weight = rng.choice([0.0, 0.3, 1.0, 3.7], N)
        if number % 2:
            weight[3] = 1e17
        return Stream(x, rng.integers(0, 3, N).tolist(), weight.tolist())

    def regrets(rounds: list[Round], certificate: Any) -> Regrets:
        for name in "ab":
            found = total(rounds, lambda r: cost([r.shown[k] for k in range(3)], r.y) - cost(r.x[name], r.y) - REFERENCE)  # noqa: B023
            yield {"w": name}, found
            yield {}, found

    forms = (copy.deepcopy, lambda x: {name: dict(enumerate(p)) for name, p in x.items()})
    return Contract("Probabilities", partial(bk.Probabilities, loss, outcomes=(0, 1, 2)), stream, regrets, forms)


# --- bands -------------------------------------------------------------------------------------------------------------
def pinball(level: float, p: Fraction, y: Fraction) -> Fraction:
    tau, gap = Fraction(level), y - p
    return tau * gap if gap >= 0 else (tau - 1) * gap


def bands(kind: str, make: Callable[[], Any]) -> Contract:
    """Around a column of the row, so that the point forecast is known exactly."""

    def stream(number: int) -> Stream:
        rng = np.random.default_rng(number)
        X, weight = rng.normal(size=(3 * N, 2)), rng.choice([0.0, 0.3, 1.0, 3.7], 3 * N)
        y = X[:, 0] + rng.normal(size=3 * N)
        if number % 2:
            y[N:] *= 1e20
        return Stream([{"f": a, "g": b} for a, b in X.tolist()], y.tolist(), weight.tolist())

    def regrets(rounds: list[Round], certificate: Any) -> Regrets:
        aims, unit = certificate.levels.tolist(), Fraction(certificate.unit)
        for shift in (0.0, 0.5, -certificate.radius):
            found = unit * total(
                rounds,
                lambda r: sum(
                    (
                        pinball(level, Fraction(float(p)), Fraction(r.y))
                        - pinball(level, Fraction(r.x["f"]) + Fraction(shift), Fraction(r.y))  # noqa: B023
                        for level, p in zip(aims, r.shown)
                    ),
                    Fraction(0),
                ),
            )
            yield {"w": [shift] * len(aims)}, found
            if abs(shift) <= certificate.radius:
                yield {}, found
        weight = total(rounds, lambda r: Fraction(1))
        for told in certificate.coverages if weight else ():
            if kind == "Intervals":
                seen, aim = total(rounds, lambda r: Fraction(int(r.shown[0] <= r.y <= r.shown[1]))), 0.8
            else:
                aim = told["level"]
                seen = total(rounds, lambda r: Fraction(int(r.y <= r.shown[aims.index(aim)])))  # noqa: B023
            assert abs(seen / weight - Fraction(aim)) <= Fraction(told["coverage_bound"]), told

    return Contract(kind, make, stream, regrets, (copy.deepcopy,))


def sets() -> Contract:
    """The loss is the threshold's, as a quantile of the scores."""

    def stream(number: int) -> Stream:
        rng = np.random.default_rng(number)
        x = [dict(zip("abc", ((1 + rng.multinomial(61, rng.dirichlet([0.2] * 3))) / 64.0).tolist())) for _ in range(3 * N)]
        weight = rng.choice([0.0, 0.3, 1.0, 3.7], 3 * N)
        return Stream(x, ["abc"[k] for k in rng.integers(0, 3, 3 * N)], weight.tolist())

    def regrets(rounds: list[Round], certificate: Any) -> Regrets:
        for u in (0.0, 0.5, 0.9):
            score = lambda r: 1 - Fraction(r.x[r.y])  # noqa: E731
            found = total(rounds, lambda r: pinball(0.8, Fraction(r.shown), score(r)) - pinball(0.8, Fraction(u), score(r)))  # noqa: B023
            yield {"w": [u]}, found

    peek = lambda learner, x: learner._play(learner._read(x))[1].threshold  # noqa: E731
    return Contract("PredictionSets", partial(bk.PredictionSets, 0.8), stream, regrets, (copy.deepcopy,), peek)


# --- matrices and classes ----------------------------------------------------------------------------------------------
def entries(loss_name: str, **options: Any) -> Contract:
    loss = losses.get(loss_name)

    def stream(number: int) -> Stream:
        rng = np.random.default_rng(number)
        size = 1e14 if number % 2 else 1.0
        x = [(int(rng.integers(3)), int(rng.integers(2)), float(rng.choice([1.0, -0.3, 0.1 * size]))) for _ in range(N)]
        return Stream(x, rng.uniform(-1, 1, N).tolist(), None)

    def regrets(rounds: list[Round], certificate: Any) -> Regrets:
        one = np.outer([1.0, -0.5, 0.25], [1.0, -1.0])
        for W in (np.zeros((3, 2)), 0.3 * one, -one):
            found = total(rounds, lambda r: loss_of(loss, r.shown, r.y) - loss_of(loss, Fraction(W[r.x[:2]]) * Fraction(r.x[2]), r.y))  # noqa: B023
            yield {"w": W}, found
            yield {"radius": float(np.linalg.norm(W, "nuc")) * (1 + 1e-12)}, found

    return Contract("MatrixLearner", partial(bk.MatrixLearner, 3, 2, radius=2.0, loss=loss_name, **options), stream, regrets)


def ratings() -> Contract:
    """Comparators are added to the middle of the range under the sign flip."""
    loss = losses.get("absolute")

    def stream(number: int) -> Stream:
        rng = np.random.default_rng(number)
        return Stream([(f"u{rng.integers(3)}", int(rng.integers(2))) for _ in range(N)], rng.choice([1.0, 2.5, 5.0], N).tolist(), None)

    def regrets(rounds: list[Round], certificate: Any) -> Regrets:
        for size in (0.0, 0.3, -1.0):
            w = {(f"u{i}", j): size * a * b for i, a in enumerate((1.0, -0.5, 0.25)) for j, b in enumerate((1.0, -1.0))}
            known = {pair: v for pair, v in w.items() if pair in {r.x for r in rounds}}
            found = total(rounds, lambda r: loss_of(loss, r.shown, r.y) - loss_of(loss, 3 + 2 * Fraction(w[r.x]), r.y))  # noqa: B023
            yield {"w": known}, found

    make = partial(bk.MatrixCompletion, 1, 5, strategy="sign-flip", radius=3.0, loss="absolute")
    return Contract("MatrixCompletion", make, stream, regrets)


def classes() -> Contract:
    """Against the best of its ways to combine, whose losses the certificate tells."""

    def cost(said: dict[Any, float], y: Any) -> Fraction:
        value = mpmath.log(len(said) + 1) if y not in said else -mpmath.log(mpmath.mpf(said[y]))
        return Fraction(int(mpmath.nint(value * mpmath.mpf(10) ** 75)), 10**75)

    def stream(number: int) -> Stream:
        x, _, weight = features(losses.get("absolute"), number)
        return Stream(x, ["abc"[k] for k in np.random.default_rng(number).integers(0, 3, N)], weight)

    def regrets(rounds: list[Round], certificate: Any) -> Regrets:
        yield {}, total(rounds, lambda r: cost(r.shown, r.y) - REFERENCE) - Fraction(min(certificate.ways))

    return Contract("AutoMulticlass", bk.AutoMulticlass, stream, regrets, AS_ROWS, lambda learner, x: learner.predict_proba(x))


# --- the list ----------------------------------------------------------------------------------------------------------
# what needs machine code of its own for each loss meets every loss once, and by a delivery of its turn
CONTRACTS: dict[str, Contract] = {
    **{f"adagrad, {loss}": linear("adagrad", loss) for loss in losses.LOSSES},
    "square function": linear("square-function", "absolute"),
    "strongly convex": linear("strongly-convex", "squared"),
    **{f"auto, {loss}": auto(loss) for loss in losses.LOSSES},
    **{f"experts, {loss}": experts("huber-root", loss) for loss in losses.LOSSES},
    "experts, squint": experts("squint", "absolute"),
    "experts, levels": levels(),
    "probabilities, log": opinions("log"),
    "probabilities, brier": opinions("brier"),
    "intervals": bands("Intervals", partial(bk.Intervals, 0.8, model="f")),
    "quantiles": bands("Quantiles", partial(bk.Quantiles, LEVELS, model="f")),
    "sets": sets(),
    "matrix": entries("absolute"),
    "matrix, tangent": entries("absolute", strategy="tangent"),
    "ratings": ratings(),
    "classes": classes(),
}
