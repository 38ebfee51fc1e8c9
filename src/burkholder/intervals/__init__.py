"""Prediction intervals, quantiles and prediction sets, with a coverage that is promised on every path."""
