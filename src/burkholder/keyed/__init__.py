"""One learner a key: customers, sensors, shops, each with a stream of its own."""

from burkholder.keyed.learner import Keyed

__all__ = ["Keyed"]
