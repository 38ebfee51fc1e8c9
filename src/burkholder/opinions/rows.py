"""Probabilities as users hand them in, checked before anything learns from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.rounding import UNIT, more
from burkholder.learning.schema import name
from burkholder.opinions.mixing import BRIER

FLOOR = 1e-9  # a probability below it counts as it
MOST = 10_000  # outcomes
CLOSE = 1e-6  # a sum this near to 1 is rounding
SUM = "probabilities sum to 1; for bookmakers' decimal odds say odds=True"


class Row(NamedTuple):
    """One round: forecasts (experts × outcomes), NaN where asleep, over the experts known and those met here first.

    `short` bounds how much less each would have lost as it was given than as it was read.
    """

    values: np.ndarray
    names: tuple[str, ...]
    outcomes: tuple[Any, ...]
    short: np.ndarray


class Reader(NamedTuple):
    """How rows are read: whether they are odds, under which loss, and what is known by now."""

    odds: bool
    kind: int
    names: tuple[str, ...]
    outcomes: tuple[Any, ...]

    def row(self, x: Any) -> Row:
        """A round: a mapping from expert to probabilities, or an array (experts × outcomes)."""
        named = isinstance(x, Mapping)
        if isinstance(x, str) or x is None:
            raise BadInput("x", x, "give a mapping from expert to probabilities, or an array (experts × outcomes)")
        try:
            given = {str(key): item for key, item in x.items()} if named else dict(enumerate(x))
        except TypeError:
            raise BadInput("x", x, "give a mapping from expert to probabilities, or an array (experts × outcomes)") from None
        if len(given) != len(x):
            raise BadInput("x", list(x), "give every expert a name of its own")
        if not named and self.names and len(given) != len(self.names):
            raise BadInput("x", f"{len(given)} experts", f"give {len(self.names)}, for {', '.join(self.names)}; name them to add more")
        labels: list[str] = list(given) if named else list(self.names or map(str, given))  # type: ignore[arg-type]
        outcomes, read = self.outcomes, {}
        for label, (key, item) in zip(labels, given.items()):
            found = self._one(f"x[{key!r}]", item, outcomes)
            if found is not None:
                outcomes, read[label] = found
        if not outcomes:
            raise BadInput("x", x, "nobody says anything, and the outcomes are not known yet: name them, outcomes=(…)")
        known = set(self.names)
        everyone = (*self.names, *(label for label in labels if label not in known))
        asleep = np.full(len(outcomes), math.nan), 0.0
        told = [read.get(label, asleep) for label in everyone]
        values = np.array([p for p, _ in told]).reshape(-1, len(outcomes))
        return Row(values, everyone, outcomes, np.array([short for _, short in told]))

    def _one(self, where: str, given: Any, outcomes: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[np.ndarray, float]] | None:
        """One expert's probabilities over the outcomes, and what reading may have cost it; None where it is asleep."""
        if given is None or (isinstance(given, float) and math.isnan(given)):
            return None
        if isinstance(given, Mapping):
            outcomes = outcomes or tuple(given)
            if set(given) != set(outcomes):
                raise BadInput(where, list(given), f"give one number for each of {', '.join(map(str, outcomes))}")
            given = [given[outcome] for outcome in outcomes]
        elif isinstance(given, (int, float, np.number)) and not self.odds:
            given = [1.0 - float(given), float(given)]  # of two outcomes, the second
        try:
            p = np.array(given, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise BadInput(where, given, "give one number for each outcome; leave the expert out (or NaN) when it is asleep") from None
        if p.ndim != 1 or p.size < 2 or p.size > MOST or (outcomes and p.size != len(outcomes)):
            raise BadInput(where, given, f"give one number for each of the {len(outcomes) or 'two or more'} outcomes")
        if np.isnan(p).all():
            return None
        given = p if not self.odds else inverted(where, p)
        read = probabilities(where, given)
        return outcomes or tuple(range(p.size)), (read, shortened(self.kind, given, read, self.odds))


def shortened(kind: int, given: np.ndarray, read: np.ndarray, odds: bool) -> float:
    """How much more than `given` (none below the floor under the log loss) `read` may lose, whatever happens; rounding charged."""
    rounding = 4.0 * (given.size + 8.0) * UNIT if odds else 0.0  # of inverses that were made to sum to 1
    if kind == BRIER:  # a² − b² = (a − b)(a + b), and no second factor is beyond 2
        return more(2.0 * (1.0 + CLOSE) * float(np.abs(given - read).sum()), 64.0) + rounding
    raised = np.maximum(given, FLOOR)
    if np.array_equal(raised, read):
        return rounding
    return max(float(np.log(raised / read).max()), 0.0) * (1.0 + 8.0 * UNIT) + 8.0 * UNIT + rounding


def inverted(where: str, odds: np.ndarray) -> np.ndarray:
    """Decimal odds as probabilities.

    >>> inverted("x", np.array([2.0, 4.0, 4.0])).tolist()
    [0.5, 0.25, 0.25]
    """
    if not ((odds >= 1.0) & (odds < 1e12)).all():
        raise BadInput(where, odds.tolist(), "decimal odds are 1 or more")
    return (1.0 / odds) / (1.0 / odds).sum()


def probabilities(where: str, numbers: np.ndarray) -> np.ndarray:
    """Checked, none below the floor, summing to 1.

    >>> probabilities("x", np.array([0.5, 0.25, 0.25])).tolist()
    [0.5, 0.25, 0.25]
    """
    if not ((numbers >= 0.0) & (numbers <= 1.0 + CLOSE)).all() or abs(float(numbers.sum()) - 1.0) > CLOSE:
        raise BadInput(where, numbers.tolist(), SUM)
    raised = np.maximum(numbers, FLOOR)
    return np.maximum(raised / raised.sum(), FLOOR * 0.5)


def label_place(y: Any, outcomes: tuple[Any, ...], argument: str = "y") -> int:
    """The place of what happened among the outcomes."""
    found = y.item() if isinstance(y, np.generic) else y
    for place, outcome in enumerate(outcomes):
        if type(found) is type(outcome) and found == outcome:
            return place
    if type(found) is float and found.is_integer() and int(found) in outcomes:
        return outcomes.index(int(found))
    raise BadInput(argument, y, f"give what happened: one of {', '.join(map(str, outcomes[:20]))}")


def checked_outcomes(given: Any) -> tuple[Any, ...]:
    """Outcomes named by the user."""
    if given is None:
        return ()
    found = tuple(given) if not isinstance(given, str) else ()
    good = 2 <= len(found) <= MOST and len(set(found)) == len(found)
    if not good or not all(name(one) and one is not None and type(one) is not float for one in found):
        raise BadInput("outcomes", given, "name two or more different outcomes by text or whole numbers")
    return found
