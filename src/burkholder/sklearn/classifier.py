"""Classification: two classes by one learner, more by one learner each against the rest (Auto: on shared statistics)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from burkholder.auto import Auto, AutoMulticlass
from burkholder.errors import BadInput
from burkholder.sklearn.estimator import StreamEstimator, padded_weights


def _has_probabilities(estimator: Any) -> bool:
    if estimator._probabilistic:
        return True
    raise AttributeError(f"the {estimator.loss!r} loss gives no probabilities; loss='logistic' does")


class BurkholderClassifier(ClassifierMixin, StreamEstimator):
    """Online classification with a certificate, as a scikit-learn estimator.

    Parameters
    ----------
    learner : "auto" (nothing to tune) or any name of `burkholder list`
    loss : "logistic" (with `predict_proba`) or "hinge"
    options : further options of the learner, such as {"full_features": 0}
    intercept : whether to add a constant feature
    passes : how often `fit` goes through the rows (`partial_fit` goes once)
    class_weight : None, a dict from class to weight, or "balanced" (for `fit`)
    shuffle : whether `fit` takes the rows in random order. What is fitted and then only predicts should not end with the last
        rows in mind; turn it off where the rows drift and what comes next is like the last of them
    random_state : of the shuffling
    radius, bound, effort : options of the learner, by name; None leaves them alone
    categorical_features : "from_dtype": text and categories of data frames become indicators; None: every column is a number

    Attributes
    ----------
    classes_ : the labels; learner_ : the burkholder learner; for three classes or more an AutoMulticlass, or a list of learners
    certificate_ : the certificate, or a dict from class to its certificate; n_iter_ : passes made
    coef_, intercept_ : the weights, one row a learner, where the learner is linear in the features
    feature_importances_ : of Auto
    Missing values (NaN) count as 0, with an indicator of their own.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> y = np.where(X[:, 0] > 0, "up", "down")
    >>> model = BurkholderClassifier("adagrad", radius=5.0, passes=3).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), model.predict_proba(X[:1]).shape
    (True, (1, 2))
    """

    def __init__(
        self,
        learner: str = "auto",
        loss: str = "logistic",
        options: dict[str, Any] | None = None,
        intercept: bool = True,
        passes: int = 1,
        *,
        class_weight: Any = None,
        shuffle: bool = True,
        random_state: Any = 0,
        radius: float | None = None,
        bound: float | None = None,
        effort: str | None = None,
        categorical_features: str | None = "from_dtype",
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.options = options
        self.intercept = intercept
        self.passes = passes
        self.class_weight = class_weight
        self.shuffle = shuffle
        self.random_state = random_state
        self.radius = radius
        self.bound = bound
        self.effort = effort
        self.categorical_features = categorical_features

    # --- learning ----------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BurkholderClassifier:
        """Start afresh and learn the rows, `passes` times."""
        self._check_settings()
        rows, y, weight = self._rows_and_targets(X, y, sample_weight, reset=True)
        check_classification_targets(y)
        classes = np.unique(y)
        weight = self._weighed(y, weight)
        learners = self._fresh(len(classes))
        for order in self._orders(rows.shape[0]):
            self._learn(learners, classes, rows[order], y[order], None if weight is None else weight[order])
        self.classes_, self.learner_, self.n_iter_ = classes, learners, int(self.passes)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> BurkholderClassifier:
        """Learn these rows too, once. The first call must name all classes."""
        first = not hasattr(self, "learner_")
        self._check_settings()
        if first and classes is None:
            raise BadInput("classes", None, "the first call of partial_fit must name all classes")
        if classes is not None:
            classes = np.unique(classes)
            if not first and not np.array_equal(classes, self.classes_):
                raise BadInput("classes", classes.tolist(), f"the first call named {self.classes_.tolist()}")
        known = classes if first else self.classes_
        rows, y, weight = self._rows_and_targets(X, y, sample_weight, reset=first)
        check_classification_targets(y)
        if not np.isin(y, known).all():
            raise BadInput("y", sorted(set(np.asarray(y).tolist()) - set(known.tolist())), f"classes are {known.tolist()}")
        if isinstance(self.class_weight, str):
            raise BadInput("class_weight", self.class_weight, "how classes balance is not known in a stream; give a dict")
        weight = self._weighed(y, weight)
        learners = self._fresh(len(known)) if first else self.learner_
        self._learn(learners, known, rows, y, weight)
        self.classes_, self.learner_, self.n_iter_ = known, learners, 1
        return self

    def _weighed(self, y: np.ndarray, weight: Any) -> Any:
        """The rows' weights times those of their classes."""
        if self.class_weight is None:
            return weight
        of_class = compute_sample_weight(self.class_weight, y)
        return of_class if weight is None else weight * of_class

    def _fresh(self, classes: int) -> Any:
        learner = self._open()  # settings are checked even where one class leaves nothing to learn
        if classes <= 2:
            return learner
        if isinstance(learner, Auto) and self._probabilistic:
            # classes are known by their places in classes_; several have a limit of their own for covariances
            given = {name: value for name, value in (self.options or {}).items() if name == "full_features"}
            return AutoMulticlass(range(classes), intercept=bool(learner.plan.intercept), effort=learner.effort, **given)
        return [learner, *(self._open() for _ in range(classes - 1))]

    def _learn(self, learners: Any, classes: np.ndarray, rows: Any, y: np.ndarray, weight: Any) -> None:
        if len(classes) <= 2:
            self._feed(learners, rows, np.where(y == classes[-1], 1.0, -1.0), weight)
            return
        if isinstance(learners, AutoMulticlass):
            rows.sort_indices()
            learners.run(rows, np.searchsorted(classes, y).tolist(), weight, trace=0)
            return
        for label, learner in zip(classes, learners):
            self._feed(learner, rows, np.where(y == label, 1.0, -1.0), weight)

    # --- predicting --------------------------------------------------------------------------------------
    def decision_function(self, X: Any) -> np.ndarray:
        """ŷ: one number a row for two classes, one a class for more (Auto: the logarithms of their probabilities)."""
        rows = self._fitted_rows(X)
        if isinstance(self.learner_, AutoMulticlass):
            rows.sort_indices()
            return np.log(np.maximum(self.learner_.probabilities(rows), np.finfo(float).tiny))
        if not isinstance(self.learner_, list):
            return self._ask(self.learner_, rows)
        return np.column_stack([self._ask(learner, rows) for learner in self.learner_])

    def predict(self, X: Any) -> np.ndarray:
        """The most likely class of every row."""
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.full(len(scores), self.classes_[0])
        return self.classes_[(scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities by the logistic function; with three classes or more each against the rest, scaled to 1."""
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1))
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        if isinstance(self.learner_, AutoMulticlass):
            shares = np.exp(scores)
            return shares / shares.sum(axis=1, keepdims=True)
        # scaled in the exponent: far from every class the shares still make sense
        logs = -np.logaddexp(0.0, -scores)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    # --- learned attributes ------------------------------------------------------------------------------
    @property
    def certificate_(self) -> Any:
        """The certificate over the rows learned so far; by class, each against the rest, for three or more."""
        check_is_fitted(self, "learner_")
        if isinstance(self.learner_, AutoMulticlass):
            each = self.learner_.learners
            return {label: each[place].certificate() for place, label in enumerate(self.classes_.tolist())}
        if not isinstance(self.learner_, list):
            return self.learner_.certificate()
        return {label: learner.certificate() for label, learner in zip(self.classes_.tolist(), self.learner_)}

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the features, one row a learner."""
        return np.array([coef for _, coef in self._weights()])

    @property
    def intercept_(self) -> np.ndarray:
        """The weights of the constant."""
        return np.array([intercept for intercept, _ in self._weights()])

    def _weights(self) -> list[tuple[float, np.ndarray]]:
        check_is_fitted(self, "learner_")
        learners = self.learner_ if isinstance(self.learner_, list) else [self.learner_]
        return [padded_weights(learner, self.n_features_in_) for learner in learners]
