"""Several classes: one learner a class on shared feature statistics, three ways to join them, softmax lanes, all mixed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.auto import classes as loops
from burkholder.auto import features, schema
from burkholder.auto.forest import WIDEST
from burkholder.auto.joining import JoinedCertificate, certify_joined
from burkholder.auto.learner import Auto
from burkholder.auto.nonlinear import PREFIX, TREES
from burkholder.auto.pooling import new_pool
from burkholder.auto.reading import Reading, row_in, row_out
from burkholder.auto.several import START, Several
from burkholder.auto.state import FEATURES, State, copied
from burkholder.auto.targets import HEAVIEST
from burkholder.errors import BadInput
from burkholder.learning.naming import is_missing
from burkholder.learning.protocol import OnlineLearner, Stretch
from burkholder.learning.rounding import two_sum
from burkholder.learning.rows import Rows
from burkholder.learning.tickets import MAX_PENDING, Played
from burkholder.learning.weights import checked_weight, checked_weights

FORMAT = 8  # of saved states
BLEND = (0.5, 0.5, 10.0, 0.0, 10.0)  # a, b, and their precision (aa, ab, bb)
TALLY = ("rounds", "loss", "loss_rest", "fresh", "early", "weight", "heavy", "late", "late_cost")


class AutoMulticlass(OnlineLearner):
    """Probabilities of classes that may appear at any time; nothing to tune.

    One logistic Auto a class (this class against the rest), all on the same scaled features, which are read once a
    row. Their log-odds m_c become probabilities in three ways: σ(m_c)/Σσ(m), softmax(m), and the softmax of
    a·m + b·ln σ(m), which is the first at (0, 1) and the second at (1, 0), with a and b learned from (½, ½). Beside them stand three
    softmax lanes, which learn all classes at once, and a pool of the six, with learned weights on the logarithms. Bayes' rule mixes the
    seven linear ways: their log loss is at most the pool's + ln 2, and that of each of the others + ln 12.

    After eight rounds follow trees for all classes at once, with and without the linear ways below them, neighbours, discriminants, and a
    pool of all this, while there are at most 128 features; Bayes' rule again. effort: "light" leaves them out, "default" has twelve trees,
    "thorough" 32. A class never seen before is charged ln(known + 1).

    >>> learner = AutoMulticlass()
    >>> for t in range(300):
    ...     learner.update({"x": t % 3 - 1.0, "z": float(t % 3 == 0)}, "abc"[t % 3])
    >>> learner.predict({"x": 0.0, "z": 0.0})
    'b'
    """

    scalar = False  # it answers with a class

    def __init__(
        self, classes: Any = (), *, intercept: bool = True, full_features: int = 64, effort: str = "default", max_pending: int = MAX_PENDING
    ) -> None:
        super().__init__(max_pending)
        if not isinstance(effort, str) or effort not in TREES:
            raise BadInput("effort", effort, f"give one of {', '.join(TREES)}")
        self.effort = effort
        self._options: dict[str, Any] = {"intercept": bool(intercept), "full_features": full_features}
        self._pattern = Auto("logistic", effort="light", **self._options)
        self.reading = Reading()
        self._places: dict[Any, int] = {}  # class → its place; place 0 is a class not met yet, which was only ever wrong
        self._many: Any = loops.many_of(self._pattern.state, 4)
        self._mixing = loops.new_mixing(BLEND, np.zeros(2 * loops.WAYS), self._soft(np.zeros((0, 0, 8))), new_pool())
        self._tally = dict.fromkeys(TALLY, 0.0)
        self._several: Several | None = None
        self._ready()
        for label in classes:
            self._add(_checked_class(label, "classes"))

    def _ready(self) -> None:
        slots = len(self._many.stat)
        self._works = loops.works_of(self._pattern.plan, len(self._many.scalars), slots, 1 + slots)
        self._tabled: Any = None

    # --- what it knows of itself -----------------------------------------------------------------------------
    @property
    def rows(self) -> Rows:
        """How rows are read, as every learner reads them."""
        return self.reading.rows

    @property
    def rounds(self) -> int:
        """How many labels were learned."""
        return int(self._tally["rounds"])

    @property
    def cumulative_loss(self) -> float:
        """The progressive log loss so far, rounds weighted as given."""
        return self._tally["loss"] + self._tally["loss_rest"]

    def _lose(self, amount: float) -> None:
        self._tally["loss"], lost = two_sum(self._tally["loss"], amount)
        self._tally["loss_rest"] += lost

    @property
    def loss(self) -> Any:
        """The logistic loss, of each class against the rest."""
        return self._pattern.loss

    @property
    def classes(self) -> list[Any]:
        """The classes known, in the order they appeared."""
        return list(self._places)

    @property
    def way_losses(self) -> NDArray[np.float64]:
        """The cumulative loss of each of the seven linear ways, on rounds of known classes."""
        return self._mixing.lost[: loops.WAYS] + self._mixing.lost[loops.WAYS :]

    @property
    def learners(self) -> dict[Any, Auto]:
        """The learner of every class, to look at (they share what is known of the features: do not update them)."""
        return {label: self._view(place) for label, place in self._places.items()}

    def _view(self, place: int) -> Auto:
        view = Auto("logistic", effort="light", **self._options)
        view.state, view.reading = loops.one_of(self._many, place), self.reading
        view._ready()
        return view

    def importances(self) -> Any:
        """The largest over the classes of how far one standard deviation of each feature moves the class's log-odds."""
        each = [view.importances() for view in self.learners.values()]
        if not each:
            return {} if self.rows.kind == "names" else np.zeros(0)
        if isinstance(each[0], dict):
            return {name: max(one[name] for one in each) for name in each[0]}
        return np.max(each, axis=0)

    def certificate(self) -> JoinedCertificate:
        """The log loss against the best of all ways; each class's own learner has a certificate as well."""
        with self._lock:
            return certify_joined(self._tally, self._mixing.lost, self._several, len(self._places), self.pending)

    # --- one round -------------------------------------------------------------------------------------------
    def predict_proba(self, x: Any) -> dict[Any, float]:
        """The probability of every class known. Changes nothing."""
        with self._lock:
            return self._likely(self._read(x))

    def _likely(self, row: Any) -> dict[Any, float]:
        indices, values, _ = self.reading.places(row)
        if not self._places:
            return {}
        return dict(zip(self._places, self._chances((np.array([0, len(indices)]), indices, values), self.rounds)[0].tolist()))

    def _chances(self, rows: Any, done: int) -> NDArray[np.float64]:
        """A row of probabilities for each of some sparse rows, after so many rounds; nothing is learned."""
        linear = loops.predict_classes(self._tables(), len(self._places), rows)
        return linear if self._several is None else self._several.predict(self._many.slot_of, rows, done, linear)

    def _read(self, x: Any) -> Any:
        return self.reading.read(x)

    def _play(self, row: Any) -> tuple[Any, dict[Any, float]]:
        """The likeliest class (None before the first label), and what was said of every class."""
        likely = self._likely(row)
        return (max(likely, key=likely.__getitem__) if likely else None), likely

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """Learn from one row and its class."""
        with self._lock:
            self._learn(self._read(x), None, y, _checked_importance(weight), 0)

    def _learn(self, row: Any, memo: Any, y: Any, weight: float, late: int) -> None:
        label = _checked_class(y)
        indices, values, new = self.reading.places(row)
        self.reading.keep(row.kind, len(values), new)
        fresh = label not in self._places
        _, paid = self._rounds_of((np.array([0, len(indices)]), indices, values), [label], np.array([_checked_importance(weight)]))
        if late:
            # the loss of a late round is that of the probabilities that were shown
            now, then = float(paid[0]), -math.log(memo[label]) if label in memo else math.log(len(memo) + 1.0)
            self._lose(weight * (then - now))
            self._tally["fresh"] += weight * (then - now) if fresh else 0.0
            self._tally["late"] += 1.0
            self._tally["late_cost"] += 0.0 if fresh else weight * max(0.0, then - now)

    # --- many rows -------------------------------------------------------------------------------------------
    def _table(self, X: Any) -> Any:
        return self.reading.table(X)

    def _targets(self, y: Any, rows: int) -> list[Any]:
        labels = [_checked_class(label, f"y[{t}]") for t, label in enumerate(y)]
        if len(labels) != rows:
            raise BadInput("y", f"{len(labels)} labels", f"there are {rows} rows: give one label for each")
        return labels

    def _weights(self, weight: Any, rows: int) -> NDArray[np.float64] | None:
        weights = super()._weights(weight, rows)
        self._pattern.targets.check_weights(weights)
        return weights

    def _run(self, table: Any, targets: list[Any], weights: NDArray[np.float64] | None) -> Stretch:
        self.reading.keep_table(table)
        weight = np.ones(len(targets)) if weights is None else weights
        return Stretch(*self._rounds_of((table.indptr, table.indices, table.values), targets, weight))

    def run_batch(self, indptr: Any, indices: Any, values: Any, y: Any, weight: Any = None, likely: list[Any] | None = None) -> list[Any]:
        """The likeliest class of each of some sparse rows (CSR arrays), found before its label is learned. `likely` is added to: for
        every row the probabilities of the classes known by then, in the order of `classes`."""
        with self._lock:
            table = self.reading.compressed(indptr, indices, values)
            labels, weights = self._targets(y, table.rows), checked_weights(weight, table.rows)
            self._pattern.targets.check_weights(weights)
            self.reading.keep_table(table)
            weighed = np.ones(len(labels)) if weights is None else weights
            return self._rounds_of((table.indptr, table.indices, table.values), labels, weighed, likely)[0]

    def predict_batch(self, indptr: Any, indices: Any, values: Any) -> NDArray[np.float64]:
        """A row of probabilities, in the order of `classes`, for each of some sparse rows (CSR arrays). Changes nothing."""
        with self._lock:
            table = self.reading.compressed(indptr, indices, values)
            if not self._places:
                return np.zeros((table.rows, 0))
            return self._chances((table.indptr, table.indices, table.values), self.rounds)

    def probabilities(self, X: Any) -> NDArray[np.float64]:
        """A row of probabilities, in the order of `classes`, for every row of X. Changes nothing."""
        with self._lock:
            table = self._table(X)
            if not self._places:
                return np.zeros((table.rows, 0))
            return self._chances((table.indptr, table.indices, table.values), self.rounds)

    def _predict_many(self, table: Any) -> list[Any]:
        if not self._places:
            return [None] * table.rows
        likely = self._chances((table.indptr, table.indices, table.values), self.rounds)
        named = self.classes
        return [named[place] for place in likely.argmax(axis=1).tolist()]

    def _rounds_of(
        self, rows: Any, labels: list[Any], weight: NDArray[np.float64], said: list[Any] | None = None
    ) -> tuple[list[Any], NDArray[np.float64]]:
        """(predicted classes, log losses): stretches of rows between first appearances of classes, each in one compiled loop."""
        indptr, ids, values = rows
        self._make_room(ids[indptr[0] : indptr[-1]])
        predicted: list[Any] = []
        paid, start = np.empty(len(labels)), 0
        while start < len(labels):
            known, stop, done = len(self._places), start + 1, self.rounds + start
            fresh = labels[start] not in self._places
            if fresh:
                likely = self._chances((indptr[start : start + 2], ids, values), done)[0] if known else []
                predicted.append(self.classes[int(np.argmax(likely))] if known else None)
                if said is not None:
                    said.append(likely)
                self._add(labels[start])
            end = START - done + start if done < START else len(labels)  # what follows the linear lanes begins there
            while not fresh and stop < min(end, len(labels)) and labels[stop] in self._places:
                stop += 1
            part = slice(start, stop)
            places = np.array([self._places[label] for label in labels[part]])
            found, lost, shares = self._stretch((indptr[start : stop + 1], ids, values), places, weight[part], done, fresh)
            if fresh:  # no way knew the class: the charge is the same for all, and nothing was to be learned from it
                lost[0] = math.log(known + 1.0)
                self._tally["fresh"] += float(weight[start] * lost[0])
            else:
                named = self.classes
                predicted += [named[place - 1] for place in found]
                if said is not None:
                    said.extend(shares)
                if done < START:
                    self._tally["early"] = math.fsum([self._tally["early"], *(lost * weight[part])])
            paid[part] = lost
            start = stop
            if done + len(places) == START:
                self._open()
        self._lose(math.fsum(paid * weight))
        self._tally["rounds"] += len(labels)
        self._tally["weight"] += math.fsum(weight)
        self._tally["heavy"] += int(np.count_nonzero(weight > 1.0))
        return predicted, paid

    def _stretch(self, rows: Any, places: Any, weight: Any, done: int, fresh: bool) -> tuple[Any, Any, Any]:
        """(likeliest classes, log losses, probabilities) of rows of known classes after so many rounds; a fresh class teaches no mixing."""
        tables, known, several = self._tables(), len(self._places), self._several
        before = self._mixing.lost.copy(), self._mixing.blend.copy(), self._mixing.pool.copy()
        shares = np.empty((len(places), known))
        found, lost = loops.learn_classes(tables, known, rows, places, weight, shares)
        if fresh:
            self._mixing.lost[:], self._mixing.blend[:], self._mixing.pool[:] = before
        if several is not None:
            features = int(self._many.scalars[0, FEATURES])
            found, lost, shares = several.learn(self._many.slot_of, features, rows, done, shares, places, weight, fresh)
        return found, lost, shares

    def _open(self) -> None:
        """Let the trees begin, unless rows are wide or none are wanted."""
        if TREES[self.effort] and self._many.scalars[0, FEATURES] <= WIDEST + 1:
            self._several = Several(TREES[self.effort], len(self._places), self._tally["early"])

    # --- room ------------------------------------------------------------------------------------------------
    def _tables(self) -> tuple[Any, ...]:
        """What the loop reads, made anew when an array was replaced."""
        known = self._tabled
        if known is None or known[0] is not self._many or known[1] is not self._works or known[2] is not self._mixing:
            soft = self._soft(self._mixing.soft)
            if soft is not self._mixing.soft:
                self._mixing = loops.new_mixing(self._mixing.blend, self._mixing.lost, soft, self._mixing.pool)
            made = loops.tables_of(self._pattern.plan, self._mixing, self._many, self._works)
            self._tabled = known = (self._many, self._works, self._mixing, made)
        return known[3]

    def _soft(self, soft: NDArray[np.float64]) -> NDArray[np.float64]:
        return loops.roomy_soft(soft, len(self._many.scalars), len(self._many.stat))

    def _add(self, label: Any) -> None:
        place = len(self._places) + 1
        if place >= len(self._many.scalars):
            self._many = loops.more_classes(self._many)
            self._ready()
        for name in loops.OWN:
            array = getattr(self._many, name)
            array[place] = array[0]
        self._places[label] = place
        if self._several is not None:
            self._several.add_class(place)

    def _make_room(self, ids: NDArray[np.int64]) -> None:
        top = int(ids.max()) + 1 if ids.size else 0
        plan = self._pattern.plan
        self._many = loops.more_features(plan, self._many, 0, top)
        new = int(features.count_unseen(self._many.slot_of, np.ascontiguousarray(ids, np.int64)))
        self._many = loops.more_features(plan, self._many, int(self._many.scalars[0, FEATURES]) + new, top)
        if len(self._works.mark) < len(self._many.stat):
            self._ready()

    def _undo(self) -> Callable[[], None]:
        arrays, names = [array.copy() for array in self._many], self.reading.mark()
        places, tally = dict(self._places), dict(self._tally)
        learned = self._mixing.blend.copy(), self._mixing.lost.copy(), self._mixing.soft.copy(), self._mixing.pool.copy()
        several = self._several
        beyond = None if several is None else several.kept()

        def back() -> None:
            self._many = State(*(copied(array) for array in arrays))
            self.reading.back_to(names)
            self._places, self._tally = places, tally
            self._mixing = loops.new_mixing(*learned)
            self._several = several
            if several is not None and beyond is not None:
                several.restore(beyond)
            self._ready()

        return back

    # --- saved and copied ------------------------------------------------------------------------------------
    def state_dict(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        """(header, arrays), for `from_state`."""
        header: dict[str, Any] = {
            "learner": "auto-multiclass",
            "format": FORMAT,
            "classes": self.classes,
            "rows": self.reading.to_dict(),
            "tally": dict(self._tally),
            "options": {**self._options, "effort": self.effort, "max_pending": self.max_pending},
            "way_losses": self._mixing.lost.tolist(),
            "blend": self._mixing.blend.tolist(),
            "tickets": self._tickets.issued,
            "pending": [
                [id, played.round, [*map(list, played.memo.items())], row_out(played.row)] for id, played in self._tickets.waiting.items()
            ],
        }
        used = len(self._places) + 1
        arrays = {
            name: getattr(self._many, name)[:used].copy() if name in loops.OWN else getattr(self._many, name).copy()
            for name in State._fields
        }
        beyond = {} if self._several is None else self._several.arrays()
        arrays |= {"soft": self._soft(self._mixing.soft)[:used].copy(), "pool": self._mixing.pool.copy()}
        return header, arrays | {f"{PREFIX}{name}": array for name, array in beyond.items()}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, NDArray]) -> AutoMulticlass:
        """The learner that `state_dict` described."""
        schema.check_classes(header, arrays, FORMAT, loops.OWN)
        whole = cls(**header["options"])
        whole._many = State(**{name: copied(arrays[name]) for name in State._fields})
        whole.reading = Reading.from_dict(header["rows"])
        whole._places = {label: place for place, label in enumerate(header["classes"], 1)}
        whole._tally = {name: float(header["tally"][name]) for name in TALLY}
        whole._mixing = loops.new_mixing(header["blend"], header["way_losses"], copied(arrays["soft"]), arrays["pool"])
        if f"{PREFIX}ring" in arrays:
            whole._several = Several(TREES[whole.effort], len(whole._places), 0.0)
            whole._several.restore(schema.split_off(arrays)[0])
        whole._tickets.issued = header["tickets"]
        whole._tickets.waiting = {id: Played(row_in(row), dict(likely), when) for id, when, likely, row in header["pending"]}
        whole._ready()
        return whole

    def __getstate__(self) -> dict[str, Any]:
        # addresses of this very learner's arrays must not reach a copy
        return {**super().__getstate__(), "_works": None, "_tabled": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._many = State(*(copied(array) for array in self._many))
        self._ready()


def _checked_class(y: Any, argument: str = "y") -> Any:
    """A class as it is kept: numpy's numbers and texts as Python's own; what says that there is no value is no class."""
    label = y.item() if isinstance(y, np.generic) else y
    if is_missing(label):
        raise BadInput(argument, y, "a missing value is not a class; drop the row or name the class")
    if not _storable(label):
        raise BadInput(argument, y, "a class is text, a number, or a tuple of them: what can be saved")
    return label


def _storable(label: Any) -> bool:
    return all(map(_storable, label)) if type(label) is tuple else isinstance(label, (str, bool, int, float))


def _checked_importance(weight: Any) -> float:
    importance = checked_weight(weight)
    if importance > HEAVIEST:
        raise BadInput("weight", weight, f"give weights of at most {HEAVIEST:g}")
    return importance
