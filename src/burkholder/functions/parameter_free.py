"""Parameter-free learning: no radius, no learning rate; the promise A(w) grows with ‖w‖ by itself.

anytime   U = a + L[exp(‖g‖²/(2βL²X²t) − ½H_t) − 1]       ‖x‖ ≤ X; `thm:param_free`, repaired
printed   the theorem as printed, for a horizon n          refuted: U_0(0) = e^{H_n/2}/√n − 1 > 0
adaptive  U = a + κ[√(v/D)·exp(‖g‖²/(2βD)) − 1], D = v+L²Σ‖x‖²    any features
mixture   U = a + κ Σ_k π_k [cosh(λ_k‖g‖)e^{−cλ_k²Σδ²‖x‖²} − 1]     any features, adapts to the gradients; c = 1 through a norm,
                                                              near ½ per coordinate
"""

from __future__ import annotations

import math
from typing import Any

from burkholder import geometries
from burkholder.errors import BadInput
from burkholder.functions.base import positive
from burkholder.functions.linear import Linear
from burkholder.potentials import Adaptive, Anytime, Mixture, harmonic
from burkholder.potentials.mixture import SHARP


class ParameterFree(Linear):
    """The anytime repair of `thm:param_free`: features of norm at most `feature_bound`, any horizon.

    >>> import burkholder as bk
    >>> learner = bk.Learner(ParameterFree(feature_bound=1.0), loss="absolute", bound=1.0)
    >>> learner.update([1.0, 0.0], 0.5)
    >>> certificate = learner.certificate()
    >>> certificate.bound([0.0, 0.0]) < certificate.bound([1.0, 0.0])  # the price grows with the comparator, and nobody set a radius
    True
    """

    def __init__(self, geometry: Any = "l2", feature_bound: float = 1.0, lipschitz: float | None = None) -> None:
        size = positive("feature_bound", feature_bound)
        self.options = {"geometry": geometry, "feature_bound": size, "lipschitz": lipschitz}
        slope = positive("lipschitz", lipschitz or 1.0)
        potential = Anytime(scale=slope, unit=slope * size)
        super().__init__("parameter-free (anytime)", potential, geometry, "count", slope, size)


class PrintedParameterFree(Linear):
    """`thm:param_free` exactly as printed. Property 1° fails for every horizon: kept as a refuted case.

    >>> f = PrintedParameterFree(horizon=1)
    >>> round(float(f.value(f.zero(1))), 3)
    0.649
    """

    def __init__(self, horizon: int, geometry: Any = "l2", lipschitz: float | None = None) -> None:
        if horizon != int(horizon) or horizon < 1:
            raise BadInput("horizon", horizon, "give the number of rounds, a whole number ≥ 1")
        self.options = {"horizon": horizon, "geometry": geometry, "lipschitz": lipschitz}
        slope = positive("lipschitz", lipschitz or 1.0)
        self.horizon = int(horizon)
        offset = 0.5 * (harmonic(float(horizon)) - math.log(horizon))
        potential = Anytime(scale=slope, unit=slope, offset=offset)
        super().__init__("parameter-free (as printed)", potential, geometry, "count", slope, 1.0)


class AdaptiveParameterFree(Linear):
    """Adapts to the features' sizes as well: U is additive and asks for no bound on ‖x‖.

    >>> import burkholder as bk
    >>> learner = bk.Learner(AdaptiveParameterFree(), loss="absolute", bound=1.0)
    >>> learner.update([300.0], 0.5)
    >>> learner.rounds
    1
    """

    def __init__(self, geometry: Any = "l2", scale: float = 1.0, start: float = 1.0, lipschitz: float | None = None) -> None:
        scale, start = positive("scale", scale), positive("start", start)
        self.options = {"geometry": geometry, "scale": scale, "start": start, "lipschitz": lipschitz}
        super().__init__("adaptive parameter-free", Adaptive(scale, start), geometry, "square", lipschitz or 1.0)


class GradientMixture(Linear):
    """Scale-free: a mixture over rates that adapts to Σ(δx)², per coordinate by default.

    >>> import burkholder as bk
    >>> learner = bk.Learner(GradientMixture(), loss="absolute", bound=1.0)
    >>> learner.update([1.0, -2.0], 0.5)
    >>> learner.potential() <= 1e-9
    True
    """

    def __init__(self, geometry: Any = "coordinates", scale: float = 1.0, atoms: int = 24, lipschitz: float | None = None) -> None:
        scale = positive("scale", scale)
        if atoms != int(atoms) or not 1 <= atoms <= 200:
            raise BadInput("atoms", atoms, "give a whole number from 1 to 200")
        self.options = {"geometry": geometry, "scale": scale, "atoms": int(atoms), "lipschitz": lipschitz}
        curve = SHARP if isinstance(geometries.get(geometry), geometries.Coordinates) else ()
        super().__init__("gradient mixture", Mixture(scale, int(atoms), *curve), geometry, "gradient", lipschitz or 1.0)
