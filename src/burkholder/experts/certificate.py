"""What expert advice can say of itself at any moment, and about any mixture of the experts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts import huber_root, squint, stream
from burkholder.experts.boa import BOA
from burkholder.experts.dispatch import PER_EXPERT
from burkholder.experts.huber_root import HuberRoot
from burkholder.experts.promises import Nothing, Tilted, finite, promise
from burkholder.experts.squint import Squint
from burkholder.learning.certificate import Assumption, Certificate, Guarantee


class Path(NamedTuple):
    """What the tracking bound needs: Σ_t max_j of the costs and of the clipped parts, n, shares."""

    cost: np.ndarray
    clipped: float
    rounds: float
    shares: np.ndarray


@dataclass(frozen=True)
class ExpertsCertificate(Certificate):
    """A certificate that can be asked about any mixture of the experts."""

    names: tuple[str, ...] = ()
    gain: np.ndarray = field(default_factory=lambda: np.zeros(0))
    promised: Any = field(default_factory=Nothing)
    path: Path | None = None

    def distribution(self, w: Any) -> np.ndarray:
        """w as an array over `names`: a name, a mapping, or an array over the user's experts or all."""
        full = np.zeros(len(self.names))
        if isinstance(w, str):
            w = {w: 1.0}
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
        if not (np.isfinite(full).all() and (full >= 0).all() and abs(full.sum() - 1.0) <= 1e-9):
            raise BadInput("w", w, "give weights ≥ 0 that sum to 1")
        return full / full.sum()

    def bound(self, w: Any) -> float | None:
        """What theory promises Reg(w) to be at most, on this stream so far; None when there is no bound."""
        return self.promised.bound(self.distribution(w))

    def realised(self, w: Any) -> float:
        """Σδ(ŷ−⟨w,x⟩) ≥ Reg(w): what this very stream proves, for any method."""
        return float(self.distribution(w) @ self.gain)

    def per_expert(self) -> dict[str, float | None]:
        """`bound` against each expert alone."""
        return {name: self.bound(name) for name in self.names}

    def tracking(self, switches: int) -> float | None:
        """The bound against every sequence of awake experts that changes at most `switches` times."""
        if not (isinstance(switches, int) and switches >= 0):
            raise BadInput("switches", switches, "give a whole number ≥ 0")
        if self.path is None or not isinstance(self.promised, Tilted):
            return None
        terms, path, d = self.promised, self.path, len(self.names)
        if terms.unit == 0.0:
            return path.clipped
        alphas = path.shares[path.shares > 0]
        if alphas.size == 0:
            return None
        price = np.min(switches * np.log(d / alphas) - path.rounds * np.log1p(-alphas))
        with np.errstate(over="ignore"):
            sizes = terms.unit * ((path.cost + math.log(d) + terms.mass + price) / terms.rates)
            return finite(np.min(sizes) + path.clipped)


def certify(method: str, loss: str, state: Any, tally: Any, names: tuple[str, ...], lipschitz: float) -> ExpertsCertificate:
    """The certificate of a state and its tally; arrays are copied, so that it does not move afterwards."""
    m, totals = tally.outside.size, tally.totals
    promised = promise(reordered(state, m)) if names else Nothing()
    gain, paid = np.roll(tally.gain, -m), np.roll(tally.paid, -m)
    guarantees: tuple[Guarantee, ...] = ()
    if names:
        best = int(np.argmin(paid))
        corner = np.eye(len(names))[best]
        guarantees = (
            Guarantee(f"bound to the best expert, {names[best]}", "Reg ≤ this, promised by the method", promised.bound(corner)),
            Guarantee("bound to every mixture", "sup over w of Reg(w) ≤ this, promised by the method", promised.everywhere()),
            Guarantee("realised", "sup over w of Reg(w) ≤ this, read off this stream, for any method", float(np.max(gain))),
        )
    assumptions: tuple[Assumption, ...] = ()
    if math.isfinite(lipschitz):
        assumptions = (
            Assumption(
                "lipschitz",
                f"|δ| ≤ {lipschitz:g}",
                lipschitz,
                float(totals[stream.STEEPEST]),
                int(totals[stream.TOO_STEEP]),
                "the bounds of huber-root and squint, which add the part of every slope beyond it",
            ),
        )
    notes: list[str] = []
    if totals[stream.SILENT]:
        notes.append(f"every expert was asleep in {int(totals[stream.SILENT])} rounds; ŷ was repeated there")
    if getattr(state, "linear", True) is False:
        notes.append("learned from losses, not slopes: the promised bounds hold against single experts only")
    if guarantees and guarantees[0].value is None:
        notes.append(
            "no bound: " + ("this method's is not computed" if isinstance(state, BOA) else "the forecasts outgrew the grid of rates")
        )
    path = None
    if isinstance(state, HuberRoot):
        path = Path(state.path.copy(), float(state.path_clipped[0]), float(totals[stream.ROUNDS]), state.shares.copy())
    u = None
    if names and isinstance(state, HuberRoot):
        u = math.expm1(huber_root.log_mean(state))
    elif names and isinstance(state, Squint):
        u = math.expm1(squint.log_mean(state))
    return ExpertsCertificate(
        method,
        loss,
        int(totals[stream.ROUNDS]),
        float(totals[stream.LOSS]),
        u,
        guarantees,
        assumptions,
        tuple(notes),
        names,
        gain,
        promised,
        path,
    )


def reordered(state: Any, first: int) -> Any:
    """The state with its first columns moved to the end, as certificates list them."""
    fields = PER_EXPERT[type(state)]
    return state._replace(**{name: np.roll(getattr(state, name), -first, axis=-1) for name in fields})
