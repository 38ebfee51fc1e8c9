"""Square functions (`sec:adagrad`): regret against a ball, paid by the root of the sum of squares.

    sharp    U = a + R·U_dw(g, L²Σ‖x‖²)   S3   A = 1.3069·L·R·√(βΣ‖x‖²)   the best constant for signs
    paper    U = a + R·U_sq(g, L²Σ‖x‖²)   S3   A = 2·L·R·√(βΣ‖x‖²)
    tangent  U = a + R·U_sq(g, Σδ²‖x‖²)   S4   A = 2·R·√(βΣδ²‖x‖²)         no L needed: AdaGrad
With geometry "coordinates" the ball is |w_i| ≤ R and the root is taken per coordinate.
"""

from __future__ import annotations

import math
from typing import Any

from burkholder import geometries
from burkholder.errors import BadInput
from burkholder.functions.base import positive
from burkholder.functions.linear import Linear
from burkholder.potentials import DavisWang, SquareRoot

VERSIONS = {"sharp": (DavisWang, "square"), "paper": (SquareRoot, "square"), "tangent": (SquareRoot, "gradient")}


class SquareFunction(Linear):
    """Regret over a ball of radius R, with the constant of the version.

    >>> import numpy as np
    >>> f = SquareFunction(radius=2.0, version="paper")
    >>> f.ball(None, f.statistic(np.array([3.0, 4.0]), 0.0, 1.0))
    20.0
    """

    def __init__(self, radius: float = 1.0, geometry: Any = "l2", version: str = "sharp", lipschitz: float | None = None) -> None:
        if version not in VERSIONS:
            raise BadInput("version", version, f"choose one of {', '.join(VERSIONS)}")
        kind, clock = VERSIONS[version]
        shape = geometries.get(geometry)
        radius = positive("radius", radius)
        self.options = {"radius": radius, "geometry": geometry, "version": version, "lipschitz": lipschitz}
        potential = kind(radius=radius * math.sqrt(shape.smoothness))
        super().__init__(f"square-function ({version})", potential, shape, clock, lipschitz or 1.0)
