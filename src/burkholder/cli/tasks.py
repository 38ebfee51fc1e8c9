"""What labels are, in a run of `learn`: numbers, two classes or many. Each says how a batch is learned, what counts as an
error, how predictions are written, and what the run is compared with."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput, printable
from burkholder.losses.batch import values
from burkholder.report.baselines import best_constant

KEPT = 1 << 17  # labels kept for the best constant; of a longer stream, every second, fourth, …
HEAVIEST = 100.0  # a class met once in a hundred thousand rows should not count for them all


class Task:
    """Numbers, the plain case; also what the others share."""

    kind = "numbers"
    classifies = False

    def __init__(self, loss: Any, names: list[str], class_weight: str | None = None) -> None:
        self.loss, self.names = loss, list(names)
        if class_weight is not None and not self.classifies:
            raise BadInput("class-weight", class_weight, "the target holds numbers: only classes are weighed")
        self._balanced = class_weight == "balanced"
        self._weights = None if class_weight is None or self._balanced else weights_of(class_weight)
        self.counts = np.zeros(max(2, len(names)))
        self.errors = 0
        self.rows = 0
        self._kept: list[np.ndarray] = []
        self._stride = 1
        self._last: float | None = None
        self._last_paid = self._last_weight = 0.0
        self._last_errors = 0

    # --- learning ----------------------------------------------------------------------------------------------
    def weighed(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The rows' weights with those of their classes; "balanced": rounds so far over classes times rounds of this class so far."""
        if self._weights is None and not self._balanced:
            return weight
        places = self.places(y)
        if self._weights is not None:
            strange = set(self._weights) - set(self.names)
            if strange and self.kind == "two":
                raise BadInput("class-weight", sorted(strange)[0], f"the classes are {', '.join(self.names)}")
            return weight * np.array([self._weights.get(name, 1.0) for name in self.names])[places]
        counts = np.zeros(max(len(self.names), len(self.counts)))
        counts[: len(self.counts)] = self.counts
        out = np.empty(len(places))
        for t, place in enumerate(places.tolist()):  # each row counts before it weighs
            counts[place] += 1.0
            out[t] = counts.sum() / (max(2, np.count_nonzero(counts)) * counts[place])
        return weight * np.minimum(out, HEAVIEST)

    def remarks(self) -> list[str]:
        """Classes that were given a weight and that no row has."""
        return [f"--class-weight names {name!r}, which no row has" for name in self._weights or () if name not in self.names]

    def places(self, y: np.ndarray) -> np.ndarray:
        """The class of each label, by its place among the names."""
        return (y > 0.0).astype(np.int64)

    def learn(self, learner: Any, batch: Any, weight: np.ndarray) -> Any:
        """Predictions, each made before its label is learned."""
        return learner.run_batch(batch.indptr, batch.indices, batch.values, batch.y, weight)

    def lines(self, yhat: Any, learner: Any, proba: bool) -> list[str]:
        """Predictions as they are written, one a row."""
        return list(map(repr, yhat.tolist()))

    # --- counting ----------------------------------------------------------------------------------------------
    def seen(self, y: np.ndarray, yhat: Any, weight: np.ndarray) -> None:
        """Count a batch of the first pass."""
        self.rows += len(y)
        self._count(y, yhat)
        before = np.concatenate([[y[0] if self._last is None else self._last], y[:-1]])
        skip = int(self._last is None)
        self._again(before[skip:], y[skip:], weight[skip:])
        self._last = float(y[-1])
        if len(self._kept) * KEPT > 0 and sum(map(len, self._kept)) > 2 * KEPT:
            self._kept, self._stride = [np.concatenate(self._kept)[::2]], 2 * self._stride
        first = (-(self.rows - len(y))) % self._stride
        self._kept.append(np.stack([y, weight], axis=1)[first :: self._stride].copy())

    def _count(self, y: np.ndarray, yhat: Any) -> None:
        """Errors, and rows of each class."""

    def _again(self, before: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        self._last_paid += float(weight @ values(self.loss, before, y)) if len(y) else 0.0
        self._last_weight += float(weight.sum())

    def baselines(self) -> dict[str, float]:
        """Mean losses of those who know nothing: the best constant in hindsight, and the last label said again."""
        kept = np.concatenate(self._kept) if self._kept else np.zeros((0, 2))
        total = float(kept[:, 1].sum())
        if not total > 0.0:
            return {}
        found = {"best_constant": best_constant(self.loss, *np.ascontiguousarray(kept.T)) / total}
        if self._last_weight > 0.0:
            found["last_value"] = self._last_paid / self._last_weight
        return found

    @property
    def thinned(self) -> bool:
        """Whether the best constant was found on a part of the labels only."""
        return self._stride > 1

    def to_dict(self) -> dict[str, Any]:
        """What a run that goes on must remember; the labels kept for the best constant are not."""
        return {"kind": self.kind, "names": self.names, "counts": self.counts.tolist(), "errors": self.errors, "rows": self.rows}

    def restore(self, counted: dict[str, Any]) -> None:
        """Go on counting where an interrupted run stopped."""
        self.counts, self.errors, self.rows = np.array(counted["counts"], float), int(counted["errors"]), int(counted["rows"])


class TwoClasses(Task):
    """Labels ±1; `names` are the words of −1 and 1."""

    kind = "two"
    classifies = True

    def lines(self, yhat: Any, learner: Any, proba: bool) -> list[str]:
        if not proba:
            return super().lines(yhat, learner, proba)
        if not self.loss.odds:
            raise BadInput("proba", True, f"the {losses.name(self.loss)} loss gives no probabilities; --loss logistic does")
        return list(map(repr, chances(yhat).tolist()))

    def _count(self, y: np.ndarray, yhat: Any) -> None:
        self.errors += int((y * yhat <= 0.0).sum())
        self.counts += [float((y < 0.0).sum()), float((y > 0.0).sum())]

    def _again(self, before: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        self._last_errors += int((before != y).sum())

    def baselines(self) -> dict[str, float]:
        found = super().baselines()
        rows = float(self.counts.sum())
        if not rows:
            return found
        return {**found, "most_frequent_class_error": 1.0 - float(self.counts.max()) / rows, "last_value_error": self._last_errors / rows}


class ManyClasses(TwoClasses):
    """Labels are places among `names`, which grow as classes are met."""

    kind = "many"

    def places(self, y: np.ndarray) -> np.ndarray:
        return y.astype(np.int64)

    def learn(self, learner: Any, batch: Any, weight: np.ndarray) -> Any:
        labels = [self.names[place] for place in batch.y.astype(int).tolist()]
        self._likely: list[Any] = []  # of each row, over the classes known by then
        return learner.run_batch(batch.indptr, batch.indices, batch.values, labels, weight, self._likely)

    def lines(self, yhat: Any, learner: Any, proba: bool) -> list[str]:
        if not proba:
            return ["" if label is None else printable(label) for label in yhat]
        classes = learner.classes
        return [json.dumps(dict(zip(classes, map(float, shares))), ensure_ascii=False) for shares in self._likely]

    def _count(self, y: np.ndarray, yhat: Any) -> None:
        places = y.astype(int).tolist()
        self.errors += sum(self.names[place] != label for place, label in zip(places, yhat))
        if len(self.counts) < len(self.names):
            self.counts = np.concatenate([self.counts, np.zeros(len(self.names) - len(self.counts))])
        self.counts += np.bincount(places, minlength=len(self.counts))

    def baselines(self) -> dict[str, float]:
        rows = float(self.counts.sum())
        if not rows:
            return {}
        shares = self.counts[self.counts > 0.0] / rows
        return {
            "best_constant": -float(shares @ np.log(shares)),
            "most_frequent_class_error": 1.0 - float(shares.max()),
            "last_value_error": self._last_errors / rows,
        }


TASKS: dict[Any, type[Task]] = {False: Task, None: Task, True: TwoClasses, "many": ManyClasses}  # by what a reader says of labels
KINDS = {task.kind: task for task in (Task, TwoClasses, ManyClasses)}


def chances(margins: np.ndarray) -> np.ndarray:
    """σ(m) for log-odds m."""
    e = np.exp(-np.abs(margins))
    return np.where(margins >= 0.0, 1.0 / (1.0 + e), e / (1.0 + e))


def weights_of(text: str) -> dict[str, float]:
    """`yes=5,no=1` as a dict.

    >>> weights_of("yes=5,no=0.5")
    {'yes': 5.0, 'no': 0.5}
    """
    found = {}
    for pair in text.split(","):
        name, equals, number = pair.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not 0.0 <= found[name.strip()] < math.inf:
            raise BadInput("class-weight", text, "write class=weight,class=weight with numbers ≥ 0, or balanced")
    return found
