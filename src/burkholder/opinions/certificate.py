"""What combined probabilities can say of themselves: against every expert, every mixture of them, and sequences of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts.certificate import SWITCHES, ExpertsCertificate
from burkholder.experts.regret import worst
from burkholder.learning.certificate import Assumption, Comparators, Guarantee
from burkholder.learning.rounding import SUBNORMAL, UNIT, lost, more
from burkholder.opinions import book as books
from burkholder.opinions import pools
from burkholder.opinions.book import Book
from burkholder.opinions.rows import FLOOR


class Mass(NamedTuple):
    """R_j ≤ ln(ΣW)·heaviest: ΣW was their number at first, promised not to rise, and is what it is."""

    columns: int
    mass: float  # ln ΣW now
    heaviest: float
    size: float  # no ln W was ever further from 0 than this, in units of the heaviest weight
    short: float  # what reading may have cost any sequence of experts

    def promised(self, w: Any) -> float:
        return self.heaviest * math.log(books.SHARES.size * self.columns)

    def corrected(self, w: Any) -> float:
        return self.heaviest * self.mass

    def tracking(self, switches: int, rounds: float) -> float:
        """A sequence with so many switches keeps (α/d)^switches·(1 − α)^rounds of a weight, besides its gains; on this path."""
        alphas = books.SHARES[books.SHARES > 0.0]
        price = float(np.min(switches * np.log(self.columns / alphas) - rounds * np.log1p(-alphas)))
        slack = (rounds + 64.0) * (self.size + 64.0) * 2.0**-48  # each round rounds a logarithm, by some units of its size
        return self.heaviest * (abs(self.mass + price) * 2.0**-40 + (self.mass + price) + slack) + self.short


@dataclass(frozen=True)
class OpinionsCertificate(ExpertsCertificate):
    """A certificate about experts one by one; asked with a mixture w, it answers what this stream proves of it."""

    def affine(self, w: Any, constant: float = 0.0) -> float:
        raise BadInput("w", w, "affine combinations of probabilities need not be probabilities: ask `realised` about a mixture")


def charged(sums: np.ndarray, short: np.ndarray, rounds: float, outcomes: int) -> np.ndarray:
    """Sums kept with their corrections, what reading may have cost the experts, and all that rounding may have taken from them.

    A loss, or a slope's part, is wrong by at most (outcomes + 16) units of its size, its product with the weight by one more; the
    corrected sum as `rounding.lost` says; sizes, sums of n numbers ≥ 0, by a factor 1 ± 2nu.
    """
    size = sums[books.SIZE] * (1.0 + 4.0 * (rounds + 8.0) * UNIT)
    total = sums[books.SUM] + sums[books.REST]
    charge = (2.0 * outcomes + 40.0) * UNIT * size + 4.0 * UNIT * np.abs(total) + lost(rounds, 1.0) * size + rounds * SUBNORMAL
    charge += short * (1.0 + 4.0 * (rounds + 16.0) * UNIT)
    return np.nextafter(total + charge * (1.0 + 64.0 * UNIT), np.inf)


def certify(book: Book, loss: str, names: tuple[str, ...], outcomes: int) -> OpinionsCertificate:
    """The certificate of a book, over the user's experts and then the made ones; arrays are copies."""
    totals, rounds = book.totals, float(book.totals[books.ROUNDS])
    told = zip((book.regret, book.gain), book.short)
    alone, gains = (np.roll(charged(sums, short, rounds, outcomes), -pools.COUNT) for sums, short in told)
    met = np.roll(book.awake, -pools.COUNT) > 0.0
    top = float(book.log_w.max(initial=0.0))
    mass = top + math.log(float(np.exp(book.log_w - top).sum())) if book.log_w.size else 0.0
    heaviest, columns = max(float(totals[books.HEAVIEST]), 1.0), max(len(names), 1)
    late, silent = int(totals[books.LATE]), int(totals[books.SILENT])
    notes = [
        f"made from the experts, and compared with like them: {', '.join(pools.NAMES)}",
        f"a probability below {FLOOR:g} counts as {FLOOR:g}"
        if loss == "log"
        else "experts are judged by what they said, to the last digit",
    ]
    if silent:
        notes.append(f"every expert was asleep in {silent} rounds; all outcomes were called alike there")
    promise = Mass(columns, mass, heaviest, float(book.regret[books.SIZE].max(initial=0.0)), more(float(book.short[0].sum()), rounds))
    still = "the corrected and the realised regret, which count what was played"
    certificate = OpinionsCertificate(
        learner="probabilities",
        loss=loss,
        rounds=int(rounds),
        cumulative_loss=float(totals[books.LOSS] + totals[books.LOSS_REST]),
        weight=float(totals[books.WEIGHT] + totals[books.WEIGHT_REST]),
        potential=mass - math.log(books.SHARES.size * columns) if names else None,
        comparators=Comparators("each of the experts alone" if met.all() else "each of the experts met so far alone"),
        assumptions=(Assumption("labels in time", "each label arrives before the next prediction", 0.0, float(late), late, still),),
        notes=tuple(notes),
        names=names,
        met=met,
        gains=gains,
        alone=alone,
        promise=promise,
        others=tuple(_others(gains, met, promise, rounds)) if names else (),
    )
    return certificate


def _others(gains: np.ndarray, met: np.ndarray, promise: Mass, rounds: float) -> list[Guarantee]:
    """Lines about other comparators than the headline's: a linear function of w is largest at an expert."""
    mixtures = Comparators("mixtures of the experts", "w in the simplex")
    changing = Comparators(f"sequences of awake experts that switch at most {SWITCHES} times")
    return [
        Guarantee("realised to mixtures", "read off this very stream, by convexity", worst(gains, met), True, mixtures),
        Guarantee("tracking regret", "with the weights as they are now, on this path", promise.tracking(SWITCHES, rounds), True, changing),
    ]
