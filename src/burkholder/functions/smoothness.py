"""Smoothness (`ex:smoothness`): U = a + (‖g‖² − βs)/(2c), the Burkholder function of gradient descent.

The paper's identity must read U(τ₁, τ₂) = U(τ₁, 0) − C·τ₂. A(w) = (c/2)‖w‖_*² + βs/(2c).
"""

from __future__ import annotations

from typing import Any

from burkholder import geometries
from burkholder.functions.base import positive
from burkholder.functions.linear import Linear
from burkholder.potentials import Quadratic


class Smoothness(Linear):
    """`strength` is c; with `tangent=True` s counts δ²‖x‖² instead of L²‖x‖².

    >>> import burkholder as bk
    >>> learner = bk.Learner(Smoothness(), loss="absolute", bound=1.0)
    >>> learner.update([0.6, 0.8], 1.0)
    >>> learner.potential() <= 1e-9
    True
    """

    def __init__(self, geometry: Any = "l2", strength: float = 1.0, tangent: bool = False, lipschitz: float | None = None) -> None:
        strength = positive("strength", strength)
        shape = geometries.get(geometry)
        self.options = {"geometry": geometry, "strength": strength, "tangent": bool(tangent), "lipschitz": lipschitz}
        potential = Quadratic(strength / shape.smoothness)
        super().__init__("smoothness", potential, shape, "gradient" if tangent else "square", lipschitz or 1.0)
