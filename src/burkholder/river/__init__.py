"""Burkholder learners as river models: a regressor, a classifier, an aggregator of models, a recommender, intervals."""

from burkholder.errors import MissingExtra

try:
    import river  # noqa: F401
except ImportError:
    raise MissingExtra("river", "river") from None

from burkholder.river.classifier import BurkholderClassifier
from burkholder.river.experts import ExpertRegressor
from burkholder.river.intervals import IntervalRegressor
from burkholder.river.recommender import BurkholderRecommender
from burkholder.river.regressor import BurkholderRegressor

__all__ = ["BurkholderClassifier", "BurkholderRecommender", "BurkholderRegressor", "ExpertRegressor", "IntervalRegressor"]
