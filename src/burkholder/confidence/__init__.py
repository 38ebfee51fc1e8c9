"""Confidence sequences: intervals for a mean that are valid at every moment at once, from the library's own potentials."""
