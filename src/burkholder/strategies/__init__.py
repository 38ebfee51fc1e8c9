"""How U becomes a prediction: S1 general, S2 convex, S3 sign flip, S4 tangent, or a rule of the function's own."""

from burkholder.strategies.choice import STRATEGIES, choose, detect
from burkholder.strategies.deterministic import Closed, Convex, SignFlip, Tangent
from burkholder.strategies.general import Distribution, General

__all__ = ["STRATEGIES", "Closed", "Convex", "Distribution", "General", "SignFlip", "Tangent", "choose", "detect"]
