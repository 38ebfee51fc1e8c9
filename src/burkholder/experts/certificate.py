"""What expert advice can say of itself at any moment, and about any mixture of the experts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.experts import beside, regret, stream
from burkholder.experts.curvature import Curved
from burkholder.experts.dispatch import RULES, turned
from burkholder.experts.promises import Nothing
from burkholder.learning.certificate import Assumption, Certificate, Comparators, Guarantee
from burkholder.learning.rounding import UNIT, above

SWITCHES = 10  # of the sequences in a certificate's own lines


@dataclass(frozen=True)
class ExpertsCertificate(Certificate):
    """A certificate that can be asked about any mixture of the experts: a name, a mapping, or an array of weights."""

    names: tuple[str, ...] = ()
    met: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))  # who was ever awake
    gains: np.ndarray = field(default_factory=lambda: np.zeros(0))  # R_j: Reg(w) ≤ Σw_jR_j for every mixture
    alone: np.ndarray | None = None  # the same against single experts, where the method competes with those only
    promise: Any = field(default_factory=Nothing)
    hidden: float = 0.0  # what rounding may hide of any regret besides
    slopes: Any = None  # what affine combinations are judged by
    curved: Curved | None = None  # what the loss gives back at one comparator
    ways: tuple[regret.Slopes, ...] = ()  # the same as `slopes` of the experts made, which are last in `names`

    def _over_names(self, w: Any) -> np.ndarray:
        full = np.zeros(len(self.names))
        if isinstance(w, str):
            w = {w: 1.0}
        try:
            if isinstance(w, Mapping):
                for key, share in w.items():
                    if key not in self.names:
                        raise BadInput("w", key, f"experts: {', '.join(self.names)}")
                    full[self.names.index(key)] = share
            else:
                array = np.asarray(w, dtype=float)
                if array.ndim != 1 or array.size > full.size:
                    raise BadInput("w", array.shape, f"give one weight for each of the {full.size} experts")
                full[: array.size] = array
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, BadInput):
                raise
            raise BadInput("w", w, "give a name, or one number for each expert") from None
        return full

    def distribution(self, w: Any) -> np.ndarray:
        """w as an array over `names`: a name, a mapping, or an array over the user's experts or all."""
        full = self._over_names(w)
        if not (np.isfinite(full).all() and (full >= 0).all() and abs(full.sum() - 1.0) <= 1e-9):
            raise BadInput("w", w, "give weights ≥ 0 that sum to 1")
        return full

    def _whom(self, w: Any, radius: float | None) -> np.ndarray | None:
        if radius is not None:
            raise BadInput("radius", radius, "mixtures of experts have no radius: give w, or nothing for the worst of them")
        return None if w is None else self.distribution(w)

    def _realised(self, whom: np.ndarray | None) -> float:
        if whom is None:
            return regret.worst(self.gains if self.alone is None else self.alone, self.met)
        if self.alone is not None and np.count_nonzero(whom) == 1:
            return regret.weighted(whom, self.alone)
        return above(regret.weighted(whom, self.gains), -self._back(whom))

    def _back(self, whom: np.ndarray | None) -> float:
        """What curvature gives back at one mixture; the worst of all is not known well enough to be given anything."""
        return 0.0 if whom is None else self._given(whom / math.fsum(whom))

    def _given(self, w: np.ndarray, constant: float = 0.0, rest: float = 0.0) -> float:
        return 0.0 if self.curved is None else self.curved.back(w, constant, rest)

    def _competes(self, whom: np.ndarray | None) -> bool:
        return self.alone is None or whom is None or np.count_nonzero(whom) == 1

    def _corrected(self, whom: np.ndarray | None) -> float:
        return self._least(self.promise.corrected, self._nearly_corrected, whom)

    def _promised(self, whom: np.ndarray | None) -> float:
        return self._least(self.promise.promised, self._nearly_promised, whom)

    def _least(self, promise: Callable[[Any], float], made: tuple[float, ...], whom: np.ndarray | None) -> float:
        """The promise at once, or by way of an expert made from the user's: what is promised to it, plus what it lost to w itself."""
        if not self._competes(whom):
            return math.inf
        if whom is None:
            return min([promise(None), *(above(one, self._farthest(way)) for one, way in zip(made, self.ways))])
        back = 0.0 if self.alone is not None else self._back(whom)
        straight = promise(whom / whom.sum())
        straight = above(straight, -back) if back else straight
        return min([straight, *(self._beyond(i, one, whom) for i, one in enumerate(made))])

    def _farthest(self, way: regret.Slopes) -> float:
        """What an expert made lost to the worst of all, not below what it lost to any mixture, however that was rounded."""
        lost = way.high[:-2]
        return above(regret.worst(lost, self.met), 16.0 * UNIT * float(np.max(np.abs(lost[self.met]), initial=0.0)))

    def _beyond(self, i: int, made: float, whom: np.ndarray) -> float:
        """`made`, what is promised to the expert i made, plus what that lost to the mixture."""
        apart = whom / math.fsum(whom) - self._only(i)
        return above(made, regret.weighted(whom, self.ways[i].high[:-2]), -self._given(apart))

    def _only(self, i: int) -> np.ndarray:
        """All weight on the expert i made."""
        return np.eye(1, len(self.names), len(self.names) - len(self.ways) + i)[0]

    def _nearly(self, promise: Callable[[Any], float]) -> tuple[float, ...]:
        """What is promised to every expert made."""
        each = [self._only(i) for i in range(len(self.ways))]
        return tuple(above(promise(w), -self._back(w)) for w in each)

    @cached_property
    def _nearly_promised(self) -> tuple[float, ...]:
        return self._nearly(self.promise.promised)

    @cached_property
    def _nearly_corrected(self) -> tuple[float, ...]:
        return self._nearly(self.promise.corrected)

    def affine(self, w: Any, constant: float = 0.0) -> float:
        """What this stream proves of the regret to Σw_jx_j + constant, for any numbers w_j: they need not be positive, nor sum to 1.

        An expert asleep is taken to play ŷ, as everywhere.
        """
        full, shift, rest = self._combination(w, constant)
        return 0.0 if self.slopes is None else above(regret.affine(full, shift, self.slopes), -self._given(full, shift, rest))

    def affine_bound(self, w: Any, constant: float = 0.0) -> float:
        """What is promised of the same regret, by way of an expert made from the user's: what is promised to that, plus what it lost."""
        full, shift, rest = self._combination(w, constant)
        if self.slopes is None or not self.valid:
            return 0.0 if self.slopes is None else math.inf
        found = [math.inf]
        for i, (made, way) in enumerate(zip(self._nearly_promised, self.ways)):
            found.append(above(made, regret.affine(full, shift, way), -self._given(full - self._only(i), shift, rest)))
        return max(min(found), self.affine(w, constant))

    def _combination(self, w: Any, constant: Any) -> tuple[np.ndarray, float, float]:
        """Any finite w and constant, and what the w lack of 1."""
        full = self._over_names(w)
        try:
            shift = float(constant)
        except (TypeError, ValueError, OverflowError):
            shift = math.nan
        if not (np.isfinite(full).all() and math.isfinite(shift)):
            raise BadInput("w" if math.isfinite(shift) else "constant", w if math.isfinite(shift) else constant, "give finite numbers")
        try:
            return full, shift, float(1 - sum(map(Fraction, full.tolist())))
        except OverflowError:
            return full, shift, math.inf

    def per_expert(self) -> dict[str, float]:
        """`bound` against each expert alone."""
        return {name: self.bound(name) for name in self.names}

    def tracking(self, switches: int) -> float:
        """The bound against every sequence of awake experts that changes at most `switches` times; holds on every path."""
        if isinstance(switches, bool) or not (isinstance(switches, int) and switches >= 0):
            raise BadInput("switches", switches, "give a whole number ≥ 0")
        return above(self.promise.tracking(switches, self.rounds), self.hidden)


