"""The mean of vectors: a ball in a smooth norm, valid at every moment at once.

F = √(v/D)·exp(‖g‖²/(2βD)), the adaptive parameter-free potential, does not rise in mean along the sum g of steps ξ_t = x_t − m_t, where m_t
is the mean of x_t given the past, x_t is within c_t of a centre, and D = v + Σ(2c_t)²: with x′ another draw of x, Jensen's inequality
gives E F(g + ξ) ≤ E F(g + x − x′), which is symmetric, and ‖x − x′‖ ≤ 2c_t. By Ville's inequality ‖g‖ < √(2βD·ln(√(D/v)/α)) at all
times, but for an error α.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder import geometries
from burkholder.confidence.sequence import LARGEST, checked_alpha
from burkholder.errors import BadInput
from burkholder.learning.rounding import UNIT


class VectorConfidence:
    """The mean of the vectors' expectations, each given the past, in the norm of a geometry ("l2", "l4", Supremum(d), …).

    radius     no vector is farther than this from `centre` (the origin)
    suited     the number of vectors at which the ball is smallest, nearly; any number is valid

    >>> confidence = VectorConfidence(radius=1.0, dimension=2)
    >>> for t in range(4000):
    ...     confidence.update([math.cos(t), math.sin(t)])
    >>> mean, size = confidence.ball()
    >>> bool(np.linalg.norm(mean) < size < 0.2)
    True
    """

    def __init__(
        self, radius: float, dimension: int, geometry: Any = "l2", alpha: float = 0.05, *, centre: Any = None, suited: int = 1000
    ) -> None:
        if isinstance(dimension, bool) or not isinstance(dimension, int) or dimension < 1:
            raise BadInput("dimension", dimension, "give a whole number ≥ 1")
        if isinstance(radius, bool) or not (isinstance(radius, (int, float)) and 1.0 / LARGEST <= radius <= LARGEST):
            raise BadInput("radius", radius, f"give a number from {1.0 / LARGEST:g} to {LARGEST:g}")
        if isinstance(suited, bool) or not isinstance(suited, int) or suited < 1:
            raise BadInput("suited", suited, "give a whole number ≥ 1")
        self.geometry = geometries.get(geometry)
        if not hasattr(self.geometry, "norm"):
            raise BadInput("geometry", geometry, "give a smooth norm; for coordinates use Confidence with streams")
        self.radius, self.alpha = float(radius), checked_alpha(alpha)
        self.centre = np.zeros(dimension) if centre is None else np.array(centre, float)
        if self.centre.shape != (dimension,) or not np.isfinite(self.centre).all():
            raise BadInput("centre", centre, f"give {dimension} finite numbers")
        self.suited = suited
        self.rounds, self.total = 0, np.zeros(dimension)

    def update(self, vector: Any) -> None:
        """One vector."""
        try:
            x = np.array(vector, float)
        except (TypeError, ValueError, OverflowError):
            raise BadInput("vector", vector, "give numbers") from None
        fits = x.shape == self.total.shape
        x = x - self.centre if fits else x
        if not fits or not float(self.geometry.size(x)) <= self.radius * (1.0 + 1e-12):
            raise BadInput("vector", vector, f"give {len(self.total)} numbers, no farther than {self.radius:g} from the centre")
        self.total += x
        self.rounds += 1

    def ball(self) -> tuple[np.ndarray, float]:
        """(mean, size): the mean of the expectations lies in this ball, at this and every other moment, but for an error alpha."""
        if not self.rounds:
            return self.centre.copy(), self.radius
        beta = float(self.geometry.smoothness)
        d = self.suited + self.rounds  # D and v over (2·radius)²
        reach = 2.0 * self.radius * math.sqrt(2.0 * beta * d * (0.5 * math.log(d / self.suited) - math.log(self.alpha)))
        longest = float(self.geometry.longest_side) * len(self.total)
        rounding = 4.0 * (self.rounds + 8) * UNIT * longest * (self.radius + float(np.abs(self.centre).max()))
        return self.centre + self.total / self.rounds, reach / self.rounds * (1.0 + 1e-12) + rounding
