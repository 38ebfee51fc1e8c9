"""A whole stream learned in one go, and what it looked like on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burkholder.learning import drawing
from burkholder.learning.certificate import Certificate


@dataclass(frozen=True, repr=False)
class Run:
    """Progressive predictions and losses (each predicted before it was learned), the certificate at the end, the
    learner as it is now, and a trace of the way there.

    `losses` are ℓ(ŷ_t, y_t), without the weights; `details` holds what only this kind of learner has.

    >>> import burkholder as bk
    >>> run = bk.Auto("absolute").run([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0])
    >>> len(run.predictions), run.mean_loss == float(run.losses.mean())
    (3, True)
    >>> run
    <Run: 3 rounds, mean loss 2.13775>
    """

    predictions: Any
    losses: np.ndarray
    certificate: Certificate
    learner: Any
    weights: np.ndarray | None = None  # importance of each round; None: all 1
    trace: dict[str, np.ndarray] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.losses):,} rounds, mean loss {self.mean_loss:.6g}>"

    @property
    def mean_loss(self) -> float:
        """Σ weight·loss over Σ weight, as in the certificate."""
        if not len(self.losses):
            return math.nan
        if self.weights is None:
            return math.fsum(self.losses) / len(self.losses)
        total = math.fsum(self.weights)
        return math.fsum(self.weights * self.losses) / total if total > 0.0 else math.nan

    def plot(self, path: str | None = None) -> Any:
        """Mean loss over time, and beside it what the certificate says, where it says something; saved when a path is given."""
        curves = [(key, self.trace[key] / self.trace["rounds"]) for key in ("promised", "realised") if key in self.trace]
        curves = [(key, curve) for key, curve in curves if np.isfinite(curve).any()]
        figure, axes = drawing.sheet(9.6 if curves else 6.0, 3.4, 1, 2 if curves else 1, squeeze=False)
        paid = self.losses if self.weights is None else self.weights * self.losses
        counted = np.arange(1, len(paid) + 1) if self.weights is None else np.cumsum(self.weights)
        keep = drawing.thinned(len(paid))
        left = axes[0, 0]
        left.plot(keep + 1, (np.cumsum(paid) / np.maximum(counted, 1e-300))[keep], color=drawing.BLUE)
        left.set(xlabel="rounds", ylabel="mean loss so far")
        drawing.titled(left, self.certificate.learner)
        if curves:
            self._regret(axes[0, 1], dict(curves))
        return drawing.kept(figure, path)

    def _regret(self, axes: Any, curves: dict[str, np.ndarray]) -> None:
        """What is promised and proved, per round; the first rounds, where little is proved, may leave the picture."""
        rounds = np.asarray(self.trace["rounds"])
        looks = {"promised": ("promised in advance", "--", drawing.QUIET), "realised": ("proved on these very rows", "-", drawing.BLUE)}
        for key, curve in curves.items():
            label, line, colour = looks[key]
            axes.plot(rounds, curve, line, color=colour, label=label, lw=1.5 if line == "--" else 2.2)
        proved = curves.get("realised")
        if proved is not None:
            axes.fill_between(rounds, proved, 0.0, where=proved < 0.0, color=drawing.BLUE, alpha=0.12)
        later = np.concatenate([curve[rounds >= 0.05 * rounds[-1]] for curve in curves.values()])
        low, high = (float(end(later[np.isfinite(later)], initial=0.0)) for end in (np.min, np.max))
        room = 0.08 * (high - low) or 1.0
        axes.axhline(0.0, color=drawing.INK, lw=0.8)
        axes.set(xlabel="rounds", ylabel="regret a round, at most", ylim=(low - room, high + 3.0 * room))
        drawing.titled(axes, f"against {self.certificate.comparators}")
        axes.legend(frameon=False, fontsize=9, loc="upper right")


def moment(certificate: Certificate) -> dict[str, float]:
    """What a trace notes down of a certificate."""
    numbers = {item.name: item.value for item in certificate.guarantees}

    def number(name: str) -> float:
        value = numbers.get(name)
        return math.nan if value is None else value

    return {
        "rounds": certificate.rounds,
        "mean_loss": certificate.mean_loss,
        "potential": math.nan if certificate.potential is None else certificate.potential,
        "promised": number("promised regret"),
        "corrected": number("corrected regret"),
        "realised": number("realised regret"),
    }


def importance_figure(found: Any, count: int, label: str) -> Any:
    """Numbers by feature as bars, the largest first."""
    items = (
        found.items() if isinstance(found, dict) else ((f"feature {k}", value) for k, value in enumerate(np.asarray(found, float).tolist()))
    )
    top = sorted(items, key=lambda pair: -abs(pair[1]))[:count]
    figure, axes = drawing.sheet(8, 1.0 + 0.3 * len(top))
    axes.barh([str(name) for name, _ in top], [value for _, value in top], color=drawing.BLUE)
    axes.invert_yaxis()
    axes.set(xlabel=label)
    return figure
