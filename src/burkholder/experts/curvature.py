"""What a curved loss gives back of a linearised regret: ℓ(q) ≥ ℓ(ŷ) + δ(q−ŷ) + (κ/2)(q−ŷ)², κ its least second derivative anywhere.

Hence Σc(ℓ(ŷ) − ℓ(q)) ≤ Σcδ(ŷ−q) − (κ/2)Σc(ŷ−q)², c the weights and q what a comparator says. With v = (1, ŷ, ŷ−x_1, ŷ−x_2, …), 0 for an
expert asleep, ŷ − q = ⟨u, v⟩ for u = (−constant, 1−Σw, w_1, w_2, …), so that one matrix Σc·vvᵀ answers for all of them.

It is subtracted, so it must not be too large. u = 2⁻⁵³: an entry is a plain sum of n terms, each good to 4u, and wrong by at most
(n+8)u·Σ|terms| ≤ (n+8)u·sqrt(M_ii·M_kk); a quadratic form in m of them, computed, by (2m+8)u·(Σ|u_i|·sqrt(M_ii))² more, and u_i is
good to 4u. A round whose numbers are too large for their squares is left out: what it gives back is not negative.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.learning.rounding import UNIT
from burkholder.machine.compiling import register_jitable

COLUMNS = 128  # so many columns have an entry; comparators beyond them get nothing back
FIXED = 2  # 1 and ŷ
WIDEST, HEAVIEST, UNDERFLOW = 1e70, 1e100, 1e-250  # beyond which a round is left out; and what a product below the floats may hide


def start(columns: int, curved: bool) -> np.ndarray:
    """Σc·vvᵀ of no round, its lower half; of a loss without curvature nothing is kept."""
    size = FIXED + min(columns, COLUMNS)
    return np.zeros((int(curved), size, size))


def grown(apart: np.ndarray, columns: int) -> np.ndarray:
    """The same with room for more columns, each as if it had been asleep so far."""
    more = FIXED + min(columns, COLUMNS) - apart.shape[1]
    return np.pad(apart, [(0, 0), (0, more), (0, more)])


@register_jitable
def book(apart: np.ndarray, full: np.ndarray, yhat: float, weight: float) -> None:
    """Enter a round."""
    if apart.shape[0] == 0:
        return
    v = np.zeros(apart.shape[1])
    v[0], v[1] = 1.0, yhat
    for j in range(v.size - FIXED):
        if not math.isnan(full[j]):
            v[FIXED + j] = yhat - full[j]
    for i in range(v.size):
        if abs(v[i]) > WIDEST or weight > HEAVIEST:
            return
    for i in range(v.size):
        pull = weight * v[i]
        if pull != 0.0:
            for k in range(i + 1):
                apart[0, i, k] += pull * v[k]


class Curved(NamedTuple):
    """What is given back at any comparator; columns are those of the tally, of which `first` stand before the user's."""

    apart: np.ndarray
    half: float  # κ/2
    first: int
    rounds: float

    def back(self, w: np.ndarray, constant: float, rest: float) -> float:
        """A number not above (κ/2)Σc(ŷ−q)², q = Σw_jx_j + constant, w over names, rest = 1 − Σw."""
        columns, size = np.roll(w, self.first), self.apart.shape[1]
        if not len(self.apart) or columns[size - FIXED :].any():
            return 0.0
        u = np.concatenate([[-constant, rest], columns[: size - FIXED]])
        on = u != 0.0
        lower, u = self.apart[0][np.ix_(on, on)], u[on]
        with np.errstate(over="ignore", invalid="ignore"):
            square = float(u @ (np.tril(lower) + np.tril(lower, -1).T) @ u)
            widest = float(np.abs(u) @ np.sqrt(np.diag(lower)))
            hidden = 4.0 * (self.rounds + 2.0 * u.size + 32.0) * UNIT * widest**2
            hidden += UNDERFLOW * self.rounds * float(np.abs(u).sum()) ** 2
            least = self.half * (1.0 - 8.0 * UNIT) * (square - hidden)
        return max(least, 0.0) if math.isfinite(least) else 0.0
