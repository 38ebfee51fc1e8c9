"""Burkholder learners as scikit-learn estimators: `BurkholderRegressor`, `BurkholderClassifier`."""

from burkholder.errors import MissingExtra

try:
    import sklearn  # noqa: F401
except ImportError:
    raise MissingExtra("scikit-learn", "sklearn") from None

from burkholder.sklearn.classifier import BurkholderClassifier
from burkholder.sklearn.regressor import BurkholderRegressor

__all__ = ["BurkholderClassifier", "BurkholderRegressor"]
