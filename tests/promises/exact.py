"""Losses, regrets and inner products in exact arithmetic: what certificates are held to, without tolerance."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from burkholder import losses

mpmath.mp.dps = 80
REFERENCE = Fraction(1, 10**70)  # what eighty digits leave of a logarithm


def _pinball(loss: Any, p: Fraction, y: Fraction) -> Fraction:
    q = Fraction(loss.quantile)
    return q * (y - p) if y >= p else (1 - q) * (p - y)


def _huber(loss: Any, p: Fraction, y: Fraction) -> Fraction:
    r, k = abs(p - y), Fraction(loss.threshold)
    return r * r / 2 if r <= k else k * (r - k / 2)


def _logistic(loss: Any, p: Fraction, y: Fraction) -> Fraction:
    m = -y * p
    if m > 200:  # the logarithm is m up to e^-200
        return m
    value = mpmath.log1p(mpmath.exp(mpmath.mpf(m.numerator) / mpmath.mpf(m.denominator)))
    return Fraction(int(mpmath.nint(value * mpmath.mpf(10) ** 75)), 10**75)


EXACT = {
    "absolute": lambda loss, p, y: abs(p - y),
    "squared": lambda loss, p, y: (p - y) ** 2,
    "huber": _huber,
    "pinball": _pinball,
    "epsilon-insensitive": lambda loss, p, y: max(abs(p - y) - Fraction(loss.epsilon), Fraction(0)),
    "hinge": lambda loss, p, y: max(Fraction(0), 1 - y * p),
    "logistic": _logistic,
}


def test_every_named_loss_has_its_exact_twin() -> None:
    assert set(EXACT) == set(losses.LOSSES)
    rng = np.random.default_rng(0)
    for name, twin in EXACT.items():
        loss = losses.get(name)
        for yhat, y in rng.standard_normal((50, 2)) * 3:
            label = float(np.sign(y)) if loss.classes else float(y)
            near = float(twin(loss, Fraction(float(yhat)), Fraction(label)))
            assert abs(near - losses.value(loss, float(yhat), label)) <= 1e-14 * (1 + near)


def loss_of(loss: Any, prediction: Any, y: Any) -> Fraction:
    """ℓ(prediction, y), exactly (to seventy digits for logarithms)."""
    return EXACT[loss.name](loss, Fraction(prediction), Fraction(y))


def inner(w: Any, x: Any) -> Fraction:
    """⟨w, x⟩, exactly."""
    return sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(w, x)), Fraction(0))


def regret(loss: Any, rounds: list[tuple[Any, float, float, float]], w: Any) -> Fraction:
    """Σ weight·[ℓ(ŷ, y) − ℓ(⟨w, x⟩, y)] over rounds (x, ŷ, y, weight)."""
    total = Fraction(0)
    for x, yhat, y, weight in rounds:
        total += Fraction(float(weight)) * (loss_of(loss, float(yhat), float(y)) - loss_of(loss, inner(w, x), float(y)))
    return total - (REFERENCE * len(rounds) if loss.name == "logistic" else 0)


def in_order(regret: Fraction, certificate: Any, **whom: Any) -> None:
    """regret ≤ realised ≤ corrected ≤ bound, without tolerance."""
    realised, corrected, bound = (getattr(certificate, name)(**whom) for name in ("realised", "corrected", "bound"))
    assert not any(number != number for number in (realised, corrected, bound))
    assert realised == float("inf") or regret <= Fraction(realised), (float(regret), realised)
    assert realised <= corrected <= bound
