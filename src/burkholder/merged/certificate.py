"""What holds for learners that were merged: over the data of all shards, and over all that came since.

Let lane k have lost L_k on its shard and M_k since. All lanes' shards together lost ΣL, and since then the aggregate lost M. For
every lane k, and one comparator for each shard, that of shard k also since,
    ΣL + M − (losses of the comparators)  ≤  (M − M_k) + regret of lane k over its shard and since + Σ_{j≠k} regret of shard j as it was
so the least over k is true, on every path. M − M_k is what merging cost against lane k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from burkholder.learning.certificate import Assumption, Certificate, Comparators, Guarantee
from burkholder.learning.rounding import above
from burkholder.merged.mixing import Behind


@dataclass(frozen=True)
class MergedCertificate(Certificate):
    """All shards and what came since; `lanes` and `before` are the lanes' own certificates, now and when they were merged."""

    lanes: tuple[Certificate, ...] = field(default=(), repr=False)
    before: tuple[Certificate, ...] = field(default=(), repr=False)
    behind: tuple[Behind, ...] = ()

    def _least(self, costs: list[float], now: list[float], then: list[float]) -> float:
        return min(above(costs[k], now[k], *(part for j, part in enumerate(then) if j != k)) for k in range(len(costs)))

    def _realised(self, whom: Any) -> float:
        told = ([part.realised(*whom) for part in parts] for parts in (self.lanes, self.before))
        return self._least([lane.ahead for lane in self.behind], *told)

    def _corrected(self, whom: Any) -> float:
        told = ([part.corrected(*whom) for part in parts] for parts in (self.lanes, self.before))
        return self._least([lane.cost for lane in self.behind], *told)

    def _promised(self, whom: Any) -> float:
        told = ([part.bound(whom[0], whom[1], nominal=True) for part in parts] for parts in (self.lanes, self.before))
        return self._least([lane.cost for lane in self.behind], *told)


def certify(merged: Any) -> MergedCertificate:
    """The certificate of a merged learner as it is now."""
    lanes, before = ([one.certificate() for one in part] for part in (merged.lanes, merged.before))
    first, behind = lanes[0], merged.mixer.behind(0)
    best = min(range(len(behind)), key=lambda k: behind[k].loss)
    whom = Comparators(f"lane {best + 1}, the best since merging")
    others = (
        Guarantee("cost of merging", "known in advance", behind[best].cost, True, whom),
        Guarantee("lost to it", "since merging, on this very stream", behind[best].ahead, True, whom),
    )
    weights = [part.rounds if math.isnan(part.weight) else part.weight for part in before]
    radii = {part.comparators.radius for part in (*lanes, *before)}
    comparators = Comparators(
        f"one for each shard: {first.comparators.space}", first.comparators.norm, radii.pop() if len(radii) == 1 else None
    )
    return MergedCertificate(
        learner=f"{len(lanes)} merged: {first.learner}",
        loss=first.loss,
        rounds=merged.rounds,
        cumulative_loss=merged.cumulative_loss,
        weight=math.fsum([*weights, merged.mixer.weight_of(0)]),
        comparators=comparators,
        assumptions=_together([*lanes, *before]),
        notes=(f"{len(lanes)} learners merged: each had its own shard, all see what came since",),
        others=others,
        lanes=tuple(lanes),
        before=tuple(before),
        behind=tuple(behind),
    )


def _together(parts: list[Certificate]) -> tuple[Assumption, ...]:
    """Each assumption with the most violations any part saw."""
    found: dict[str, Assumption] = {}
    for part in parts:
        for one in part.assumptions:
            if one.name not in found or one.violations > found[one.name].violations:
                found[one.name] = one
    return tuple(found.values())
