"""Models as experts: ours, scikit-learn's, river's, or plain functions, aggregated as they learn."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.experts import rows
from burkholder.experts.certificate import ExpertsCertificate
from burkholder.experts.learner import Experts
from burkholder.learning import frames
from burkholder.learning.naming import is_missing
from burkholder.learning.protocol import OnlineLearner, State, Stretch
from burkholder.learning.tickets import MAX_PENDING

STILL = (float, int, str, bool, bytes, type(None), np.float64)  # values that cannot change


def _log_odds(p: float) -> float:
    """ln(p/(1−p)), kept within ±30 where a probability of 0 or 1 would be infinite."""
    floor = 1e-13
    p = min(max(p, floor), 1.0 - floor)
    return math.log(p) - math.log1p(-p)


def asked(model: Any, x: Any) -> Any:
    """One row as this model takes it: under the names it was fitted with, where it knows any; else a mapping by its sorted names,
    an array as it is.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        values = [x[key] for key in sorted(x, key=str)] if isinstance(x, Mapping) else x
        return np.asarray(values, dtype=float).reshape(1, -1)
    if isinstance(x, Mapping):
        for name in names:
            if name not in x:
                raise BadInput("x", x, f"the model was fitted with a feature {name!r}: every row needs it")
        values = [x[name] for name in names]
    else:
        values = list(x)
        if len(values) != len(names):
            raise BadInput("x", x, f"the model was fitted with {len(names)} features: give as many")
    import pandas as pd

    return pd.DataFrame([values], columns=list(names))


def _named(x: Any) -> dict[Any, Any]:
    """One row as river takes it."""
    return dict(x) if isinstance(x, Mapping) else dict(enumerate(np.asarray(x).tolist()))


def told(answer: Any) -> Any:
    """What a model answered about one row: the only one of several answers, and None where it has none.

    >>> told(np.array([[2.0]])).item(), told(3), told(math.nan), told([1.0, 2.0])
    (2.0, 3, None, [1.0, 2.0])
    """
    if type(answer) is not float and np.ndim(answer) and np.size(answer) == 1:
        answer = np.ravel(answer)[0]
    return None if is_missing(answer) else answer


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
                return _log_odds(float(self.model.predict_proba(asked(self.model, x))[0, -1]))
            if self.classes and hasattr(self.model, "decision_function"):
                return float(self.model.decision_function(asked(self.model, x))[0])
            return float(np.ravel(self.model.predict(asked(self.model, x)))[0])
        except NotFittedError:
            return math.nan

    def learn(self, x: Any, y: float) -> None:
        if self.classes and not self.fitted:
            self.model.partial_fit(asked(self.model, x), [int(y)], classes=[-1, 1])
        else:
            self.model.partial_fit(asked(self.model, x), [int(y) if self.classes else y])
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


class Rows(NamedTuple):
    """Many rows, each as the models take it."""

    values: list[Any]
    keep: bool = True

    @property
    def rows(self) -> int:
        return len(self.values)

    def part(self, start: int, stop: int) -> Rows:
        return self._replace(values=self.values[start:stop])


