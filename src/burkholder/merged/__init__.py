"""Forecasts of several learners as lanes of one aggregation: what merging and keys that help each other are made of."""
