"""What mixtures at several levels can say of themselves: a certificate a level, and one of all together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts.certificate import ExpertsCertificate
from burkholder.learning.certificate import Certificate, Comparators
from burkholder.learning.rounding import UNIT, above, lost, more


@dataclass(frozen=True)
class LevelCertificate(ExpertsCertificate):
    """That of a level's mixture, plus `charge`: what putting the levels in order added to its loss on this path, rounded up."""

    charge: float = 0.0

    def _realised(self, whom: Any) -> float:
        return above(super()._realised(whom), self.charge)

    def _corrected(self, whom: Any) -> float:
        return above(super()._corrected(whom), self.charge)

    def _promised(self, whom: Any) -> float:
        return above(super()._promised(whom), max(self.charge, 0.0))

    def affine(self, w: Any, constant: float = 0.0) -> float:
        return above(super().affine(w, constant), self.charge)

    def tracking(self, switches: int) -> float:
        return above(super().tracking(switches), self.charge)


@dataclass(frozen=True)
class QuantileExpertsCertificate(Certificate):
    """Of twice the mean pinball loss, against one mixture of the experts at all levels; `of` one level alone."""

    levels: np.ndarray = field(default_factory=lambda: np.zeros(0))
    parts: tuple[ExpertsCertificate, ...] = ()
    charges: tuple[float, ...] = ()
    coverages: tuple[float, ...] = ()  # the share of the rounds, weighted, whose label lay at or below what was played
    losses: tuple[float, ...] = ()

    def _whom(self, w: Any, radius: float | None) -> Any:
        return self.parts[0]._whom(w, radius)

    def _mean(self, numbers: list[float]) -> float:
        total = above(*numbers)
        mean = 2.0 * total / len(self.parts)
        return mean + (more(abs(mean)) - abs(mean)) + 5e-324 if math.isfinite(mean) else mean

    def _realised(self, whom: Any) -> float:
        if not self.rounds:
            return 0.0
        return self._mean([*(part._realised(whom) for part in self.parts), *self.charges])

    def _corrected(self, whom: Any) -> float:
        return self._mean([*(max(part._realised(whom), part._corrected(whom)) for part in self.parts), *self.charges])

    def _promised(self, whom: Any) -> float:
        # in order the sum of the losses is no larger: nothing to add
        return self._mean([max(part._realised(whom), part._corrected(whom), part._promised(whom)) for part in self.parts])

    def of(self, level: float) -> LevelCertificate:
        """The certificate of what was played at one level."""
        found = np.flatnonzero(self.levels == level)
        if not len(found):
            raise BadInput("level", level, f"levels: {', '.join(f'{one:g}' for one in self.levels)}")
        k = int(found[0])
        part, charge = self.parts[k], self.charges[k]
        known = {item.name: getattr(part, item.name) for item in fields(ExpertsCertificate)}
        lines = tuple(line if line.value is None else replace(line, value=above(line.value, charge)) for line in part.others)
        seen = () if math.isnan(self.coverages[k]) else (f"labels lay at or below it in {self.coverages[k]:.4f} of the rounds",)
        order = (f"putting the levels in order changed its loss by {charge:.6g} at most, which is in every line",) if charge else ()
        known |= {"others": lines, "notes": (*part.notes, *seen, *order), "cumulative_loss": self.losses[k]}
        return LevelCertificate(**known, charge=charge)

    def certificates(self) -> dict[float, Certificate]:
        """One for each level."""
        return {level: self.of(level) for level in self.levels.tolist()}

    def to_dict(self) -> dict[str, Any]:
        """Plain data; every level beside the whole."""
        each = [
            {"level": level, "coverage": None if math.isnan(seen) else seen, **self.of(level).to_dict()}
            for level, seen in zip(self.levels.tolist(), self.coverages)
        ]
        return {**super().to_dict(), "levels": each}


def certify(learner: Any) -> QuantileExpertsCertificate:
    """The certificate of a `QuantileExperts`."""
    from burkholder.experts.quantiles import CHARGE, CHARGE_REST, CHARGE_SIZE, COVERED, LOSS, LOSS_REST

    parts, account = tuple(one.certificate() for one in learner.inner), learner.account
    rounds, weight = parts[0].rounds, parts[0].weight
    charges = []
    for column in account.T:
        value, size = float(column[CHARGE] + column[CHARGE_REST]), float(column[CHARGE_SIZE])
        charges.append(above(value, more(16.0 * UNIT * size + lost(rounds, size), 8.0)) if size else 0.0)
    space = parts[0].comparators
    return QuantileExpertsCertificate(
        learner="experts at several levels",
        loss="CRPS",
        rounds=rounds,
        cumulative_loss=learner.cumulative_loss,
        weight=weight,
        comparators=Comparators(f"{space.space}, the same one at every level", space.norm, space.radius),
        assumptions=parts[0].assumptions,
        notes=parts[0].notes,
        levels=learner.levels.copy(),
        parts=parts,
        charges=tuple(charges),
        coverages=tuple(float(seen) / weight if weight else math.nan for seen in account[COVERED]),
        losses=tuple((account[LOSS] + account[LOSS_REST]).tolist()),
    )
