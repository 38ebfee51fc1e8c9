"""The mixture of matrix potentials over a grid of rates: neither radius nor rate to choose. Σπ_k = 1.

The same notation as `spectral`. One value costs an eigenvalue problem for every rate.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import numpy as np
from numpy.typing import ArrayLike

from burkholder.potentials.spectral import Array, exponent, hermitian, largest, log_sum_exp, log_trace_exp, square

# Checking a property or a strategy asks for U at the same few batches of states again and again (before, after either
# sign, after δ), and each answer costs an eigenvalue problem for every rate: the latest are found again by content.
REMEMBERED = 6
_answers: OrderedDict[tuple[bytes, tuple[int, ...], float], Array] = OrderedDict()


def log_mixture(H: ArrayLike, M: ArrayLike, rates: ArrayLike, masses: ArrayLike, lipschitz: float) -> Array:
    """log Σ_k π_k tr exp(η_kH − ½η_k²L²M)/D."""
    given = H, M, rates, masses = tuple(np.ascontiguousarray(part, dtype=float) for part in (H, M, rates, masses))
    digest = hashlib.blake2b(digest_size=16)
    for part in given:
        digest.update(part.data)
    key = digest.digest(), (*H.shape, *rates.shape), float(lipschitz)
    found = _answers.get(key)
    if found is None:
        A = exponent(H[..., None, :, :], M[..., None, :, :], rates, lipschitz)
        found = np.asarray(log_sum_exp(log_trace_exp(A) + np.log(masses)) - np.log(A.shape[-1]))
        found.flags.writeable = False
        _answers[key] = found
        while len(_answers) > REMEMBERED:
            _answers.popitem(last=False)
    return found


def value(a: ArrayLike, H: ArrayLike, M: ArrayLike, rates: ArrayLike, masses: ArrayLike, kappa: float, lipschitz: float) -> Array:
    """U = a + κ·[Σ_k π_k tr exp(η_kH − ½η_k²L²M)/D − 1]: no radius, no rate to choose. Σπ_k = 1.

    Far outside what a stream can reach the value is too large for a float; it is then +inf, never NaN.
    """
    with np.errstate(over="ignore"):
        return np.asarray(np.asarray(a) + kappa * np.expm1(log_mixture(H, M, rates, masses, lipschitz)))


def sign_flip(
    H: ArrayLike, M: ArrayLike, X: ArrayLike, rates: ArrayLike, masses: ArrayLike, kappa: float, lipschitz: float, bound: float = np.inf
) -> Array:
    """The sign flip of `value`: ŷ = clip_B(−(κ/2L)(e^P − e^Q)), P, Q the log mixture after δ = ±L."""
    squares, step = np.asarray(M) + square(X), lipschitz * hermitian(X)
    plus = log_mixture(np.asarray(H) + step, squares, rates, masses, lipschitz)
    minus = log_mixture(np.asarray(H) - step, squares, rates, masses, lipschitz)
    return signed_exp_gap(plus, minus, kappa / lipschitz, bound)


def signed_exp_gap(plus: Array, minus: Array, scale: float, bound: float = np.inf) -> Array:
    """−(scale/2)(e^plus − e^minus), clipped to ±bound before anything is exponentiated."""
    high, low = np.maximum(plus, minus), np.minimum(plus, minus)
    with np.errstate(divide="ignore"):
        log_size = np.log(scale / 2.0) + high + np.log(-np.expm1(low - high))
    size = np.exp(np.minimum(log_size, np.log(min(bound, np.finfo(float).max / 2))))
    return np.asarray(np.sign(minus - plus) * size)


def bound(nuclear: ArrayLike, M: ArrayLike, rates: ArrayLike, masses: ArrayLike, kappa: float, lipschitz: float) -> Array:
    """A(W) = κ + min_k {½η_kL²ρ‖ΣM‖ + (ρ/η_k)(ln(ρD/(κπ_kη_k)) − 1)}, for every W at once, ρ = ‖W‖_Σ.

    The inner term is the conjugate sup_z {ρz − κπ_k e^{η_k z}/D}; where its maximiser would be at z < 0 it is
    still a valid upper bound, so nothing is cut off. ρ = 0 gives κ.
    """
    M = np.asarray(M)
    return bound_from(nuclear, largest(M), M.shape[-1], rates, masses, kappa, lipschitz)


def bound_from(
    nuclear: ArrayLike, top: ArrayLike, dimension: int, rates: ArrayLike, masses: ArrayLike, kappa: float, lipschitz: float
) -> Array:
    """`bound` when ‖ΣM‖ = top and D = dimension are known already."""
    eta = np.asarray(rates, dtype=float)
    rho, norm = np.asarray(nuclear, dtype=float)[..., None], np.asarray(top, dtype=float)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rho * dimension / (kappa * np.asarray(masses) * eta)) - 1.0
        terms = 0.5 * eta * lipschitz**2 * rho * norm + rho / eta * logs
    return np.asarray(kappa + np.where(rho > 0.0, terms, 0.0).min(-1))
