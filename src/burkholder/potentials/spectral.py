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


def clipped(yhat: Array, bound: float) -> Array:
    """The projection on [-B, B]."""
    return np.clip(yhat, -bound, bound)


def sign_flip(H: ArrayLike, M: ArrayLike, X: ArrayLike, rate: ArrayLike, radius: float, lipschitz: float, bound: float = np.inf) -> Array:
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


def bound(M: ArrayLike, rate: Any, radius: float, lipschitz: float) -> Array:
    """A = ½ηL²r‖ΣM‖ + r·log D/η (`corr:matrix_strategy`), of the sign-flip strategy at a fixed rate."""
    M = np.asarray(M)
    return np.asarray(0.5 * rate * lipschitz**2 * radius * largest(M) + radius * np.log(M.shape[-1]) / rate)


def tangent_bound(M: ArrayLike, rate: Any, radius: float) -> Array:
    """A = ηr‖Σδ²M‖ + r·log D/η, of the tangent strategy at a fixed rate."""
    M = np.asarray(M)
    return np.asarray(rate * radius * largest(M) + radius * np.log(M.shape[-1]) / rate)


def lowering_bound(ceiling: ArrayLike, dimension: int, radius: float, lipschitz: float) -> Array:
    """A = (√2 + ½)·rL·sqrt(Λ·log D), of the sign flip when η = sqrt(2 log D/(L²Λ)) falls as Λ doubles."""
    return np.asarray((np.sqrt(2.0) + 0.5) * radius * lipschitz * np.sqrt(np.asarray(ceiling) * np.log(dimension)))


def lowering_cost(M: ArrayLike, rate: Any, lower: Any, radius: float, lipschitz: float) -> Array:
    """The most U can rise when η falls to η′ ≤ η: (r/2)(η − η′)L²λ_max(M)."""
    return np.asarray(0.5 * radius * (rate - lower) * lipschitz**2 * largest(M))


def tangent_lowering_cost(M: ArrayLike, rate: Any, lower: Any, radius: float) -> Array:
    """The same for the tangent strategy: r(η − η′)λ_max(Σδ²M)."""
    return np.asarray(radius * (rate - lower) * largest(M))
