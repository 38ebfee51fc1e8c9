"""The empirical-Bernstein boundary: how far a sum can be from its mean, at every moment at once.

For values x_t no two of which are more than h apart, μ̂_t any guess made from the past within their range, and rates λh < 1,

    F = Σ_k π_k·exp(λ_k Σ(x_t − m_t) − ψ_h(λ_k)·V),   V = Σ(x_t − μ̂_{t−1})²,   ψ_h(λ) = (−ln(1 − λh) − λh)/h²,

has mean at most 1 when m_t is the mean of x_t given the past (`exp(z − ψ(1)d²) ≤ 1 + z` with d = x − μ̂ ≥ −h; the guess drops out,
as the mean of λ(x − μ̂) only makes it smaller). By Ville's inequality F ≥ 1/α happens with probability at most α, ever. A larger h
only lowers F: the range may grow while one goes on, as long as it is known before each value.

Most of the mass is spread evenly over λ itself, as conjugate mixtures have it: a few hundred values need the largest rates. The rest
falls like a power of k, so that a hundred times more values cost only a logarithm.
"""

from __future__ import annotations

import math

import numpy as np

ATOMS = 160
TOP, SHRINK = 0.9, 2.0**-0.25  # the largest rate, times the first range; and from one rate to the next
EVEN = 0.85  # the mass that is even over λ

RATES = TOP * SHRINK ** np.arange(ATOMS)
_TAIL = (0.5 * np.arange(ATOMS) + 4.0) ** -2.0
# rounding never lifts their sum above 1
LOG_MASSES = np.log(EVEN * RATES / RATES.sum() + (1.0 - EVEN) * _TAIL / _TAIL.sum()) - 1e-12


def psi(z: np.ndarray) -> np.ndarray:
    """−ln(1 − z) − z for 0 ≤ z < 1, and infinite beyond; without cancellation for small z.

    >>> np.round(psi(np.array([1e-9, 0.5, 1.0])), 6)
    array([0.      , 0.193147,      inf])
    """
    z = np.asarray(z, float)
    inside = np.where(z < 1.0, z, 0.5)
    small = inside * inside * (0.5 + inside * (1.0 / 3.0 + inside * (0.25 + inside * 0.2 / (1.0 - inside))))  # not below the series
    exact = -np.log1p(-inside) - inside
    return np.where(z < 1.0, np.where(inside < 1e-3, small, exact), np.inf)


def margin(variation: np.ndarray, spread: np.ndarray, first: np.ndarray, alpha: float) -> np.ndarray:
    """d such that |Σ(x_t − m_t)| < d on both sides at once with probability ≥ 1 − alpha; `variation` is V, `spread` the range h now,
    `first` the range at the first value. Never too small: Newton's method comes from above.
    """
    V, h, h1 = (np.asarray(part, float)[..., None] for part in (variation, spread, first))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rate = np.where(h1 > 0.0, RATES / h1, 0.0)
        cost = np.where(h > 0.0, psi(rate * h) / (h * h) * V, 0.0)
        cost = np.where(rate * h < 1.0, cost, np.inf)
        aim = math.log(2.0 / alpha)
        alone = np.where(np.isfinite(cost) & (rate > 0.0), (aim - LOG_MASSES + cost) / rate, np.inf)
        d = np.min(alone, axis=-1, keepdims=True)  # one rate alone is already enough
        for _ in range(30):
            exponent = np.where(np.isfinite(cost), LOG_MASSES + rate * d - cost, -np.inf)
            top = np.max(exponent, axis=-1, keepdims=True)
            part = np.exp(exponent - top)
            total = part.sum(-1, keepdims=True)
            over = top + np.log(total) - aim
            step = over / ((part * rate).sum(-1, keepdims=True) / total)
            d = np.where(step > 0.0, d - step, d)
            if not (step > 1e-9 * d).any():
                break
    d = np.where(h > 0.0, d * (1.0 + 1e-9), 0.0)
    return d[..., 0]
