"""Several classes: one learner a class on shared feature statistics, and a mixture of three ways to join them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.auto import classes as loops
from burkholder.auto import features, rows
from burkholder.auto.learner import Auto, _check_weight, _hashable, _weights
from burkholder.auto.state import FEATURES, State, copied
from burkholder.errors import BadInput
from burkholder.learning.certificate import Certificate, Guarantee

FORMAT = 3  # of saved states
BLEND = (0.5, 0.5, 10.0, 0.0, 10.0)  # a, b, and their precision (aa, ab, bb)


class AutoMulticlass:
    """Probabilities of classes that may appear at any time; nothing to tune.

    One logistic Auto a class (this class against the rest), all on the same scaled features, which are read once a
    row. Their log-odds m_c become probabilities in three ways: σ(m_c)/Σσ(m), softmax(m), and the softmax of
    a·m + b·ln σ(m), which is the first at (0, 1) and the second at (1, 0), with a and b learned from (½, ½). Bayes' rule
    mixes the three: the log loss is at most the best one's + ln 3.

    >>> learner = AutoMulticlass()
    >>> for t in range(300):
    ...     learner.update({"x": t % 3 - 1.0, "z": float(t % 3 == 0)}, "abc"[t % 3])
    >>> max(learner.predict_proba({"x": 0.0, "z": 0.0}).items(), key=lambda pair: pair[1])[0]
    'b'
    """

    def __init__(self, classes: Any = (), *, intercept: bool = True, full_features: int = 64) -> None:
        self._options: dict[str, Any] = {"intercept": intercept, "full_features": full_features}
        self._pattern = Auto("logistic", **self._options)
        self.names = rows.Names()
        self._places: dict[Any, int] = {}  # class → its place; place 0 is a class not met yet, which was only ever wrong
        self._many: Any = loops.many_of(self._pattern.state, 4)
        self.rounds = 0
        self.cumulative_loss = 0.0
        self._mixing = loops.new_mixing(BLEND, np.zeros(3), 4)
        self._tabled: tuple[Any, Any, Any, loops.Tables] = (None, None, None, (None,) * 4)
        self._fit_work(1)
        for label in classes:
            self._add(label)

    @property
    def classes(self) -> list[Any]:
        """The classes known, in the order they appeared."""
        return list(self._places)

    @property
    def learners(self) -> dict[Any, Auto]:
        """The learner of every class, to look at (they share what is known of the features: do not update them)."""
        return {label: self._view(place) for label, place in self._places.items()}

    def _view(self, place: int) -> Auto:
        view = Auto("logistic", **self._options)
        view.state, view.names = loops.one_of(self._many, place), self.names
        view._fit_work(1)
        return view

    def _add(self, label: Any) -> None:
        place = len(self._places) + 1
        if place >= len(self._many.scalars):
            self._many = loops.more_classes(self._many)
            self._fit_work(1)
        for name in loops.OWN:
            array = getattr(self._many, name)
            array[place] = array[0]
        self._places[label] = place

    def _tables(self) -> loops.Tables:
        """What the loop reads, made anew when an array was replaced."""
        if self._tabled[0] is not self._many or self._tabled[1] is not self._works or self._tabled[2] is not self._mixing:
            if len(self._mixing.margins) != len(self._many.scalars):
                self._mixing = loops.new_mixing(self._mixing.blend, self._mixing.lost, len(self._many.scalars))
            made = loops.tables_of(self._pattern.plan, self._mixing, self._many, self._works)
            self._tabled = (self._many, self._works, self._mixing, made)
        return self._tabled[3]

    @property
    def way_losses(self) -> NDArray[np.float64]:
        """The cumulative loss of each of the three ways."""
        return self._mixing.lost

    def _probabilities(self, indptr: NDArray[np.int64], ids: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        longest = int(np.diff(indptr).max()) if len(indptr) > 1 else 0
        if longest + 1 + int(self._many.dense_count[0]) > len(self._works.slot) - 8:
            self._fit_work(longest)
        return loops.predict_classes(self._tables(), len(self._places), (indptr, ids, values))

    def predict_proba(self, x: Any) -> dict[Any, float]:
        """The probability of every class known. Changes nothing."""
        ids, values = rows.row(x, self.names, grow=False)
        if not self._places:
            return {}
        return dict(zip(self._places, self._probabilities(np.array([0, len(ids)]), ids, values)[0].tolist()))

    def probabilities(self, X: Any) -> NDArray[np.float64]:
        """A row of probabilities, in the order of `classes`, for every row of a matrix. Changes nothing."""
        indptr, indices, values = rows.matrix(X)
        ids = rows.large_ids(indices, self.names, grow=False)
        return self._probabilities(indptr, ids, values)

    def predict(self, x: Any) -> Any:
        """The likeliest class, None before the first label."""
        likely = self.predict_proba(x)
        return max(likely, key=likely.__getitem__) if likely else None

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """Learn from one row and its class. A class never seen before is charged −ln(1/(known+1))."""
        w = _check_weight(weight)
        _check_class(y)
        rows.row(x, self.names, grow=False)
        ids, values = rows.row(x, self.names, grow=True)
        self._learn(np.array([0, len(ids)]), ids, values, [y], np.array([w]))

    def run(self, X: Any, y: Any, weight: Any = None) -> tuple[list[Any], NDArray[np.float64]]:
        """(predicted classes, log losses) over a matrix, each predicted before it was learned: the loop, compiled."""
        indptr, indices, values = rows.matrix(X)
        labels = [label.item() if isinstance(label, np.generic) else label for label in y]
        if len(labels) != len(indptr) - 1:
            raise BadInput("y", f"{len(labels)} labels", f"give one a row: {len(indptr) - 1}")
        for label in labels:
            _check_class(label)
        weights = _weights(weight, len(labels))
        return self._learn(indptr, rows.large_ids(indices, self.names, grow=True), values, labels, weights)

    def _learn(
        self, indptr: NDArray[np.int64], ids: NDArray[np.int64], values: NDArray[np.float64], labels: list[Any], weight: NDArray[np.float64]
    ) -> tuple[list[Any], NDArray[np.float64]]:
        """Stretches of rows between first appearances of classes, each in one compiled loop."""
        self._make_room(indptr, ids)
        predicted: list[Any] = []
        paid, start = np.empty(len(labels)), 0
        while start < len(labels):
            fresh = labels[start] not in self._places
            known = len(self._places)
            if fresh:
                likely = self._probabilities(indptr[start : start + 2], ids, values)[0] if known else []
                predicted.append(self.classes[int(np.argmax(likely))] if known else None)
                self._add(labels[start])
            stop = start + 1
            while not fresh and stop < len(labels) and labels[stop] in self._places:
                stop += 1
            part = slice(start, stop)
            places = np.array([self._places[label] for label in labels[part]])
            tables = self._tables()
            before = self._mixing.lost.copy(), self._mixing.blend.copy()
            found, lost = loops.learn_classes(tables, len(self._places), (indptr[start : stop + 1], ids, values), places, weight[part])
            if fresh:  # no way knew the class: the charge is the same for all, and nothing was to be learned from it
                lost[0] = math.log(known + 1.0)
                self._mixing.lost[:], self._mixing.blend[:] = before
            else:
                named = self.classes
                predicted += [named[place - 1] for place in found]
            paid[part] = lost
            start = stop
        paid *= weight
        self.cumulative_loss += float(paid.sum())
        self.rounds += len(labels)
        return predicted, paid

    def _make_room(self, indptr: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        top = int(ids.max()) + 1 if ids.size else 0
        plan = self._pattern.plan
        self._many = loops.more_features(plan, self._many, 0, top)
        new = int(features.count_unseen(self._many.slot_of, ids))
        self._many = loops.more_features(plan, self._many, int(self._many.scalars[0, FEATURES]) + new, top)
        longest = int(np.diff(indptr).max()) if len(indptr) > 1 else 0
        if len(self._works.mark) < len(self._many.stat) or len(self._works.slot) < longest + 9 + len(self._many.stat):
            self._fit_work(longest)

    def _fit_work(self, touched: int) -> None:
        slots = len(self._many.stat)
        self._works = loops.works_of(self._pattern.plan, len(self._many.scalars), slots, touched + 1 + slots)

    def certificate(self) -> Certificate:
        """The log loss against the best of the three ways; each class has its own certificate as well."""
        bound = float(self.way_losses.min()) + math.log(3.0)
        return Certificate(
            "auto-multiclass",
            "log",
            self.rounds,
            self.cumulative_loss,
            guarantees=(Guarantee("against every way", "loss on rounds of known classes ≤ the best way's loss + ln 3", bound),),
            notes=(f"{len(self._places)} classes; first appearances are charged ln(known + 1)",),
        )

    def state_dict(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        """(header, arrays), for `from_state`."""
        header: dict[str, Any] = {
            "learner": "auto-multiclass",
            "format": FORMAT,
            "classes": self.classes,
            "names": list(self.names.ids),
            "rows": self.names.kind,
            "rounds": self.rounds,
            "cumulative_loss": self.cumulative_loss,
            "options": self._options,
            "way_losses": self.way_losses.tolist(),
            "blend": self._mixing.blend.tolist(),
        }
        used = len(self._places) + 1
        return header, {
            name: getattr(self._many, name)[:used].copy() if name in loops.OWN else getattr(self._many, name).copy()
            for name in State._fields
        }

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, NDArray]) -> AutoMulticlass:
        """The learner that `state_dict` described."""
        if header.get("learner") != "auto-multiclass" or header.get("format") != FORMAT:
            raise BadInput("header", header.get("learner"), f"give the state of an AutoMulticlass, format {FORMAT}")
        missing = set(State._fields) - set(arrays)
        if missing:
            raise BadInput("arrays", sorted(missing), "these arrays are missing from the saved state")
        whole = cls(**header["options"])
        whole._many = State(**{name: copied(arrays[name]) for name in State._fields})
        whole.names = rows.Names({_hashable(name): place for place, name in enumerate(header["names"])}, header["rows"])
        whole._places = {_hashable(label): place for place, label in enumerate(header["classes"], 1)}
        whole.rounds, whole.cumulative_loss = header["rounds"], header["cumulative_loss"]
        whole._mixing = loops.new_mixing(header["blend"], header["way_losses"], len(whole._many.scalars))
        whole._fit_work(1)
        return whole


def _check_class(y: Any) -> None:
    try:
        hash(y)
    except TypeError:
        raise BadInput("y", y, "a class must be hashable: text, a number, a tuple") from None
