"""What both estimators share: making learners, feeding them rows, asking them for predictions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning.factory import named_learner
from burkholder.sklearn.columns import Columns, words_of
from burkholder.storage.portable import Portable


class StreamEstimator(Portable, BaseEstimator):
    """`fit` shuffles the rows, because it is followed by predictions alone; `partial_fit` is the stream. Parameters stored as given."""

    # parameters that are options of the learner or of its loss, handed on unless None
    _OPTIONS: tuple[str, ...] = ("radius", "bound", "effort")
    columns_: Columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    # --- learners ----------------------------------------------------------------------------------------
    def _open(self) -> Any:
        """A fresh learner with these settings."""
        given = {name: getattr(self, name) for name in self._OPTIONS if getattr(self, name) is not None}
        twice = sorted(set(given) & set(self.options or {}))
        if twice:
            raise BadInput("options", twice[0], "it is given as a parameter too")
        return named_learner(self.learner, self.loss, {**(self.options or {}), **given}, bool(self.intercept))

    def _check_settings(self) -> None:
        if not (isinstance(self.passes, (int, np.integer)) and self.passes >= 1):
            raise BadInput("passes", self.passes, "give a whole number ≥ 1")
        if not isinstance(self.shuffle, (bool, np.bool_)):
            raise BadInput("shuffle", self.shuffle, "give True or False")

    def _orders(self, rows: int) -> Iterator[np.ndarray | slice]:
        """The order of the rows in each pass."""
        generator = check_random_state(self.random_state)
        for _ in range(self.passes):
            yield generator.permutation(rows) if self.shuffle else slice(None)

    def _checked(self, X: Any, reset: bool, *targets: Any, **how: Any) -> tuple[sparse.csr_matrix, Any]:
        """(rows, targets): X checked and compressed, so that dense and sparse rows of the same numbers are the same rows."""
        X, words = words_of(X, self.categorical_features)
        how |= {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "accept_large_sparse": False, "ensure_all_finite": "allow-nan"}
        found = validate_data(self, X, *targets, reset=reset, **how)
        checked, y = found if targets else (found, None)
        columns: Columns = Columns(checked.shape[1]) if reset else self.columns_
        learning = bool(targets)
        rows = columns.rows(checked, words, learning)
        if reset:
            self.columns_ = columns
        return rows, y

    def _rows_and_targets(self, X: Any, y: Any, sample_weight: Any, reset: bool, **how: Any) -> tuple[Any, Any, Any]:
        rows, y = self._checked(X, reset, y, **how)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        return rows, y, weight

    @staticmethod
    def _feed(learner: Any, rows: sparse.csr_matrix, labels: np.ndarray, weight: Any) -> None:
        rows.sort_indices()
        learner.run_batch(rows.indptr, rows.indices, rows.data, labels, weight)

    @staticmethod
    def _ask(learner: Any, rows: sparse.csr_matrix) -> np.ndarray:
        """ŷ for every row, nothing learned."""
        rows.sort_indices()
        return np.asarray(learner.predict_many(rows))

    # --- learned attributes ------------------------------------------------------------------------------
    def _fitted_rows(self, X: Any) -> sparse.csr_matrix:
        check_is_fitted(self, "learner_")
        return self._checked(X, False)[0]

    @property
    def feature_importances_(self) -> np.ndarray:
        """How far one standard deviation of each column moves the prediction of the linear lanes, indicators of a column added up."""
        check_is_fitted(self, "learner_")
        if not hasattr(self.learner_, "importances"):
            raise AttributeError(f"feature_importances_: {self.learner!r} has none; learner='auto' has")
        each = np.asarray(self.learner_.importances())
        out = np.zeros(self.n_features_in_)
        out[: len(each)] = each[: len(out)]
        for (column, _), place in self.columns_.places.items():
            out[column] += each[place] if place < len(each) else 0.0
        return out

    @property
    def _probabilistic(self) -> bool:
        return (losses.get(self.loss) if isinstance(self.loss, str) else self.loss).odds


def linear_weights(learner: Any) -> tuple[float, np.ndarray] | None:
    """(intercept, weights) where the prediction is linear in x, else None."""
    strategy = getattr(learner, "strategy", None)
    if getattr(strategy, "name", None) != "tangent" or getattr(learner, "features", None) is not None:
        return None
    if not hasattr(learner.state, "cells") or learner.function.remembers:
        return None  # functions that remember the largest feature change their weights with x
    vector = learner.state.weights()
    if not learner.rows.intercept:
        return 0.0, vector
    return (float(vector[0]), vector[1:]) if len(vector) else (0.0, vector)


def padded_weights(learner: Any, features: int) -> tuple[float, np.ndarray]:
    """(intercept, weights) over all features; AttributeError where predictions are not linear, as sklearn wants it."""
    found = linear_weights(learner)
    if found is None:
        raise AttributeError(f"coef_ and intercept_: {type(learner).__name__} is not linear in the features here")
    return found[0], np.concatenate([found[1], np.zeros(max(0, features - len(found[1])))])[:features]
