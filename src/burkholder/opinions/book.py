"""Everything that changes in `Probabilities`, in arrays, and one round of it: forecasts in, p̂ out, what happened, learned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burkholder.learning.rounding import two_sum
from burkholder.machine.compiling import compiled
from burkholder.opinions import mixing, pools

ROUNDS, LOSS, LOSS_REST, WEIGHT, WEIGHT_REST, LATE, HEAVIEST, SILENT, TOTALS = range(9)
SUM, REST, SIZE = range(3)  # a sum, its correction, the sum of sizes
SHARES = np.array([0.0, 1e-3, 1e-2, 1e-1])


class Book(NamedTuple):
    """Columns are the made experts, then the user's."""

    log_w: np.ndarray  # shares × columns
    regret: np.ndarray  # (sum, rest, size) × columns: Σ weight·(ℓ(p̂) − ℓ(p_j))
    gain: np.ndarray  # the same of the slopes, for mixtures
    short: np.ndarray  # (alone, in mixtures) × columns: Σ weight·what each may have lost by how it was read; plain sums
    awake: np.ndarray  # rounds in which each said something
    means: np.ndarray
    covariances: np.ndarray
    totals: np.ndarray


def start(experts: int, outcomes: int) -> Book:
    """Nothing seen: every weight is 1."""
    columns = pools.COUNT + experts
    means, covariances = pools.start(experts, outcomes)
    return Book(
        np.zeros((SHARES.size, columns)),
        np.zeros((3, columns)),
        np.zeros((3, columns)),
        np.zeros((2, columns)),
        np.zeros(columns),
        means,
        covariances,
        np.zeros(TOTALS),
    )


def grown(book: Book, experts: int, outcomes: int) -> Book:
    """Room for more experts, who slept so far: they played p̂, and their weight is 1."""
    old, fresh = book.awake.size, start(experts, outcomes)
    for new, was in zip(fresh[:5], book[:5]):
        new[..., :old] = was
    means, covariances = pools.wider(book.means, book.covariances, experts, outcomes)
    return fresh._replace(means=means.copy(), covariances=covariances.copy(), totals=book.totals.copy())


def copied(book: Book) -> Book:
    return Book(*(array.copy() for array in book))


@compiled
def play(book, kind, floor, forecasts, weights, out):
    """Fill in what the made experts say, then p̂; where nobody says anything, all outcomes alike."""
    phi = np.empty((book.means.shape[1], out.size))
    pools.fill(book.means, forecasts, phi, floor)
    if mixing.shares_of(book.log_w, forecasts, weights):
        mixing.mixed(kind, weights, forecasts, out)
    else:
        out[:] = 1.0 / out.size


@compiled
def added(sums, column, term, size):
    """One more term of a sum kept with its correction and its size."""
    sums[0, column], rest = two_sum(sums[0, column], term)
    sums[1, column] += rest
    sums[2, column] += size


@compiled
def shorten(book, kind, forecasts, short, p, y, weight):
    """Enter what reading may have cost each expert in this round."""
    for j in range(short.size):
        if short[j] > 0.0:
            book.short[0, j] += weight * short[j]
            book.short[1, j] += weight * mixing.shortfall(kind, p, forecasts[j], y, short[j])


@compiled
def learn(book, shares, drifts, kind, floor, forecasts, p, y, weight, late):
    """What happened, after p was played on these forecasts; the loss of p."""
    own = mixing.paid(kind, p, y)
    totals, columns = book.totals, book.awake.size
    heaviest = max(totals[HEAVIEST], 1.0)
    if weight > heaviest:
        book.log_w[:, :] *= heaviest / weight
        heaviest = weight
    change = np.zeros(columns)
    silent = True
    for j in range(columns):
        if not np.isnan(forecasts[j, 0]):
            silent = False
            theirs = mixing.paid(kind, forecasts[j], y)
            change[j] = (weight / heaviest) * (own - theirs)
            added(book.regret, j, weight * (own - theirs), weight * (own + theirs))
            slope, size = mixing.gain(kind, p, forecasts[j], y)
            added(book.gain, j, weight * slope, weight * size)
            book.awake[j] += 1.0
    mixing.reweighed(book.log_w, shares, forecasts, change)
    phi = np.empty((book.means.shape[1], p.size))
    pools.follow(book.means, book.covariances, drifts, forecasts, phi, floor, y, min(weight, 1.0))
    totals[ROUNDS] += 1.0
    totals[LATE] += 1.0 if late > 0 else 0.0
    totals[SILENT] += 1.0 if silent else 0.0
    totals[HEAVIEST] = max(totals[HEAVIEST], weight)
    totals[LOSS], rest = two_sum(totals[LOSS], weight * own)
    totals[LOSS_REST] += rest
    totals[WEIGHT], rest = two_sum(totals[WEIGHT], weight)
    totals[WEIGHT_REST] += rest
    return own
