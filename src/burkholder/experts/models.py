"""Models as experts: ours, scikit-learn's, river's, or plain functions, aggregated as they learn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.experts import rows
from burkholder.experts.certificate import ExpertsCertificate
from burkholder.experts.learner import Experts


def _log_odds(p: float) -> float:
    """ln(p/(1−p)), kept within ±30 where a probability of 0 or 1 would be infinite."""
    floor = 1e-13
    p = min(max(p, floor), 1.0 - floor)
    return math.log(p) - math.log1p(-p)


def _dense(x: Any) -> np.ndarray:
    """One row as scikit-learn takes it: a mapping by its sorted names, an array as it is."""
    values = [x[key] for key in sorted(x, key=str)] if isinstance(x, Mapping) else x
    return np.asarray(values, dtype=float).reshape(1, -1)


def _named(x: Any) -> dict[Any, Any]:
    """One row as river takes it."""
    return dict(x) if isinstance(x, Mapping) else dict(enumerate(np.asarray(x).tolist()))


class _Ours:
    """predict(x) and update(x, y)."""

    def __init__(self, model: Any, classes: bool) -> None:
        self.model = model

    def forecast(self, x: Any) -> Any:
        return self.model.predict(x)

    def learn(self, x: Any, y: float) -> None:
        self.model.update(x, y)


class _ScikitLearn:
    """partial_fit(X, y) and predict(X); asleep until first fitted. Classifiers answer in log-odds."""

    def __init__(self, model: Any, classes: bool) -> None:
        self.model, self.classes, self.fitted = model, classes, False

    def forecast(self, x: Any) -> float:
        from sklearn.exceptions import NotFittedError

        try:
            if self.classes and hasattr(self.model, "predict_proba"):
                return _log_odds(float(self.model.predict_proba(_dense(x))[0, -1]))
            if self.classes and hasattr(self.model, "decision_function"):
                return float(self.model.decision_function(_dense(x))[0])
            return float(self.model.predict(_dense(x))[0])
        except NotFittedError:
            return math.nan

    def learn(self, x: Any, y: float) -> None:
        if self.classes and not self.fitted:
            self.model.partial_fit(_dense(x), [int(y)], classes=[-1, 1])
        else:
            self.model.partial_fit(_dense(x), [int(y) if self.classes else y])
        self.fitted = True


class _River:
    """predict_one(x) and learn_one(x, y); asleep while it answers None. Classifiers answer in log-odds."""

    def __init__(self, model: Any, classes: bool) -> None:
        self.model, self.classes = model, classes

    def forecast(self, x: Any) -> float | None:
        if self.classes:
            answer = self.model.predict_proba_one(_named(x))
            return _log_odds(float(answer.get(True, 0.0))) if answer else None
        return self.model.predict_one(_named(x))

    def learn(self, x: Any, y: float) -> None:
        self.model.learn_one(_named(x), y == 1.0 if self.classes else y)


class _Function:
    """forecast = f(x); it does not learn."""

    def __init__(self, model: Callable[[Any], Any], classes: bool) -> None:
        self.model = model

    def forecast(self, x: Any) -> Any:
        return self.model(x)

    def learn(self, x: Any, y: float) -> None:
        pass


def _adapted(model: Any, classes: bool) -> Any:
    for names, kind in ((("learn_one", "predict_one"), _River), (("partial_fit", "predict"), _ScikitLearn), (("update", "predict"), _Ours)):
        if all(hasattr(model, name) for name in names):
            return kind(model, classes)
    if callable(model):
        return _Function(model, classes)
    raise BadInput("models", model, "give objects with predict/update, partial_fit/predict or learn_one/predict_one, or functions of x")


class ModelExperts:
    """A learner made of learners: every model predicts, the aggregate answers, every model learns.

    For classification losses forecasts are log-odds of class 1. A model that has no answer (None, NaN, not
    fitted yet) is asleep; so is one whose answer is infinite or beyond 1e150.

    >>> models = ModelExperts([lambda x: x["a"], lambda x: 2 * x["a"]], loss="absolute")
    >>> for a in range(50):
    ...     models.update({"a": float(a)}, 2.0 * a)
    >>> abs(models.predict({"a": 7.0}) - 14.0) < 0.5
    True
    """

    def __init__(self, models: Sequence[Any] | Mapping[str, Any], loss: Any = "absolute", **options: Any) -> None:
        self.experts = Experts(loss, **options)
        classes = losses.is_classification(self.experts.loss)
        named = models if isinstance(models, Mapping) else _labels(models)
        if not named:
            raise BadInput("models", models, "give at least one model")
        self.models = {str(name): _adapted(model, classes) for name, model in named.items()}

    def forecasts(self, x: Any) -> dict[str, float]:
        """What every model that is awake says."""
        said: dict[str, float] = {}
        for name, model in self.models.items():
            answer = model.forecast(x)
            number = math.nan if answer is None else float(answer)
            if abs(number) <= rows.LIMIT:
                said[name] = number
        return said

    def predict(self, x: Any) -> float:
        """The aggregate's answer (0 until any model has one)."""
        return self.experts.predict(self.forecasts(x))

    def update(self, x: Any, y: Any) -> None:
        """Teach the aggregate first, from what the models said before learning, then every model."""
        bound = self.experts.bound
        target = rows.target(self.experts.loss, y, math.inf if bound is None else bound)
        self.experts.update(self.forecasts(x), target)
        for model in self.models.values():
            model.learn(x, target)

    def weights(self) -> dict[str, float]:
        return self.experts.weights()

    def certificate(self) -> ExpertsCertificate:
        return self.experts.certificate()


def _labels(models: Sequence[Any]) -> dict[str, Any]:
    """Names from the models' types, numbered where they repeat."""
    kinds = [getattr(model, "__name__", type(model).__name__) for model in models]
    return {kind if kinds.count(kind) == 1 else f"{kind}-{j}": model for j, (kind, model) in enumerate(zip(kinds, models))}
