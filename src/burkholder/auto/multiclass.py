"""Several classes: one Auto a class, names shared, and a mixture of two ways to join them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.auto import rows
from burkholder.auto.learner import Auto, _check_weight, _hashable
from burkholder.certificates import Certificate, Guarantee
from burkholder.errors import BadInput

LEAST = 1e-13  # no class is given less


class AutoMulticlass:
    """Probabilities of classes that may appear at any time; nothing to tune.

    One logistic Auto a class (this class against the rest). Their log-odds m_c become probabilities in two ways,
    σ(m_c)/Σσ(m) and softmax(m), and Bayes' rule mixes the two: the log loss is at most the better one's + ln 2.

    >>> learner = AutoMulticlass()
    >>> for t in range(300):
    ...     learner.update({"x": t % 3 - 1.0, "z": float(t % 3 == 0)}, "abc"[t % 3])
    >>> max(learner.predict_proba({"x": 0.0, "z": 0.0}).items(), key=lambda pair: pair[1])[0]
    'b'
    """

    def __init__(self, classes: Any = (), *, intercept: bool = True, full_features: int = 64) -> None:
        self._options: dict[str, Any] = {"intercept": intercept, "full_features": full_features}
        self.names = rows.Names()
        self.learners: dict[Any, Auto] = {}
        self._unseen = Auto("logistic", **self._options)  # a class not met yet: it has only ever been wrong
        self._unseen.names = self.names
        self.rounds = 0
        self.cumulative_loss = 0.0
        self.way_losses = np.zeros(2)
        for label in classes:
            self._add(label)

    @property
    def classes(self) -> list[Any]:
        """The classes known, in the order they appeared."""
        return list(self.learners)

    def _add(self, label: Any) -> None:
        header, arrays = self._unseen.state_dict()
        learner = Auto.from_state(header | {"names": []}, arrays)
        learner.names = self.names
        self.learners[label] = learner

    def _ways(self, ids: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """2 × classes: the probabilities either way; log-odds are within ±30."""
        margins = np.array([learner._predict(ids, values) for learner in self.learners.values()])
        odds = np.exp(-np.logaddexp(0.0, -margins))
        soft = np.exp(margins - margins.max())
        ways = np.maximum(np.array([odds / odds.sum(), soft / soft.sum()]), LEAST)
        return ways / ways.sum(axis=1, keepdims=True)

    def _mixed(self, ways: NDArray[np.float64]) -> NDArray[np.float64]:
        weight = np.exp(self.way_losses.min() - self.way_losses)
        return weight @ ways / weight.sum()

    def predict_proba(self, x: Any) -> dict[Any, float]:
        """The probability of every class known. Changes nothing."""
        if not self.learners:
            return {}
        ids, values = rows.row(x, self.names, grow=False)
        return dict(zip(self.learners, self._mixed(self._ways(ids, values)).tolist()))

    def predict(self, x: Any) -> Any:
        """The likeliest class, None before the first label."""
        likely = self.predict_proba(x)
        return max(likely, key=likely.__getitem__) if likely else None

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """Learn from one row and its class. A class never seen before is charged −ln(1/(known+1))."""
        w = _check_weight(weight)
        try:
            hash(y)
        except TypeError:
            raise BadInput("y", y, "a class must be hashable: text, a number, a tuple") from None
        rows.row(x, self.names, grow=False)
        ids, values = rows.row(x, self.names, grow=True)
        if y in self.learners:
            ways = self._ways(ids, values)
            place = self.classes.index(y)
            self.cumulative_loss -= w * math.log(self._mixed(ways)[place])
            self.way_losses -= w * np.log(ways[:, place])
        else:
            self.cumulative_loss += w * math.log(len(self.learners) + 1.0)
            self._add(y)
        indptr, weights = np.array([0, len(ids)]), np.array([w])
        for label, learner in [*self.learners.items(), (None, self._unseen)]:
            sign = 1.0 if learner is not self._unseen and label == y else -1.0
            learner._learn(indptr, ids, values, np.array([sign]), weights)
        self.rounds += 1

    def run(self, X: Any, y: Any) -> tuple[list[Any], NDArray[np.float64]]:
        """(predicted classes, log losses) over a matrix, each predicted before it was learned."""
        indptr, indices, values = rows.matrix(X)
        predicted, paid = [], np.empty(len(y))
        for t, label in enumerate(y):
            part = slice(indptr[t], indptr[t + 1])
            row, before = (indices[part], values[part]), self.cumulative_loss
            predicted.append(self.predict(row))
            self.update(row, label.item() if isinstance(label, np.generic) else label)
            paid[t] = self.cumulative_loss - before
        return predicted, paid

    def certificate(self) -> Certificate:
        """The log loss against the better of the two ways; each class has its own certificate as well."""
        bound = float(self.way_losses.min()) + math.log(2.0)
        return Certificate(
            "auto-multiclass", "log", self.rounds, self.cumulative_loss,
            guarantees=(Guarantee(
                "against either way", "loss on rounds of known classes ≤ the better way's loss + ln 2", bound),),
            notes=(f"{len(self.learners)} classes; first appearances are charged ln(known + 1)",),
        )

    def state_dict(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        """(header, arrays), for `from_state`."""
        header: dict[str, Any] = {
            "learner": "auto-multiclass", "classes": self.classes, "names": list(self.names.ids), "rows": self.names.kind,
            "rounds": self.rounds, "cumulative_loss": self.cumulative_loss, "options": self._options,
            "way_losses": self.way_losses.tolist(), "parts": [],
        }
        arrays: dict[str, NDArray] = {}
        for place, learner in enumerate([*self.learners.values(), self._unseen]):
            part, own = learner.state_dict()
            header["parts"].append(part | {"names": []})
            arrays |= {f"{place}/{name}": array for name, array in own.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, NDArray]) -> AutoMulticlass:
        """The learner that `state_dict` described."""
        if header.get("learner") != "auto-multiclass":
            raise BadInput("header", header.get("learner"), "give the state of an AutoMulticlass")
        whole = cls(**header["options"])
        whole.names = rows.Names({_hashable(name): place for place, name in enumerate(header["names"])}, header["rows"])
        learners = []
        for place, part in enumerate(header["parts"]):
            own = {name.split("/", 1)[1]: a for name, a in arrays.items() if name.split("/", 1)[0] == str(place)}
            learner = Auto.from_state(part, own)
            learner.names = whole.names
            learners.append(learner)
        whole.learners = dict(zip([_hashable(label) for label in header["classes"]], learners))
        whole._unseen = learners[-1]
        whole.rounds, whole.cumulative_loss = header["rounds"], header["cumulative_loss"]
        whole.way_losses = np.array(header["way_losses"])
        return whole
