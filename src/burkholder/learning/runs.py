"""A whole stream learned in one go, and what it looked like on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burkholder.errors import MissingExtra
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
        """Mean loss and certificate over time; saved when a path is given."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtra("matplotlib", "report") from None
        figure = Figure(figsize=(9, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        paid = self.losses if self.weights is None else self.weights * self.losses
        counted = np.arange(1, len(paid) + 1) if self.weights is None else np.cumsum(self.weights)
        keep = np.unique(np.linspace(0, len(paid) - 1, min(len(paid), 1000)).astype(int)) if len(paid) else np.zeros(0, int)
        left.plot(np.arange(1, len(paid) + 1)[keep], (np.cumsum(paid) / np.maximum(counted, 1e-300))[keep])
        left.set(xlabel="rounds", ylabel="mean loss so far", title=self.certificate.learner)
        for key, label in (("promised", "promised in advance"), ("realised", "realised on this stream")):
            if key in self.trace:
                right.plot(self.trace["rounds"], self.trace[key] / self.trace["rounds"], label=label)
        right.set(xlabel="rounds", ylabel="regret per round, at most", yscale="symlog", title=str(self.certificate.comparators))
        right.legend(frameon=False)
        if path is not None:
            figure.savefig(path, dpi=130)
        return figure


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
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None
    items = (
        found.items() if isinstance(found, dict) else ((f"feature {k}", value) for k, value in enumerate(np.asarray(found, float).tolist()))
    )
    top = sorted(items, key=lambda pair: -abs(pair[1]))[:count]
    figure = Figure(figsize=(8, 1.0 + 0.3 * len(top)), layout="constrained")
    axes = figure.subplots()
    axes.barh([str(name) for name, _ in top], [value for _, value in top])
    axes.invert_yaxis()
    axes.set(xlabel=label)
    return figure
