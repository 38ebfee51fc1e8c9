"""Scalar potentials f(g, s): what a coordinate, a norm or a spectrum is fed into."""

from burkholder.potentials import batch
from burkholder.potentials.davis_wang import NU, DavisWang
from burkholder.potentials.dispatch import gap, has_gap, has_slope, slope, target, value
from burkholder.potentials.exponential import Adaptive, Anytime, harmonic
from burkholder.potentials.mixture import Mixture, anchored
from burkholder.potentials.quadratic import Quadratic
from burkholder.potentials.square_root import SquareRoot

POTENTIALS = (Quadratic, SquareRoot, DavisWang, Adaptive, Anytime, Mixture)

__all__ = [
    "NU",
    "POTENTIALS",
    "Adaptive",
    "Anytime",
    "DavisWang",
    "Mixture",
    "Quadratic",
    "SquareRoot",
    "anchored",
    "batch",
    "gap",
    "harmonic",
    "has_gap",
    "has_slope",
    "slope",
    "target",
    "value",
]
