"""States: the one thing that changes while a learner learns."""

from burkholder.rounds.curved import CurvedState
from burkholder.rounds.generic import TauState
from burkholder.rounds.state import LinearState

__all__ = ["CurvedState", "LinearState", "TauState"]