def certify(parts: Any, loss: Any, names: tuple[str, ...], limit: float) -> ExpertsCertificate:
    """The certificate of a learner's parts; arrays are copied, so that it does not move afterwards."""
    state, tally, more = parts
    rule, totals, first = RULES[type(state)], tally.totals, beside.width(more)
    gains, mixtures = np.roll(regret.against_mixtures(tally, loss), -first), rule.mixtures(state)
    alone = None if mixtures else np.roll(regret.against_experts(tally, loss), -first)
    certificate = ExpertsCertificate(
        learner=rule.name,
        loss=losses.name(loss),
        rounds=int(totals[stream.ROUNDS]),
        cumulative_loss=float(totals[stream.LOSS] + totals[stream.LOSS_CARRY]),
        weight=float(totals[stream.WEIGHT] + totals[stream.WEIGHT_CARRY]),
        potential=rule.potential(state) if names else None,
        comparators=_comparators(mixtures, bool((tally.awake > 0.0).all())),
        assumptions=_assumptions(totals),
        notes=tuple(_notes(totals, mixtures, limit, more)),
        names=names,
        met=np.roll(tally.awake, -first) > 0.0,
        gains=gains,
        alone=alone,
        promise=rule.promise(turned(state, first), gains if alone is None else alone) if names else Nothing(),
        hidden=regret.slack(loss, totals),
        slopes=regret.slopes(tally, loss, first) if names else None,
        curved=Curved(tally.apart.copy(), 0.5 * loss.curvature(math.inf), first, totals[stream.ROUNDS]) if len(tally.apart) else None,
        ways=regret.ways(tally, loss, first) if names and mixtures else (),
    )
    if not names:
        return certificate
    notes = certificate.notes
    if math.isinf(certificate.promise.promised(None)):
        notes = (*notes, f"no bound: {rule.missing}")
    return replace(certificate, notes=notes, others=tuple(_others(certificate, np.roll(tally.paid[stream.SUM], -first), more)))


