"""A predictor that stands still: what an Auto knows at one moment, for use after the stream."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from burkholder.learning.certificate import Certificate


class Frozen:
    """Predictions of a learner as it was when it was frozen; there is nothing to teach it.

    The last rows of a stream weigh most in a learner that follows changes. Where what comes next is like the whole stream rather than
    like its end, learn the rows in random order before freezing: the scikit-learn estimators do.

    >>> from burkholder import Auto
    >>> learner = Auto("squared")
    >>> for t in range(60):
    ...     learner.update([t % 2], 3.0 * (t % 2))
    >>> still = learner.frozen()
    >>> learner.update([1.0], -50.0)
    >>> abs(still.predict([1.0]) - 3.0) < 0.1 < abs(learner.predict([1.0]) - 3.0)
    True
    """

    def __init__(self, learner: Any) -> None:
        """`learner` is kept: hand over a copy that nobody else has."""
        self._learner = learner

    def predict(self, x: Any) -> float:
        """The prediction for one row."""
        return self._learner.predict(x)

    def predict_proba(self, x: Any) -> float:
        """The probability of the label 1 (logistic loss)."""
        return self._learner.predict_proba(x)

    def predict_many(self, X: Any) -> NDArray:
        """The prediction for every row of X, compiled."""
        return self._learner.predict_many(X)

    def certificate(self) -> Certificate:
        """What held when it was frozen."""
        return self._learner.certificate()

    def importances(self) -> Any:
        """How far one standard deviation of each feature moves the prediction of the linear lanes."""
        return self._learner.importances()
