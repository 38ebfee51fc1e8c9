"""Strongly convex losses (`sec:square_loss`): fast rates, with z = (−ŷ, x) ∈ ℝ^{1+d}.

    U = V = ½τ₁ᵀM⁻¹τ₁ − c·ln det(M/λ),  M = ρτ₂ + λI,  τ₁ = Σδz,  τ₂ = Σzzᵀ,  c = L²/2ρ
    A(w) = (λ/2)(‖w‖² + 1) + c·ln det(I + (ρ/λ)Σzzᵀ)
c = L²/(2ρ) suffices (the printed proof asks twice as much). The rule is deterministic: with u = M⁻¹τ₁ the slope
k(ŷ) = ⟨u, z⟩ is affine in ŷ; play its root when it lies in [-B, B], otherwise the end that k's sign allows.
The ŷ-slot comes first so that new features append.
"""

from __future__ import annotations

import numpy as np
import scipy  # its parts are imported when first used: most runs never do

from burkholder.functions.base import CLOSED, BurkholderFunction, Tau, positive, wide


class StronglyConvex(BurkholderFunction):
    """Logarithmic regret for a ρ-strongly convex, L-Lipschitz loss on [-B, B].

    L and ρ left open are taken from the learner's loss.

    >>> import burkholder as bk
    >>> learner = bk.Learner("strongly-convex", loss="squared", bound=1.0)
    >>> learner.update([1.0], 0.5)
    >>> isinstance(learner.function, StronglyConvex)
    True
    """

    name = "strongly-convex"
    structure = frozenset({CLOSED})

    def __init__(
        self, ridge: float = 1.0, curvature: float | None = None, lipschitz: float | None = None, constant: float | None = None
    ) -> None:
        self.options = {"ridge": ridge, "curvature": curvature, "lipschitz": lipschitz, "constant": constant}
        self.ridge = positive("ridge", ridge)
        self.curvature = positive("curvature", 1.0 if curvature is None else curvature)
        self.lipschitz = positive("lipschitz", lipschitz or 1.0)
        least = self.lipschitz**2 / (2.0 * self.curvature)
        self.constant = least if constant is None else positive("constant", constant)

    def zero(self, dim: int = 1) -> Tau:
        return np.zeros(1 + dim), np.zeros((1 + dim, 1 + dim))

    def statistic(self, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        x, delta = np.asarray(x, float), np.asarray(delta, float)
        z = np.concatenate([-np.broadcast_to(np.asarray(yhat, float)[..., None], (*x.shape[:-1], 1)), x], axis=-1)
        return delta[..., None] * z, z[..., :, None] * z[..., None, :]

    def matrix(self, tau: Tau) -> np.ndarray:
        """M = ρτ₂ + λI."""
        return self.curvature * tau[1] + self.ridge * np.eye(tau[1].shape[-1])

    def inverse(self, tau: Tau) -> np.ndarray:
        """M⁻¹. Beside features of 1e9 the ridge may be lost in rounding, and M without it has no inverse: no eigenvalue is below λ."""
        try:
            return np.linalg.inv(self.matrix(tau))
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(self.curvature * tau[1])
            return (vectors / (self.ridge + np.maximum(values, 0.0))[..., None, :]) @ np.swapaxes(vectors, -1, -2)

    def solved(self, tau: Tau) -> np.ndarray:
        """u = M⁻¹τ₁."""
        try:
            return np.linalg.solve(self.matrix(tau), tau[0][..., None])[..., 0]
        except np.linalg.LinAlgError:
            return (self.inverse(tau) @ tau[0][..., None])[..., 0]

    def _log_det(self, tau: Tau) -> np.ndarray:
        return np.maximum(np.linalg.slogdet(self.matrix(tau) / self.ridge)[1], 0.0)

    def value(self, tau: Tau) -> np.ndarray:
        u = self.solved(tau)
        return 0.5 * np.einsum("...i,...i->...", u, tau[0]) - self.constant * self._log_det(tau)

    def magnitude(self, tau: Tau) -> np.ndarray:
        u = self.solved(tau)
        return 0.5 * np.einsum("...i,...i->...", np.abs(u), np.abs(tau[0])) + self.constant * (1.0 + self._log_det(tau))

    def linearised(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        w = np.asarray(w, float)
        return -tau[0][..., 0] - np.einsum("...i,...i->...", w, tau[0][..., 1:]) - self.refine(w, tau)

    def rule(self, u: np.ndarray, x: np.ndarray, bound: float) -> np.ndarray:
        """The prediction from u = M⁻¹τ₁; k(ŷ) = ⟨u_x, x⟩ − u₀ŷ must vanish, or push outward at an end."""
        along, slot = np.einsum("...i,...i->...", u[..., 1:], x), u[..., 0]
        inside = (slot != 0.0) & (np.abs(along) <= bound * np.abs(slot))
        root = along / np.where(slot != 0.0, slot, 1.0)
        end = -np.sign(along) * (bound if np.isfinite(bound) else 0.0)
        return np.where(inside, root, end)

    def closed_form(self, tau: Tau, x: np.ndarray, bound: float) -> np.ndarray:
        u = self.solved(tau)
        return self.rule(u, np.asarray(x, float), bound)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        size = np.square(np.asarray(w, float)).sum(axis=-1)
        return 0.5 * self.ridge * (size + 1.0) + self.constant * self._log_det(tau)

    comparator_norm = "‖w‖₂"
    needs_curvature = True

    def longest_side(self, dim: int) -> float:
        return 1.0

    def own_radius(self) -> float | None:
        return 1.0

    def ball(self, radius: float | None, tau: Tau) -> float:
        size = positive("radius", 1.0 if radius is None else radius)
        return float(0.5 * self.ridge * (size**2 + 1.0) + self.constant * self._log_det(tau))

    def support(self, g: np.ndarray, radius: float | None) -> float:
        """Over the Euclidean ball, curvature left aside."""
        return positive("radius", 1.0 if radius is None else radius) * float(np.linalg.norm(g))

    def worst(self, a: float, g: np.ndarray, radius: float | None, tau: Tau) -> float:
        """With S = ρΣxxᵀ and b = ρΣŷx − g: sup of a − (ρ/2)Σŷ² + ⟨b, w⟩ − ½wᵀSw over ‖w‖ ≤ R.

        Lagrange: every μ > 0 gives the upper bound a − (ρ/2)Σŷ² + ½bᵀ(S+μI)⁻¹b + ½μR², and the best μ the supremum.
        """
        size = positive("radius", 1.0 if radius is None else radius)
        start = a - 0.5 * self.curvature * float(tau[1][0, 0])
        b = -(g + self.curvature * tau[1][1:, 0])
        steepest = float(np.linalg.norm(b)) / size
        if steepest == 0.0:
            return start
        values, vectors = np.linalg.eigh(self.curvature * tau[1][1:, 1:])
        values, along = np.maximum(values, 0.0), np.square(vectors.T @ b)

        def excess(mu: float) -> float:  # ‖w(μ)‖²/R² − 1, falling in μ and at most 0 at ‖b‖/R
            return float(np.sum(along / np.square(size * (values + mu)))) - 1.0

        least = np.finfo(float).eps * steepest
        mu = least if excess(least) <= 0.0 else float(scipy.optimize.brentq(excess, least, steepest * (1.0 + 1e-9), xtol=least))
        return start + 0.5 * float(np.sum(along / (values + mu))) + 0.5 * mu * size**2

    def refine(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        """(ρ/2)Σ(ŷ − ⟨w, x⟩)², which strong convexity gives back."""
        w = np.asarray(w, float)
        v = np.concatenate([np.ones((*w.shape[:-1], 1)), w], axis=-1)
        return 0.5 * self.curvature * np.einsum("...i,...ij,...j->...", v, tau[1], v)

    def refine_error(self, w: np.ndarray | None, radius: float | None, tau: Tau, rounds: int) -> float:
        """Each entry of Σzzᵀ is rounded once a term, relative to √(M_ii M_jj); so is the form vᵀMv, v = (1, w)."""
        sides = np.sqrt(np.diagonal(tau[1]))
        size = 1.0 if radius is None else radius
        reach = sides[0] + (size * float(np.linalg.norm(sides[1:])) if w is None else float(np.abs(w) @ sides[1:]))
        return self.curvature * (rounds + 4096.0 * len(sides)) * 2.0**-52 * float(reach) ** 2

    def points(self, rng: np.random.Generator, count: int, dim: int) -> tuple[Tau, np.ndarray]:
        """States that play can reach: sums of a few zzᵀ, with τ₁ anything."""
        unit = np.sqrt(self.ridge / self.curvature)
        tau2 = np.zeros((count, 1 + dim, 1 + dim))
        for _ in range(int(rng.integers(0, 6))):
            z = self._moderate(rng, count, 1 + dim) * unit
            tau2 += z[:, :, None] * z[:, None, :]
        tau1 = wide(rng, count, 1 + dim, 2.0) * self.lipschitz * unit
        return (tau1, tau2), self._moderate(rng, count, dim) * unit

    @staticmethod
    def _moderate(rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        """Two decades of scale: beyond, M is so ill-conditioned that rounding outweighs the property."""
        return rng.standard_normal((count, dim)) * 10.0 ** rng.uniform(-1, 1, (count, 1))

    def plays(self, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
        size = np.max(np.abs(x), axis=-1)
        return size * rng.choice([0.0, 1e-2, 0.3, 1.0, 3.0], size.shape) * rng.choice([-1.0, 1.0], size.shape)