def _comparators(mixtures: bool, all_met: bool) -> Comparators:
    """The headline's class: who never said anything plays ŷ and has no regret to speak of."""
    whom = "the experts" if all_met else "the experts met so far"
    return Comparators(f"mixtures of {whom}", "w in the simplex") if mixtures else Comparators(f"each of {whom} alone")


def _assumptions(totals: np.ndarray) -> tuple[Assumption, ...]:
    late = int(totals[stream.LATE])
    still = "the corrected and the realised regret, which count what was played"
    when = "each label arrives before the next prediction, or with the others of its block"
    return (Assumption("labels in time", when, 0.0, float(late), late, still),)


def _notes(totals: np.ndarray, mixtures: bool, limit: float, more: beside.Beside) -> list[str]:
    notes = []
    if more.bias.size:
        notes.append(f"made from the experts, and compared with like them: {', '.join(beside.LANES)}")
        notes.append(
            f"a forecast further from the labels seen than {beside.REACH:g} times their range, or than the nearest forecast is,"
            " counts as cut there"
        )
    if totals[stream.SILENT]:
        notes.append(f"every expert was asleep in {int(totals[stream.SILENT])} rounds; ŷ was repeated there")
    if not mixtures:
        notes.append("learned from losses, not slopes: nothing is promised against mixtures, only against single experts")
    if totals[stream.WEIGHT] + totals[stream.WEIGHT_CARRY] != totals[stream.ROUNDS]:
        notes.append("rounds are weighted: losses, slopes and regrets are sums of weight × loss, and limits are about weight × slope")
    if totals[stream.TOO_STEEP]:
        steep = f"{int(totals[stream.TOO_STEEP])} slopes were beyond {limit:g} (worst {totals[stream.STEEPEST]:g})"
        notes.append(f"{steep}: what lies beyond is in the bounds")
    return notes


def _others(certificate: ExpertsCertificate, paid: np.ndarray, more: beside.Beside) -> list[Guarantee]:
    """Lines about other comparators than the headline's."""
    users = len(certificate.names) - beside.width(more)
    best = certificate.names[int(np.argmin(np.where(certificate.met, paid, math.inf)))]
    whom = Comparators(f"the best expert, {best}")
    lines = []
    for name, value, holds in (
        ("promised to the best", certificate.bound(best, nominal=True), certificate.valid),
        ("realised to the best", certificate.realised(best), True),
    ):
        lines.append(Guarantee(name, "to the one with the least loss", value if math.isfinite(value) else None, holds, whom))
    shift = float(more.seen[beside.ERRORS] / more.seen[beside.SCORED]) if more.seen[beside.SCORED] else 0.0
    awake = certificate.met[:users]
    mean = awake / max(int(awake.sum()), 1)
    moved = max(regret.affine(np.append(mean, np.zeros(len(certificate.names) - users)), c, certificate.slopes) for c in (shift, -shift))
    whom = Comparators("the mean of the experts plus any constant", "size", shift)
    shown = moved if math.isfinite(moved) else None
    lines.append(Guarantee("realised to a shifted mean", "to the mean of all experts met, moved by any constant", shown, True, whom))
    tracked = certificate.tracking(SWITCHES)
    if math.isfinite(tracked):
        whom = Comparators(f"sequences of awake experts that switch at most {SWITCHES} times, between blocks")
        lines.append(Guarantee("tracking regret", "with the weights as they are now, on this path", tracked, True, whom))
    return lines
