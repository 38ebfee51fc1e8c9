"""Confidence sequences: intervals for a mean that are valid at every moment at once, from the library's own potentials."""

from burkholder.confidence.betting import Betting
from burkholder.confidence.compare import Comparison, compare
from burkholder.confidence.sequence import Confidence
from burkholder.confidence.vectors import VectorConfidence

__all__ = ["Betting", "Comparison", "Confidence", "VectorConfidence", "compare"]