class ModelExperts(OnlineLearner):
    """A learner made of learners: every model predicts, the aggregate answers, every model learns.

    For classification losses forecasts are log-odds of class 1. A model that has no answer (None, NaN, not
    fitted yet) is asleep; so is one whose answer is infinite or beyond 1e150.

    A label that cannot be used is refused before any model sees it. Models that are not ours may still raise in the
    middle of learning: the aggregate, its rounds and its certificate are then as they were, but the models before the
    one that raised have learned the row, for copying models at every round would cost more than learning. With
    `careful=True` every model is copied before every update and all of them are put back; without it `run` alone does
    so, once. What is put back are copies: hold on to `models[name].model`, not to the object that was handed in. The
    weight of a round is for the aggregate; the models learn each row once.

    >>> models = ModelExperts([lambda x: x["a"], lambda x: 2 * x["a"]], loss="absolute")
    >>> for a in range(50):
    ...     models.update({"a": float(a)}, 2.0 * a)
    >>> abs(models.predict({"a": 50.0}) - 100.0) < 0.5
    True
    """

    def __init__(
        self,
        models: Sequence[Any] | Mapping[str, Any],
        loss: Any = "absolute",
        *,
        careful: bool = False,
        max_pending: int = MAX_PENDING,
        **options: Any,
    ) -> None:
        super().__init__(max_pending)
        self.experts, self.careful = Experts(loss, **options), careful
        classes = losses.is_classification(self.experts.loss)
        named = models if isinstance(models, Mapping) else _labels(models)
        if not named:
            raise BadInput("models", models, "give at least one model")
        self.models = {str(name): _adapted(model, classes) for name, model in named.items()}
        self.experts.admit(tuple(self.models))

    @property
    def loss(self) -> Any:
        """The loss the models are mixed for."""
        return self.experts.loss

    def forecasts(self, x: Any) -> dict[str, float]:
        """What every model that is awake says."""
        said: dict[str, float] = {}
        for name, model in self.models.items():
            answer = told(model.forecast(x))
            try:
                number = math.nan if answer is None else float(answer)
            except (TypeError, ValueError, OverflowError):
                raise BadInput(f"models[{name!r}]", answer, "a model's forecast is a number") from None
            if abs(number) <= rows.LIMIT:
                said[name] = number
        return said

    def _read(self, x: Any) -> Any:
        return copied(x)

    def _play(self, row: Any) -> tuple[float, Any]:
        said = self.experts._read(self.forecasts(row))
        answer, memo = self.experts._play(said)
        return answer, (said, memo)

    def _learn(self, row: Any, memo: Any, y: Any, weight: float, late: int) -> None:
        """From what the models said before learning; they learn only what the aggregate can learn from."""
        bound = self.experts.bound
        target = rows.target(self.loss, y, math.inf if bound is None else bound)
        undo = self._undo() if self.careful else self.experts._undo()
        try:
            self.experts._learn(memo[0], memo[1], target, weight, late)
            for model in self.models.values():
                model.learn(row, target)
        except BaseException:
            undo()
            raise

    def _table(self, X: Any) -> Rows:
        try:
            found = frames.dicts(X) if frames.is_frame(X) else list(X)
        except TypeError:
            raise BadInput("X", X, "give a list of rows, an array or a data frame") from None
        return Rows([copied(row) for row in found])

    def _targets(self, y: Any, rows_: int) -> np.ndarray:
        return self.experts._targets(y, rows_)

    def _run(self, table: Rows, targets: np.ndarray, weights: np.ndarray | None) -> Stretch:
        n, width = table.rows, len(self.experts.columns)
        answers, paid, used = np.empty(n), np.empty(n), np.empty((n, width))
        said = np.empty((n, len(self.models)))
        for t, (row, y) in enumerate(zip(table.values, targets.tolist())):
            answers[t], memo = self._play(row)
            said[t] = memo[0].values
            used[t] = list(self.experts.weights(said[t]).values())
            paid[t] = losses.value(self.loss, float(answers[t]), y)
            try:
                self._learn(row, memo, y, 1.0 if weights is None else float(weights[t]), 0)
            except BadInput as error:
                raise BadInput(f"y[{t}]", error.value, error.remedy) from None
        return Stretch(answers, paid, {"forecasts": said, "targets": targets, "weights": used})

    def _predict_many(self, table: Rows) -> np.ndarray:
        return np.array([self._play(row)[0] for row in table.values], dtype=float)

    def _undo(self) -> Callable[[], None]:
        aggregate, kept = self.experts._undo(), copy.deepcopy(self.models)

        def back() -> None:
            aggregate()
            self.models = kept

        return back

    @property
    def rounds(self) -> int:
        return self.experts.rounds

    @property
    def cumulative_loss(self) -> float:
        return self.experts.cumulative_loss

    def weights(self) -> dict[str, float]:
        """The weight of each model now, with all of them awake."""
        return self.experts.weights()

    def certificate(self) -> ExpertsCertificate:
        """What holds against every mixture of the models' forecasts."""
        return self.experts.certificate()

    def state_dict(self) -> State:
        raise BadInput("models", "models of any kind", "save each with its own tools, and `experts` of this object as Experts")

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
        raise BadInput("header", header.get("kind"), "make ModelExperts from models; only its `experts` can be loaded")


def copied(x: Any) -> Any:
    """A row that nobody outside can change: all of it is copied, down to the last part that can change."""
    if type(x) is dict and all(type(value) in STILL for value in x.values()):
        return dict(x)
    if isinstance(x, np.ndarray) and x.dtype != object:
        return x.copy()
    return x if type(x) in STILL else copy.deepcopy(x)


def _labels(models: Sequence[Any]) -> dict[str, Any]:
    """Names from the models' types, numbered where they repeat."""
    kinds = [getattr(model, "__name__", type(model).__name__) for model in models]
    return {kind if kinds.count(kind) == 1 else f"{kind}-{j}": model for j, (kind, model) in enumerate(zip(kinds, models))}
