"""States: the one thing that changes while a learner learns."""

from burkholder.states.linear import LinearState

__all__ = ["LinearState"]
