"""Prediction intervals, quantiles and prediction sets, with a coverage that is promised on every path."""

from burkholder.intervals.learner import Intervals
from burkholder.intervals.quantiles import Quantiles
from burkholder.intervals.sets import PredictionSets

__all__ = ["Intervals", "PredictionSets", "Quantiles"]
