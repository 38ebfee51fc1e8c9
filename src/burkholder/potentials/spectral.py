"""The log-trace-exp potentials of matrix prediction, as plain functions of the state (a, H, M).

a = Σδŷ, H = Σδ·H(X), and M = Σ M(X) for the sign-flip strategy or Σ δ²M(X) for the tangent one. Everything
works on a leading batch axis: H and M are (..., D, D) with D = d1 + d2, X is (..., d1, d2), a is (...).
Comparators are matrices W of nuclear norm at most `radius`; predictions ⟨W, X⟩. All in log space.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def hermitian(X: ArrayLike) -> Array:
    """The dilation H(X) = [[0, X], [Xᵀ, 0]]; its largest eigenvalue is the spectral norm of X.

    >>> hermitian([[2.0]])
    array([[0., 2.],
           [2., 0.]])
    """
    X = np.asarray(X, dtype=float)
    d1, d2 = X.shape[-2:]
    dilation = np.zeros((*X.shape[:-2], d1 + d2, d1 + d2))
    dilation[..., :d1, d1:] = X
    dilation[..., d1:, :d1] = np.swapaxes(X, -1, -2)
    return dilation


def square(X: ArrayLike) -> Array:
    """M(X) = H(X)² = diag(XXᵀ, XᵀX).

    >>> square([[2.0, 0.0]]).diagonal()
    array([4., 4., 0.])
    """
    X = np.asarray(X, dtype=float)
    d1, d2 = X.shape[-2:]
    Xt = np.swapaxes(X, -1, -2)
    squared = np.zeros((*X.shape[:-2], d1 + d2, d1 + d2))
    squared[..., :d1, :d1] = X @ Xt
    squared[..., d1:, d1:] = Xt @ X
    return squared


def log_sum_exp(terms: Array) -> Array:
    """log Σ exp over the last axis."""
    top = terms.max(-1)
    return np.asarray(top + np.log(np.exp(terms - top[..., None]).sum(-1)))


def log_trace_exp(A: ArrayLike) -> Array:
    """log tr exp(A) of symmetric A.

    >>> round(float(log_trace_exp(np.diag([1000.0, 1000.0]))), 6)
    1000.693147
    """
    return log_sum_exp(np.linalg.eigvalsh(np.asarray(A, dtype=float)))


def largest(A: ArrayLike) -> Array:
    """The largest eigenvalue of symmetric A; for M it is the spectral norm ‖M‖."""
    return np.linalg.eigvalsh(np.asarray(A, dtype=float))[..., -1]


def _along(rate: ArrayLike) -> Array:
    """A rate (scalar or one per batch entry) so that it multiplies matrices."""
    return np.asarray(rate, dtype=float)[..., None, None]


def exponent(H: ArrayLike, M: ArrayLike, rate: ArrayLike, lipschitz: float = 1.0) -> Array:
    """ηH − ½η²L²M, the matrix in the exponent under the sign-flip strategy."""
    eta = _along(rate)
    return eta * np.asarray(H) - 0.5 * eta**2 * lipschitz**2 * np.asarray(M)


def tangent_exponent(H: ArrayLike, M: ArrayLike, rate: ArrayLike) -> Array:
    """ηH − η²M with M = Σδ²M(X), the matrix in the exponent under the tangent strategy."""
    eta = _along(rate)
    return eta * np.asarray(H) - eta**2 * np.asarray(M)


def value(a: ArrayLike, H: ArrayLike, M: ArrayLike, rate: ArrayLike, radius: float, lipschitz: float) -> Array:
    """U = a + (r/η)·[log tr exp(ηH − ½η²L²M) − log D] (`thm:matrix_burkholder`).

    >>> float(value(0.0, np.zeros((3, 3)), np.zeros((3, 3)), 0.1, 2.0, 1.0))
    0.0
    """
    A = exponent(H, M, rate, lipschitz)
    return np.asarray(np.asarray(a) + radius / np.asarray(rate) * (log_trace_exp(A) - np.log(A.shape[-1])))


def target(a: ArrayLike, H: ArrayLike, M: ArrayLike, rate: ArrayLike, radius: float, lipschitz: float) -> Array:
    """V = a + r·λ₁(H − ½ηL²M) − r·log D/η (`eq:matrix_v`), never above `value`."""
    A = exponent(H, M, rate, lipschitz)
    return np.asarray(np.asarray(a) + radius / np.asarray(rate) * (largest(A) - np.log(A.shape[-1])))


def tangent_value(a: ArrayLike, H: ArrayLike, M: ArrayLike, rate: ArrayLike, radius: float) -> Array:
    """U = a + (r/η)·[log tr exp(ηH − η²M) − log D], M = Σδ²M(X); needs ηL‖X‖ ≤ ½ in every round."""
    A = tangent_exponent(H, M, rate)
    return np.asarray(np.asarray(a) + radius / np.asarray(rate) * (log_trace_exp(A) - np.log(A.shape[-1])))


def tangent_target(a: ArrayLike, H: ArrayLike, M: ArrayLike, rate: ArrayLike, radius: float) -> Array:
    """V = a + r·λ₁(H − ηM) − r·log D/η, never above `tangent_value`."""
    A = tangent_exponent(H, M, rate)
    return np.asarray(np.asarray(a) + radius / np.asarray(rate) * (largest(A) - np.log(A.shape[-1])))


def log_mixture(H: ArrayLike, M: ArrayLike, rates: ArrayLike, masses: ArrayLike, lipschitz: float) -> Array:
    """log Σ_k π_k tr exp(η_kH − ½η_k²L²M)/D."""
    H, M = np.asarray(H, dtype=float), np.asarray(M, dtype=float)
    A = exponent(H[..., None, :, :], M[..., None, :, :], np.asarray(rates, dtype=float), lipschitz)
    return log_sum_exp(log_trace_exp(A) + np.log(np.asarray(masses, dtype=float))) - np.log(A.shape[-1])


def mixture_value(
    a: ArrayLike,
    H: ArrayLike,
    M: ArrayLike,
    rates: ArrayLike,
    masses: ArrayLike,
    kappa: float,
    lipschitz: float,
) -> Array:
    """U = a + κ·[Σ_k π_k tr exp(η_kH − ½η_k²L²M)/D − 1]: no radius, no rate to choose. Σπ_k = 1.

    Far outside what a stream can reach the value is too large for a float; it is then +inf, never NaN.
    """
    with np.errstate(over="ignore"):
        return np.asarray(np.asarray(a) + kappa * np.expm1(log_mixture(H, M, rates, masses, lipschitz)))


def clipped(yhat: Array, bound: float) -> Array:
    """The projection on [-B, B]."""
    return np.clip(yhat, -bound, bound)


def sign_flip(
    H: ArrayLike,
    M: ArrayLike,
    X: ArrayLike,
    rate: ArrayLike,
    radius: float,
    lipschitz: float,
    bound: float = np.inf,
) -> Array:
    """`eq:matrix_pred`: ŷ = clip_B(−(r/2Lη)·[log tr exp(A₊) − log tr exp(A₋)]), A± the state after δ = ±L.

    >>> round(float(sign_flip(np.array([[0, 1.0], [1, 0]]), np.eye(2), [[1.0]], 0.5, 1.0, 1.0)), 4)
    -0.4338
    """
    centre = exponent(H, np.asarray(M) + square(X), rate, lipschitz)
    step = _along(rate) * lipschitz * hermitian(X)
    gap = log_trace_exp(centre + step) - log_trace_exp(centre - step)
    return clipped(np.asarray(-radius / (2.0 * lipschitz * np.asarray(rate)) * gap), bound)


def tangent(H: ArrayLike, M: ArrayLike, X: ArrayLike, rate: ArrayLike, radius: float, bound: float = np.inf) -> Array:
    """ŷ = −r·⟨P, H(X)⟩ with P = exp(ηH − η²M)/tr exp(ηH − η²M)."""
    eigenvalues, vectors = np.linalg.eigh(tangent_exponent(H, M, rate))
    weights = np.exp(eigenvalues - log_sum_exp(eigenvalues)[..., None])
    P = (vectors * weights[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return clipped(np.asarray(-radius * (P * hermitian(X)).sum((-2, -1))), bound)


def mixture_sign_flip(
    H: ArrayLike,
    M: ArrayLike,
    X: ArrayLike,
    rates: ArrayLike,
    masses: ArrayLike,
    kappa: float,
    lipschitz: float,
    bound: float = np.inf,
) -> Array:
    """The sign flip of `mixture_value`: ŷ = clip_B(−(κ/2L)(e^P − e^Q)), P, Q the log mixture after δ = ±L."""
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


def bound(M: ArrayLike, rate: Any, radius: float, lipschitz: float) -> Array:
    """A = ½ηL²r‖ΣM‖ + r·log D/η (`corr:matrix_strategy`), of the sign-flip strategy at a fixed rate."""
    M = np.asarray(M)
    return np.asarray(0.5 * rate * lipschitz**2 * radius * largest(M) + radius * np.log(M.shape[-1]) / rate)


def tangent_bound(M: ArrayLike, rate: Any, radius: float) -> Array:
    """A = ηr‖Σδ²M‖ + r·log D/η, of the tangent strategy at a fixed rate."""
    M = np.asarray(M)
    return np.asarray(rate * radius * largest(M) + radius * np.log(M.shape[-1]) / rate)


def mixture_bound(
    nuclear: ArrayLike, M: ArrayLike, rates: ArrayLike, masses: ArrayLike, kappa: float, lipschitz: float
) -> Array:
    """A(W) = κ + min_k {½η_kL²ρ‖ΣM‖ + (ρ/η_k)(ln(ρD/(κπ_kη_k)) − 1)}, for every W at once, ρ = ‖W‖_Σ.

    The inner term is the conjugate sup_z {ρz − κπ_k e^{η_k z}/D}; where its maximiser would be at z < 0 it is
    still a valid upper bound, so nothing is cut off. ρ = 0 gives κ.
    """
    M = np.asarray(M)
    return mixture_bound_from(nuclear, largest(M), M.shape[-1], rates, masses, kappa, lipschitz)


def mixture_bound_from(
    nuclear: ArrayLike,
    top: ArrayLike,
    dimension: int,
    rates: ArrayLike,
    masses: ArrayLike,
    kappa: float,
    lipschitz: float,
) -> Array:
    """`mixture_bound` when ‖ΣM‖ = top and D = dimension are known already."""
    eta = np.asarray(rates, dtype=float)
    rho, norm = np.asarray(nuclear, dtype=float)[..., None], np.asarray(top, dtype=float)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rho * dimension / (kappa * np.asarray(masses) * eta)) - 1.0
        terms = 0.5 * eta * lipschitz**2 * rho * norm + rho / eta * logs
    return np.asarray(kappa + np.where(rho > 0.0, terms, 0.0).min(-1))


def lowering_bound(ceiling: ArrayLike, dimension: int, radius: float, lipschitz: float) -> Array:
    """A = (√2 + ½)·rL·sqrt(Λ·log D), of the sign flip when η = sqrt(2 log D/(L²Λ)) falls as Λ doubles."""
    return np.asarray((np.sqrt(2.0) + 0.5) * radius * lipschitz * np.sqrt(np.asarray(ceiling) * np.log(dimension)))


def lowering_cost(M: ArrayLike, rate: Any, lower: Any, radius: float, lipschitz: float) -> Array:
    """The most U can rise when η falls to η′ ≤ η: (r/2)(η − η′)L²λ_max(M)."""
    return np.asarray(0.5 * radius * (rate - lower) * lipschitz**2 * largest(M))


def tangent_lowering_cost(M: ArrayLike, rate: Any, lower: Any, radius: float) -> Array:
    """The same for the tangent strategy: r(η − η′)λ_max(Σδ²M)."""
    return np.asarray(radius * (rate - lower) * largest(M))
