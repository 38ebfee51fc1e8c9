"""What holds for one key that is helped by all, and for all keys together: one comparator a key.

For one key: its loss is that of its own learner plus what it lost beyond it (`ahead`, on this very stream; at most `cost`, whatever
comes), so that every regret of its own learner holds with that much more. For all keys: sums.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burkholder.errors import BadInput
from burkholder.learning.certificate import Assumption, Certificate, Comparators, Guarantee
from burkholder.learning.rounding import above

OWN, POOLED = 0, 1  # the lanes of a key that is helped


@dataclass(frozen=True)
class HelpedCertificate(Certificate):
    """One key's, whose predictions are an aggregate of its own learner and of the one for all keys."""

    own: Certificate | None = field(default=None, repr=False)  # of the key's own learner
    ahead: float = 0.0
    cost: float = 0.0

    def _whom(self, w: Any, radius: float | None) -> Any:
        return w, radius

    def _realised(self, whom: Any) -> float:
        assert self.own is not None
        return above(self.ahead, self.own.realised(*whom))

    def _corrected(self, whom: Any) -> float:
        assert self.own is not None
        return above(self.cost, self.own.corrected(*whom))

    def _promised(self, whom: Any) -> float:
        assert self.own is not None
        return above(self.cost, self.own.bound(whom[0], whom[1], nominal=True))


@dataclass(frozen=True)
class KeyedCertificate(Certificate):
    """All keys together: regret is the sum over keys, against one comparator a key."""

    parts: Mapping[Any, Certificate] = field(default_factory=dict, repr=False)

    def _whom(self, w: Any, radius: float | None) -> Any:
        if w is None:
            return dict.fromkeys(self.parts, (None, radius))
        if not isinstance(w, Mapping) or set(w) != set(self.parts):
            raise BadInput("w", w, "give a dict with one comparator for each key")
        return {key: (w[key], None) for key in self.parts}

    def _realised(self, whom: Any) -> float:
        return above(*(part.realised(*whom[key]) for key, part in self.parts.items()))

    def _corrected(self, whom: Any) -> float:
        return above(*(part.corrected(*whom[key]) for key, part in self.parts.items()))

    def _promised(self, whom: Any) -> float:
        return above(*(part.bound(whom[key][0], whom[key][1], nominal=True) for key, part in self.parts.items()))


def each_key(whom: Comparators) -> Comparators:
    """One of them for each key."""
    return Comparators(f"one for each key: {whom.space}", whom.norm, whom.radius)


def summed(assumptions: list[tuple[Assumption, ...]]) -> tuple[Assumption, ...]:
    """The assumptions of all keys, each with what was seen of it anywhere."""
    found: dict[str, Assumption] = {}
    for part in assumptions:
        for one in part:
            before = found.get(one.name)
            if before is None:
                found[one.name] = one
                continue
            worst = [number for number in (before.worst, one.worst) if number is not None]
            found[one.name] = Assumption(
                one.name, one.statement, one.limit, max(worst) if worst else None, before.violations + one.violations, one.still_holds
            )
    return tuple(found.values())


def total(parts: Mapping[Any, Certificate], name: str, loss: str, whom: Comparators, notes: tuple[str, ...]) -> KeyedCertificate:
    """The certificate of all keys."""
    radii = {part.comparators.radius for part in parts.values()} or {whom.radius}
    if len(radii) > 1:  # each key has its own
        whom = Comparators(whom.space, whom.norm)
    elif parts:
        whom = Comparators(whom.space, whom.norm, radii.pop())
    weights = [part.rounds if math.isnan(part.weight) else part.weight for part in parts.values()]
    return KeyedCertificate(
        learner=name,
        loss=loss,
        rounds=sum(part.rounds for part in parts.values()),
        cumulative_loss=math.fsum(part.cumulative_loss for part in parts.values()),
        weight=math.fsum(weights),
        comparators=each_key(whom),
        assumptions=summed([part.assumptions for part in parts.values()]),
        notes=notes,
        parts=dict(parts),
    )


def of_key(keyed: Any, slot: int) -> Certificate:
    """What holds for one key."""
    own = keyed.idle.learner(keyed, slot).certificate()
    if keyed.mixer is None:
        return own
    lanes = keyed.mixer.behind(slot)
    mine = lanes[OWN]
    whom = [Comparators("the key's own learner"), Comparators("the learner of all keys")]
    others = [
        Guarantee(name, statement, number, True, whom[k])
        for k, lane in enumerate(lanes)
        for name, statement, number in (
            ("cost of aggregating", "known in advance", lane.cost),
            ("lost to it", "on this very stream", lane.ahead),
        )
    ]
    return HelpedCertificate(
        learner=f"{own.learner}, helped by all keys",
        loss=own.loss,
        rounds=own.rounds,
        cumulative_loss=keyed.mixer.loss_of(slot),
        weight=own.weight,
        comparators=own.comparators,
        assumptions=own.assumptions,
        notes=own.notes,
        others=tuple(others),
        own=own,
        ahead=mine.ahead,
        cost=mine.cost,
    )


def of_all(keyed: Any) -> KeyedCertificate:
    """What holds for all keys together."""
    fresh = keyed.prototype.certificate()
    notes = [f"{len(keyed._slots)} keys: the sum over keys, each with its own comparator"]
    if keyed.pending:
        notes.append(f"{keyed.pending} predictions still wait for their labels and are not counted")
    parts = {key: of_key(keyed, slot) for key, slot in keyed._slots.items()}
    return total(parts, f"keyed {fresh.learner}", fresh.loss, fresh.comparators, tuple(notes))
