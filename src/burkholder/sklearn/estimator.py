"""What both estimators share: making learners, feeding them rows, asking them for predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning.factory import named_learner
from burkholder.storage.portable import Portable


class StreamEstimator(Portable, BaseEstimator):
    """Rows in the order they are given, predicted before they are learned; parameters stored as given."""

    def __init__(self, learner: str, loss: str, options: dict[str, Any] | None, intercept: bool, passes: int) -> None:
        self.learner = learner
        self.loss = loss
        self.options = options
        self.intercept = intercept
        self.passes = passes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # --- learners ----------------------------------------------------------------------------------------
    def _open(self) -> Any:
        """A fresh learner with these settings."""
        return named_learner(self.learner, self.loss, self.options, bool(self.intercept))

    def _check_settings(self) -> None:
        if not (isinstance(self.passes, (int, np.integer)) and self.passes >= 1):
            raise BadInput("passes", self.passes, "give a whole number ≥ 1")

    def _rows(self, X: Any, reset: bool) -> sparse.csr_matrix:
        """X checked and compressed: dense and sparse rows of the same numbers are the same rows."""
        checked = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=False)
        return sparse.csr_matrix(checked)

    def _rows_and_targets(self, X: Any, y: Any, sample_weight: Any, reset: bool, **how: Any) -> tuple[Any, Any, Any]:
        X, y = validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], accept_large_sparse=False, **how)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        return sparse.csr_matrix(X), y, weight

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
        return self._rows(X, reset=False)

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
