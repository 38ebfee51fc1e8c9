"""The classifier: one learner for two classes, one a class beyond, fed with named features, which may come and go."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any

from river import base

from burkholder.errors import BadInput
from burkholder.learning.naming import is_missing
from burkholder.river.model import StreamModel
from burkholder.river.rows import table_rows
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
        self._pair: dict[Any, float] = {}  # while there are two classes: each as the label of the one learner

    @property
    def _multiclass(self) -> bool:
        return True

    # --- learning ----------------------------------------------------------------------------------------
    def learn_one(self, x: dict[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """One round."""
        label = self._pair.get(y)
        if label is not None:  # as most rounds are
            self._learners[0].update(x, label, w)
            return
        classes, learners, signs = self._with(y)
        # the first learner refuses a bad row or weight before any of them has changed
        for label, learner, sign in zip(classes, learners, signs):
            learner.update(x, sign if label == y else -sign, w)
        self._classes, self._learners, self._signs = classes, learners, signs
        self._pair = dict(zip(classes, (1.0, -1.0))) if len(classes) == 2 else {}

    def _with(self, y: Any) -> tuple[list[Any], list[Any], list[float]]:
        """Classes, learners and signs once y has been seen."""
        if y in self._classes:
            return self._classes, self._learners, self._signs
        if is_missing(y):
            raise BadInput("y", y, "a missing value is not a class; drop the row or name the class")
        classes = [*self._classes, y]
        if len(classes) <= 2:
            return classes, self._learners, self._signs
        if len(classes) == 3:
            # both losses are symmetric: a copy with the sign turned is what class 1 against the rest had learned
            mirrored = unpack(pack(self._learners[0]))
            return classes, [self._learners[0], mirrored, self._open()], [1.0, -1.0, 1.0]
        return classes, [*self._learners, self._open()], [*self._signs, 1.0]

    # --- predicting --------------------------------------------------------------------------------------
    def predict_one(self, x: dict[Hashable, Any], **kwargs: Any) -> Any:
        """The most likely class; None before any was seen."""
        scores = [sign * learner.predict(x) for learner, sign in zip(self._learners, self._signs)]
        return self._likeliest(scores)

    def predict_proba_one(self, x: dict[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """A probability for every class seen so far."""
        if self._pair and self._learners[0].loss.odds:  # as most models are
            return dict(zip(self._pair, _shares(self._learners[0].predict(x))))
        return self._chances([sign * learner.predict(x) for learner, sign in zip(self._learners, self._signs)])

    def _likeliest(self, scores: list[float]) -> Any:
        """The class with the largest score; one learner scores the first of two classes."""
        if len(scores) == 1:
            return self._classes[-1 if scores[0] < 0.0 else 0] if self._classes else None
        return self._classes[max(range(len(scores)), key=scores.__getitem__)]

    def _chances(self, scores: list[float]) -> dict[Any, float]:
        """Probabilities from the scores, each class against the rest, scaled to 1."""
        if not self._learners[0].loss.odds:
            raise NotImplementedError("the hinge loss gives no probabilities")
        if len(self._classes) < 2:
            return dict.fromkeys(self._classes, 1.0)
        if len(scores) == 1:
            return dict(zip(self._classes, _shares(scores[0])))
        logs = [_log_sigmoid(score) for score in scores]
        top = max(logs)
        shares = [math.exp(log - top) for log in logs]
        total = sum(shares)
        return {label: share / total for label, share in zip(self._classes, shares)}

    def _scored(self, X: Any) -> list[list[float]]:
        """The learners' scores for every row of a data frame."""
        rows = list(table_rows(X))
        columns = [[sign * score for score in learner.predict_many(rows).tolist()] for learner, sign in zip(self._learners, self._signs)]
        return [list(scores) for scores in zip(*columns)]

    def predict_many(self, X: Any) -> Any:
        """The most likely class of every row of a data frame."""
        import pandas as pd

        return pd.Series([self._likeliest(scores) for scores in self._scored(X)], index=X.index)

    def predict_proba_many(self, X: Any) -> Any:
        """A column of probabilities for every class seen so far."""
        import pandas as pd

        return pd.DataFrame([self._chances(scores) for scores in self._scored(X)], index=X.index, columns=self._classes)

    def certificates(self) -> dict[Any, Any]:
        """The certificate of every learner, by the class it is for."""
        return {label: learner.certificate() for label, learner in zip(self._classes or [None], self._learners)}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"learner": "adagrad", "loss": "hinge"}


def _shares(score: float) -> tuple[float, float]:
    """σ(score) and σ(−score), which sum to 1."""
    if score >= 0.0:
        rest = math.exp(-score)
        return 1.0 / (1.0 + rest), rest / (1.0 + rest)
    rest = math.exp(score)
    return rest / (1.0 + rest), 1.0 / (1.0 + rest)


def _log_sigmoid(score: float) -> float:
    return -math.log1p(math.exp(-score)) if score >= 0.0 else score - math.log1p(math.exp(score))
