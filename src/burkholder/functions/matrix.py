"""Matrix prediction (`sec:matrix`): comparators of nuclear norm at most r, features X fed as flattened matrices.

    sign-flip  U = a + (r/η)[ln tr exp(ηH − ½η²L²M) − ln D]     M = ΣM(X)
    tangent    U = a + (r/η)[ln tr exp(ηH − η²M) − ln D]         M = Σδ²M(X), ηL‖X‖ ≤ ½
    mixture    U = a + κ[Σ_k π_k tr exp(η_kH − ½η_k²L²M)/D − 1]  every W, no r, no η
The state is (a, H, M, rate, frozen, spent). A rate that follows the stream is lowered by √2, before playing, as
soon as ‖M + M(X)‖ asks for it: "lowering" keeps H and M and pays for the change (spent), "doubling" restarts them
as the paper does and keeps the finished part of U (frozen).
"""

from __future__ import annotations

import math

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import SIGN_FLIP, TANGENT, BurkholderFunction, Tau, positive, wide
from burkholder.potentials import spectral as potential
from burkholder.potentials import spectral_mixture

VERSIONS = ("sign-flip", "tangent", "mixture")
RULES = ("lowering", "doubling", "fixed")


class MatrixPrediction(BurkholderFunction):
    """Dense and exact, by eigenvalues: for small matrices, and as the reference for the large.

    >>> import numpy as np, burkholder as bk
    >>> learner = bk.Learner(MatrixPrediction((2, 3)), loss="absolute", bound=1.0)
    >>> learner.update(np.eye(2, 3).reshape(-1), 1.0)
    >>> learner.rounds
    1
    """

    kind = "generalised"
    growable = False

    def __init__(
        self,
        shape: tuple[int, int],
        radius: float = 1.0,
        rate: float | None = None,
        rule: str | None = None,
        version: str = "sign-flip",
        scale: float = 1.0,
        grid: int = 24,
        lipschitz: float | None = None,
    ) -> None:
        if version not in VERSIONS:
            raise BadInput("version", version, f"choose one of {', '.join(VERSIONS)}")
        rule = rule or ("lowering" if rate is None else "fixed")
        if rule not in RULES or (rule == "fixed" and version != "mixture" and rate is None):
            raise BadInput("rule", rule, f"choose one of {', '.join(RULES)}; 'fixed' needs a rate")
        if version == "tangent" and rule == "doubling":
            raise BadInput("rule", rule, "the tangent version lowers its rate or keeps it")
        if len(shape) != 2 or min(shape) < 1:
            raise BadInput("shape", shape, "give two positive whole numbers")
        self.shape = (int(shape[0]), int(shape[1]))
        self.options = {
            "shape": self.shape,
            "radius": radius,
            "rate": rate,
            "rule": rule,
            "version": version,
            "scale": scale,
            "grid": grid,
            "lipschitz": lipschitz,
        }
        self.radius, self.scale = positive("radius", radius), positive("scale", scale)
        self.rate = None if rate is None else positive("rate", rate)
        self.rule, self.version, self.grid = rule, version, int(grid)
        self.lipschitz = positive("lipschitz", lipschitz or 1.0)
        self.log_side = math.log(sum(self.shape))
        self.structure = frozenset({TANGENT if version == "tangent" else SIGN_FLIP})
        self.name = f"matrix ({version})"

    # --- the state ---------------------------------------------------------------------------------------
    def zero(self, dim: int | None = None) -> Tau:
        side = sum(self.shape)
        if dim not in (None, self.shape[0] * self.shape[1]):
            raise BadInput("dim", dim, f"matrices of shape {self.shape} have {self.shape[0] * self.shape[1]} entries")
        start = self.rate if self.rule == "fixed" and self.rate else 0.0
        square = np.zeros((side, side))
        return np.zeros(()), square, square.copy(), np.asarray(start), np.zeros(()), np.zeros(())

    def _matrix(self, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, float)
        return x.reshape(*x.shape[:-1], *self.shape)

    def prepared(self, tau: Tau, x: np.ndarray) -> Tau:
        """The state once X was seen: with a rate that suits it."""
        a, h, m, rate, frozen, spent = tau
        if self.rule == "fixed" and self.version != "mixture":
            return tau
        big = self._matrix(x)
        norm = np.linalg.norm(big, 2, axis=(-2, -1))
        seen = norm > 0.0
        safe = np.where(seen, norm, 1.0)
        if self.version == "mixture":  # the anchor of the grid; set once
            return a, h, m, np.where((rate == 0.0) & seen, 4.0 / (self.lipschitz * safe), rate), frozen, spent
        if self.version == "tangent":
            first, most = 0.5 / (self.lipschitz * safe), np.where(seen, 0.5 / (self.lipschitz * safe), np.inf)
            load, budget = potential.largest(m) + np.square(self.lipschitz * norm), self.log_side
        else:
            first, most = math.sqrt(2.0 * self.log_side) / (self.lipschitz * safe), np.asarray(np.inf)
            load = np.square(self.lipschitz) * potential.largest(m + potential.square(big))
            budget = 2.0 * self.log_side
        rate = np.where((rate == 0.0) & seen, first, rate)
        # the largest rate·2^{−k/2} with rate²·load ≤ budget, and below the cap
        want = np.minimum(np.sqrt(budget / np.where(load > 0.0, load, 1e-300)), most)
        halvings = np.ceil(2.0 * np.log2(np.maximum(rate / want, 1.0)) - 1e-9)
        lower = rate * 2.0 ** (-0.5 * halvings)
        falls = (halvings > 0.0) & (rate > 0.0)
        if self.rule == "doubling":
            done = (a, h, m, rate, frozen, spent)
            frozen = np.where(falls, self.value(done) - a, frozen)
            price = potential.bound(m, np.where(rate > 0.0, rate, 1.0), self.radius, self.lipschitz)
            spent = np.where(falls, spent + price, spent)
            keep = ~falls[..., None, None]
            return a, h * keep, m * keep, np.where(falls, lower, rate), frozen, spent
        if self.version == "tangent":
            cost = potential.tangent_lowering_cost(m, rate, lower, self.radius)
        else:
            cost = potential.lowering_cost(m, rate, lower, self.radius, self.lipschitz)
        cost = np.where(falls, cost, 0.0)
        return a, h, m, np.where(falls, lower, rate), frozen - cost, spent + cost

    def advance(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        a, h, m, *rest = self.prepared(tau, x)
        big, delta = self._matrix(x), np.asarray(delta, float)
        along = delta[..., None, None]
        weight = np.square(along) if self.version == "tangent" else 1.0
        return (a + delta * yhat, h + along * potential.hermitian(big), m + weight * potential.square(big), *rest)

    # --- U, V, A -----------------------------------------------------------------------------------------
    def _rates(self, anchor: np.ndarray) -> np.ndarray:
        return np.where(anchor > 0.0, anchor, 1.0)[..., None] * 2.0 ** -np.arange(self.grid)

    def _masses(self) -> np.ndarray:
        return np.full(self.grid, 1.0 / self.grid)

    def value(self, tau: Tau) -> np.ndarray:
        a, h, m, rate, frozen, _ = tau
        safe = np.where(rate > 0.0, rate, 1.0)
        if self.version == "mixture":
            out = spectral_mixture.value(a, h, m, self._rates(rate), self._masses(), self.scale, self.lipschitz)
        elif self.version == "tangent":
            out = potential.tangent_value(a, h, m, safe, self.radius)
        else:
            out = potential.value(a, h, m, safe, self.radius, self.lipschitz)
        return out + frozen

    def target(self, tau: Tau) -> np.ndarray:
        a, h, m, rate, frozen, _ = tau
        safe = np.where(rate > 0.0, rate, 1.0)
        if self.version == "mixture":
            return self.value(tau)
        if self.version == "tangent":
            own = potential.tangent_target(a, h, m, safe, self.radius)
        else:
            own = potential.target(a, h, m, safe, self.radius, self.lipschitz)
        # without a rate nothing but zero matrices was seen, and nothing can have been lost on them
        return np.where(rate > 0.0, own, a) + frozen

    def magnitude(self, tau: Tau) -> np.ndarray:
        rate = np.where(tau[3] > 0.0, tau[3], 1.0)
        size = np.abs(self.value(tau)) + np.abs(tau[0]) + np.abs(tau[4])
        if self.version == "mixture":
            return size + self.scale
        return size + self.radius / rate * self.log_side + self.radius * np.max(np.abs(tau[1]), axis=(-2, -1))

    def linearised(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        rows = self.shape[0]
        return tau[0] - np.einsum("...ij,...ij->...", self._matrix(w), tau[1][..., :rows, rows:])

    def _price(self, tau: Tau) -> np.ndarray:
        rate = np.where(tau[3] > 0.0, tau[3], 1.0)
        if self.version == "tangent":
            price = potential.tangent_bound(tau[2], rate, self.radius)
        else:
            price = potential.bound(tau[2], rate, self.radius, self.lipschitz)
        return tau[5] + np.where(tau[3] > 0.0, price, 0.0)

    def _bound(self, nuclear: np.ndarray, tau: Tau) -> np.ndarray:
        if self.version == "mixture":
            rates = self._rates(tau[3])
            return spectral_mixture.bound(nuclear, tau[2], rates, self._masses(), self.scale, self.lipschitz)
        return np.where(nuclear <= self.radius * (1 + 1e-9), self._price(tau), np.inf)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        return self._bound(np.linalg.norm(self._matrix(w), "nuc", axis=(-2, -1)), tau)

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Rows times columns."""
        return self.shape[0] * self.shape[1]

    comparator_space = "⟨W, X⟩"
    comparator_norm = "‖W‖_Σ"

    def longest_side(self, dim: int) -> float:
        return 1.0

    def own_radius(self) -> float | None:
        return float(self.radius)

    def ball(self, radius: float | None, tau: Tau) -> float:
        return float(self._bound(np.asarray(positive("radius", self.radius if radius is None else radius)), tau))

    def support(self, g: np.ndarray, radius: float | None) -> float:
        size = positive("radius", self.radius if radius is None else radius)
        return size * float(np.linalg.norm(self._matrix(g), 2))

    # --- strategies --------------------------------------------------------------------------------------
    def sign_flip(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        _, h, m, rate, _, _ = self.prepared(tau, x)
        big = self._matrix(x)
        if self.version == "mixture":
            rates = self._rates(rate)
            return spectral_mixture.sign_flip(h, m, big, rates, self._masses(), self.scale, self.lipschitz, 1e300)
        safe = np.where(rate > 0.0, rate, 1.0)
        return potential.sign_flip(h, m, big, safe, self.radius, self.lipschitz)

    def tangent(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        _, h, m, rate, _, _ = self.prepared(tau, x)
        return potential.tangent(h, m, self._matrix(x), np.where(rate > 0.0, rate, 1.0), self.radius)

    # --- where the properties must hold ---------------------------------------------------------------------
    def features(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        """Matrices of every scale for rates that follow the stream; of the rate's own scale for a fixed one."""
        x = wide(rng, count, self.shape[0] * self.shape[1], 0.0)
        size = np.maximum(np.linalg.norm(self._matrix(x), 2, axis=(-2, -1)), 1e-300)[:, None]
        if self.rule == "fixed" and self.rate:
            unit = 0.5 / (self.lipschitz * self.rate)
            return x / size * unit * rng.uniform(0.0, 1.0, (count, 1))
        return x / size * 10.0 ** rng.uniform(-1, 1, (count, 1))

    def sizes(self, x: np.ndarray) -> dict[str, tuple[np.ndarray, float]]:
        if self.version != "tangent" or self.rule != "fixed" or self.rate is None:
            return {}
        norm = np.linalg.norm(self._matrix(x), 2, axis=(-2, -1))
        return {"spectral norm": (norm, 0.5 / (self.lipschitz * self.rate))}

    def comparators(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        w = wide(rng, count, self.shape[0] * self.shape[1], 1.0)
        if self.version == "mixture":
            return w
        nuclear = np.maximum(np.linalg.norm(self._matrix(w), "nuc", axis=(-2, -1)), 1e-300)
        return w / nuclear[:, None] * self.radius
