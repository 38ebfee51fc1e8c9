"""What holds for completion beside an Auto on features: what is certified of completion, plus what aggregating may cost.

The aggregate lost M, completion R on the same ratings. Against every comparator c of completion's own certificate
    M − loss of c  =  (M − R) + (R − loss of c),
the first known in advance up to the cost of aggregating, the second bounded by that certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from burkholder.learning.certificate import Certificate, Comparators, Guarantee
from burkholder.learning.rounding import above
from burkholder.merged.mixing import Behind, Mixer

ALONE = Comparators("completion of the ratings alone")
FEATURES = Comparators("the Auto on features and on what the ratings say")


@dataclass(frozen=True)
class DescribedCertificate(Certificate):
    """`ratings` is the certificate of completion, `behind` how the whole stands to it."""

    ratings: Certificate = field(default=Certificate("", "", 0, 0.0), repr=False)
    behind: Behind = field(default_factory=lambda: Behind(0.0, 0.0, 0.0, 0.0))

    def _realised(self, whom: Any) -> float:
        return above(self.behind.ahead, self.ratings.realised(*whom))

    def _corrected(self, whom: Any) -> float:
        return above(self.behind.cost, self.ratings.corrected(*whom))

    def _promised(self, whom: Any) -> float:
        return above(self.behind.cost, self.ratings.bound(whom[0], whom[1], nominal=True))


def certify(ratings: Any, mixer: Mixer, features: Any) -> DescribedCertificate:
    """The certificate of both lanes together, as they are now."""
    inner, (beside, behind) = ratings.certificate(), mixer.behind(0)
    others = [
        Guarantee(name, statement, number, True, whom)
        for whom, lane in ((ALONE, behind), (FEATURES, beside))
        for name, statement, number in (
            ("promised regret", "what aggregating may cost", lane.cost),
            ("realised regret", "read off this very stream", lane.ahead),
        )
    ]
    return DescribedCertificate(
        learner=f"{inner.learner}, beside features",
        loss=inner.loss,
        rounds=mixer.rounds_of(0),
        cumulative_loss=mixer.loss_of(0),
        comparators=inner.comparators,
        assumptions=inner.assumptions,
        notes=inner.notes[:1],
        others=tuple(others),
        ratings=inner,
        behind=behind,
    )
