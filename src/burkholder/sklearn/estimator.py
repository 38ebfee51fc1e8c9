"""What both estimators share: making learners, feeding them rows, asking them for predictions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d, validate_data

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning import frames
from burkholder.learning.factory import named_learner
from burkholder.storage.portable import Portable

CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "accept_large_sparse": False,
    "ensure_all_finite": "allow-nan",
}


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
        tags.input_tags.allow_nan = True
        return tags

    # --- learners ----------------------------------------------------------------------------------------
    def _open(self) -> Any:
        """A fresh learner with these settings."""
        return named_learner(self.learner, self.loss, self.options, bool(self.intercept))

    def _check_settings(self) -> None:
        if not (isinstance(self.passes, (int, np.integer)) and self.passes >= 1):
            raise BadInput("passes", self.passes, "give a whole number ≥ 1")

    def _rows(self, X: Any, reset: bool) -> Any:
        """X checked and compressed: dense and sparse rows of the same numbers are the same rows. A frame with text or dates in it
        is handed on as it is: learners read it by the names of its columns."""
        if self._mixed(X, reset):
            return _Frame(validate_data(self, X, reset=reset, skip_check_array=True))
        return _flagged(validate_data(self, X, reset=reset, **CHECKS))

    def _rows_and_targets(self, X: Any, y: Any, sample_weight: Any, reset: bool, **how: Any) -> tuple[Any, Any, Any]:
        if self._mixed(X, reset):
            X, y = validate_data(self, X, y, reset=reset, skip_check_array=True)
            y = column_or_1d(y, warn=True)
            rows: Any = _Frame(X)
            if rows.shape[0] != len(y):
                raise BadInput("y", f"{len(y)} labels", f"X has {rows.shape[0]} rows: give one label for each")
            if how.get("y_numeric"):
                y = np.asarray(y, dtype=np.float64)
        else:
            X, y = validate_data(self, X, y, reset=reset, **CHECKS, **how)
            rows = _flagged(X)
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, rows.whole, ensure_non_negative=True)
        return rows, y, weight

    def _mixed(self, X: Any, reset: bool) -> bool:
        """Whether rows come by name: a frame that is not all numbers, and every one after the first of that kind."""
        if reset:
            self._by_name = frames.is_frame(X) and not frames.plain(X)
        return getattr(self, "_by_name", False)

    @staticmethod
    def _feed(learner: Any, rows: Any, labels: Any, weight: Any) -> None:
        if by_name(rows):
            learner.run(rows.whole, labels, weight, trace=0)
            return
        learner.run_batch(rows.csr.indptr, rows.csr.indices, rows.csr.data, labels, weight)

    @staticmethod
    def _ask(learner: Any, rows: Any) -> np.ndarray:
        """ŷ for every row, nothing learned."""
        return np.asarray(learner.predict_many(rows.whole if by_name(rows) else rows.csr))

    # --- learned attributes ------------------------------------------------------------------------------
    def _fitted_rows(self, X: Any) -> Any:
        check_is_fitted(self, "learner_")
        return self._rows(X, reset=False)

    @property
    def _probabilistic(self) -> bool:
        return (losses.get(self.loss) if isinstance(self.loss, str) else self.loss).odds


class _Frame(NamedTuple):
    """A data frame, whose rows are read by name."""

    whole: Any

    @property
    def shape(self) -> tuple[int, int]:
        return tuple(self.whole.shape)


class _Compressed(NamedTuple):
    """Numbers: as they were checked, and compressed, with a flag for every value that is missing."""

    whole: Any
    csr: sparse.csr_matrix


def by_name(rows: Any) -> bool:
    """Whether these rows are read by the names of their columns."""
    return isinstance(rows, _Frame)


def _flagged(X: Any) -> _Compressed:
    """NaN in column j of d is the feature d + j with value 1, as a missing value is everywhere."""
    rows = sparse.csr_matrix(X, copy=True)
    absent = np.isnan(rows.data)
    if absent.any():
        indices = np.where(absent, rows.indices + rows.shape[1], rows.indices)
        rows = sparse.csr_matrix((np.where(absent, 1.0, rows.data), indices, rows.indptr), shape=(rows.shape[0], 2 * rows.shape[1]))
    rows.sort_indices()
    return _Compressed(X, rows)


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
