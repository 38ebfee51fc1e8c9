"""States: the one thing that changes while a learner learns."""

from burkholder.states.curved import CurvedState
from burkholder.states.generic import TauState
from burkholder.states.linear import LinearState

__all__ = ["CurvedState", "LinearState", "TauState"]
