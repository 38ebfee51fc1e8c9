"""What a round with X does to log tr exp(A), two ways: by full eigendecompositions, or in one Krylov space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from burkholder.matrix import blocks
from burkholder.matrix.inputs import Factors
from burkholder.matrix.sign_flip import MIXTURE
from burkholder.potentials import spectral as potential

if TYPE_CHECKING:
    from burkholder.matrix.general import GeneralEngine

Array = NDArray[np.float64]


class Space:
    """One rate's view of a round: `answer` for the prediction, `change` of log tr exp(A) after δ."""

    answer: Array
    steps = 0

    def __init__(self, engine: GeneralEngine, X: Factors, rate: float, log_trace: float) -> None:
        raise NotImplementedError

    def change(self, delta: float) -> float:
        raise NotImplementedError


class Dense(Space):
    """By full eigendecompositions."""

    def __init__(self, engine: GeneralEngine, X: Factors, rate: float, log_trace: float) -> None:
        A = engine.exponent(rate)
        self.A = A if isinstance(A, np.ndarray) else A.toarray()
        dense = X.dense()
        self.H, self.M = rate * potential.hermitian(dense), engine.damping(rate) * potential.square(dense)
        self.log_trace, self.tangent = log_trace, engine.tangent
        if engine.tangent:
            eigenvalues, vectors = np.linalg.eigh(self.A)
            weights = np.exp(eigenvalues - potential.log_sum_exp(eigenvalues))
            self.answer = np.array([np.sum((vectors * weights) @ vectors.T * self.H) / rate])
        else:
            lipschitz = engine.rule.lipschitz
            self.answer = np.array([self.change(lipschitz), self.change(-lipschitz)])

    def change(self, delta: float) -> float:
        growth = delta**2 if self.tangent else 1.0
        return float(potential.log_trace_exp(self.A + delta * self.H - growth * self.M)) - self.log_trace


class Krylov(Space):
    """By block Lanczos from the rows and columns that X spans."""

    def __init__(self, engine: GeneralEngine, X: Factors, rate: float, log_trace: float) -> None:
        d1, width, lipschitz = engine.shape[0], len(X.sizes), engine.rule.lipschitz
        start = np.zeros((engine.dimension, 2 * width))
        start[:d1, :width], start[d1:, width:] = X.left, X.right
        sizes = np.diag(X.sizes)
        zero = np.zeros_like(sizes)
        self.H = rate * np.block([[zero, sizes], [sizes, zero]])
        self.M = engine.damping(rate) * np.kron(np.eye(2), sizes**2)
        self.log_trace, self.tangent = log_trace, engine.tangent
        A = engine.exponent(rate)
        if engine.tangent:

            def answer(T: Array) -> Array:
                return np.array([(blocks.small_exponential(T, 2 * width, log_trace) * self.H).sum() / rate])

            tol = engine.rule.tol / engine.rule.radius
        else:

            def answer(T: Array) -> Array:
                return blocks.trace_changes(T, [self._step(s * lipschitz) for s in (1.0, -1.0)], log_trace)

            mixture = engine.rule.kind == MIXTURE
            tol = engine.rule.tol * (1.0 if mixture else min(1.0, 2.0 * lipschitz * rate / engine.rule.radius))
        self.T, self.answer, self.steps = blocks.converged(lambda V: np.asarray(A @ V), start, answer, tol)

    def _step(self, delta: float) -> Array:
        return np.asarray(delta * self.H - (delta**2 if self.tangent else 1.0) * self.M)

    def change(self, delta: float) -> float:
        return float(blocks.trace_changes(self.T, [self._step(delta)], self.log_trace)[0])
