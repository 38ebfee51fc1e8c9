"""The classifier: one learner for two classes, one a class beyond, fed with named features, which may come and go."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

from river import base

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.river.model import StreamModel
from burkholder.river.rows import named, table_rows
from burkholder.storage import pack, unpack


class BurkholderClassifier(StreamModel, base.MiniBatchClassifier):
    """Online classification, two classes or more, with certificates; nothing to tune by default.

    Two classes are one learner; from the third on, each class has a learner of its own against the rest, and a class
    that appears late starts from nothing.

    Parameters
    ----------
    learner
        "auto", or any name of `burkholder list`.
    loss
        "logistic" (with probabilities) or "hinge".
    intercept
        Whether to add a constant feature.
    options
        Further options of the learner, such as {"radius": 10.0}.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> model = BurkholderClassifier("adagrad")
    >>> evaluate.progressive_val_score(datasets.Phishing().take(400), model, metrics.Accuracy()).get() > 0.8
    True
    """

    classifies = True

    def __init__(
        self, learner: str = "auto", loss: str = "logistic", intercept: bool = True, options: dict[str, Any] | None = None
    ) -> None:
        super().__init__(learner, loss, intercept, options)
        # one learner: class 0 against the other; from the third class on, one for each
        self._classes: list[Any] = []  # in the order they appeared
        self._signs: list[float] = [1.0]  # −1: this learner has its class as −1

    @property
    def _multiclass(self) -> bool:
        return True

    # --- learning ----------------------------------------------------------------------------------------
    def learn_one(self, x: dict[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """One round."""
        row, weight = named(x), float(w)
        if not (math.isfinite(weight) and weight >= 0.0):
            raise BadInput("w", w, "give a finite number ≥ 0")
        classes, learners, signs = self._with(y)
        # the first learner refuses a bad row before any of them has changed
        for label, learner, sign in zip(classes, learners, signs):
            learner.update(row, sign if label == y else -sign, weight)
        self._classes, self._learners, self._signs = classes, learners, signs

    def _with(self, y: Any) -> tuple[list[Any], list[Any], list[float]]:
        """Classes, learners and signs once y has been seen."""
        if y in self._classes:
            return self._classes, self._learners, self._signs
        classes = [*self._classes, y]
        if len(classes) <= 2:
            return classes, self._learners, self._signs
        if len(classes) == 3:
            # both losses are symmetric: a copy with the sign turned is what class 1 against the rest had learned
            mirrored = unpack(pack(self._learners[0]))
            return classes, [self._learners[0], mirrored, self._open()], [1.0, -1.0, 1.0]
        return classes, [*self._learners, self._open()], [*self._signs, 1.0]

    # --- predicting --------------------------------------------------------------------------------------
    def _scores(self, x: dict[Hashable, Any]) -> dict[Any, float]:
        row = named(x)
        if len(self._learners) == 1:
            score = float(self._learners[0].predict(row))
            return dict(zip(self._classes, (score, -score)))
        return {label: sign * float(learner.predict(row)) for label, learner, sign in zip(self._classes, self._learners, self._signs)}

    def predict_one(self, x: dict[Hashable, Any], **kwargs: Any) -> Any:
        """The most likely class; None before any was seen."""
        scores = self._scores(x)
        return max(scores, key=scores.__getitem__) if scores else None

    def predict_proba_one(self, x: dict[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """A probability for every class seen so far."""
        if not isinstance(self._learners[0].loss, losses.Logistic):
            raise NotImplementedError("the hinge loss gives no probabilities")
        scores = self._scores(x)
        if len(scores) < 2:
            return dict.fromkeys(scores, 1.0)
        logs = {label: _log_sigmoid(score) for label, score in scores.items()}
        top = max(logs.values())
        shares = {label: math.exp(log - top) for label, log in logs.items()}
        total = sum(shares.values())
        return {label: share / total for label, share in shares.items()}

    def predict_many(self, X: Any) -> Any:
        """The most likely class of every row of a data frame."""
        import pandas as pd

        return pd.Series([self.predict_one(x) for x in table_rows(X)], index=X.index)

    def predict_proba_many(self, X: Any) -> Any:
        """A column of probabilities for every class seen so far."""
        import pandas as pd

        return pd.DataFrame([self.predict_proba_one(x) for x in table_rows(X)], index=X.index, columns=self._classes)

    def certificates(self) -> dict[Any, Any]:
        """The certificate of every learner, by the class it is for."""
        return {label: learner.certificate() for label, learner in zip(self._classes or [None], self._learners)}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"learner": "adagrad", "loss": "hinge"}


def _log_sigmoid(score: float) -> float:
    return -math.log1p(math.exp(-score)) if score >= 0.0 else score - math.log1p(math.exp(score))
