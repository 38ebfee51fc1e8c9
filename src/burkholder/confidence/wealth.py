"""The boundary of a mean in a known range: many small bets at once, each linear in the mean.

For values x_t in [0, 1], μ̂_t any guess made from the past within [0, 1], and a rate 0 < λ < 1,

    E[1 ± λ(x_t − μ̂_t)] = 1 ± λ(m_t − μ̂_t),   and   Π(1 ± λ(m_t − μ̂_t)) ≤ (1 ± λ(m − μ))ⁿ

by concavity of the logarithm, m_t being the mean of x_t given the past, m and μ the averages of m_t and μ̂_t. So what
Π(1 ± λ(x_t − μ̂_t))/(1 ± λ(m − μ))ⁿ is no larger than does not grow in mean, and neither does a mixture over rates; by Ville's inequality it
ever reaches 2/α with probability at most α/2. What is kept is the logarithm of each product: as ln(1 + z) ≥ z − ψ(λ)d² for
z = λd ≥ −λ, no atom is below that of the empirical-Bernstein boundary (`boundary.py`), and with few values it is far above. The
unknown means enter through their average alone, so they may change, and one end is one root.

Most of the mass is even over λ, as conjugate mixtures have it, on rates that lie closer together where they are large. A quarter is the
largest rate's alone: while an event was not seen, or hardly, no other bet gains as much. The rest falls like a power of k, so that a
hundred times more values cost only a logarithm.
"""

from __future__ import annotations

import math

import numpy as np

from burkholder.learning.rounding import UNIT

ATOMS, CLOSE = 50, 10  # rates, and how many of them lie close together
TOP, NEAR, FAR = 0.93, 2.0**-0.25, 2.0**-0.5  # the largest rate, and from one rate to the next: there, and elsewhere
ALONE, EVEN = 0.25, 0.72  # the masses that are the largest rate's alone, and even over λ

RATES = TOP * np.cumprod([1.0] + [NEAR] * (CLOSE - 1) + [FAR] * (ATOMS - CLOSE))
_EDGES = np.concatenate([[1.0], np.sqrt(RATES[:-1] * RATES[1:]), [0.0]])
_TAIL = (np.arange(ATOMS) + 4.0) ** -2.0
# rounding never lifts their sum above 1
LOG_MASSES = np.log(ALONE * (RATES == TOP) - EVEN * np.diff(_EDGES) + (1.0 - ALONE - EVEN) * _TAIL / _TAIL.sum()) - 1e-12
_STEEP = -np.log1p(-RATES) + RATES / (1.0 - RATES)  # the largest logarithm of a bet, and how steeply it follows its value


def bets(values: np.ndarray, guesses: np.ndarray) -> np.ndarray:
    """What every atom's logarithm gains from values in [0, 1]: (2, atoms, …), bets on more than the guess, and on less."""
    gone = np.multiply.outer(RATES, values - guesses)
    return np.log1p(np.stack([gone, -gone]))


def reach(logs: np.ndarray, count: np.ndarray, alpha: float) -> np.ndarray:
    """z such that a side's mixture, logs given, is at its limit where the mean is z beyond the mean guess; rounding charged.

    `logs` has its atoms in the first axis. Newton's method on a convex function comes from above: never too small. 1 is as
    far as a mean can be.
    """
    n = np.maximum(count, 1.0)
    rate, mass, steep = (part.reshape(-1, *[1] * np.ndim(count)) for part in (RATES, LOG_MASSES, _STEEP))
    sure = mass + logs - 4.0 * UNIT * (n + 4.0) ** 2 * steep  # n terms, each a logarithm known but for rounding
    aim = math.log(2.0 / alpha)
    z = np.minimum(np.min(-np.expm1((sure - aim) / n) / rate, axis=0), 1.0)  # one rate alone is already enough
    for _ in range(60):
        exponent = sure - n * np.log1p(-rate * z)
        top = exponent.max(axis=0)
        part = np.exp(exponent - top)
        total, pull = _sum(part), _sum(part * rate / (1.0 - rate * z))
        step = (top + np.log(total) - aim) * total / (n * pull)
        z = np.where(step > 0.0, z - step, z)
        if not (step * n > 1e-9 * (1.0 + n * np.abs(z))).any():
            break
    return np.minimum(z + 1e-8 * (1.0 / n + np.abs(z)), 1.0)


def _sum(parts: np.ndarray) -> np.ndarray:
    """Over the first axis, one after the other: one stream or many, the same bits."""
    if parts[0].size < 64:  # many short steps
        return np.cumsum(parts, axis=0)[-1]
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
