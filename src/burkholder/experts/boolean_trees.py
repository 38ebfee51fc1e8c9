"""Decision trees over ±1 features, of a depth that nobody says: products of ever more features, as the data ask for them.

A tree of depth k is a polynomial of degree k in its features (the paper's last section), so one linear learner a degree competes
with all of them. Degrees 0 and 1 are awake from the start; the next one wakes when what was lost since the last one woke reaches
the number of its products, in units of what the prediction 0 loses: the doubling trick, with products for rounds. Data that
shallow trees explain before that are asked for no more. The answer is a mixture of those awake (`huber-root`), and against a tree f of
degree k

    Σ ℓ(ŷ) − Σ ℓ(f(x)) ≤ what was lost while degree k slept + what the mixture loses to its learner + what that loses to f,

three numbers known at any moment. The first is the whole price of not having said k, for no loss is negative. On rows of d
features degree k sleeps no longer than until degrees 2 to k have lost their products, and a round each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.experts import rows
from burkholder.experts.certificate import ExpertsCertificate
from burkholder.experts.models import ModelExperts
from burkholder.learning.certificate import Certificate, Comparators, Guarantee
from burkholder.learning.feature_maps import Parity, factors
from burkholder.learning.learner import Learner
from burkholder.learning.rounding import above
from burkholder.learning.tickets import MAX_PENDING


class _Degree:
    """All products of at most so many features, under a learner of their own; asleep until woken, and on rows with too many."""

    def __init__(self, learner: Learner, products: Parity, awake: bool) -> None:
        self.learner, self.products, self.awake = learner, products, awake
        self.slept = 0.0  # what was lost in rounds without it

    def __call__(self, x: Any) -> float | None:
        return self.learner.predict(x) if self.awake and self.products.size(x) <= self.products.most else None


class Priced(NamedTuple):
    """A degree with the loss while it slept, and the certificate of its learner."""

    name: str
    degree: int
    slept: float
    known: dict[frozenset[str], str]  # its products
    certificate: Certificate


@dataclass(frozen=True)
class TreesCertificate(Certificate):
    """Its numbers are about polynomials of the features: a mapping from products, named as `Parity` names them, to numbers;
    nothing is the polynomial 0.
    """

    mixture: ExpertsCertificate | None = None
    degrees: tuple[Priced, ...] = ()

    def price(self, degree: int) -> float:
        """What was lost while that degree slept: all that not having known it has cost."""
        slept = [part.slept for part in self.degrees if part.degree == degree]
        return slept[0] if slept else above(self.cumulative_loss, 1e-12 * self.cumulative_loss)

    def _whom(self, w: Any, radius: float | None) -> dict[frozenset[str], float]:
        w = {} if w is None else w
        if not isinstance(w, Mapping) or radius is not None:
            raise BadInput("w", w, 'give a polynomial, such as {"a*b": 0.5, "(one)": 1.0}')
        met = {name for part in self.degrees for product in part.known for name in product}
        polynomial: dict[frozenset[str], float] = {}
        for key, entry in w.items():
            product = factors(str(key))
            if not product <= met:
                raise BadInput("w", key, "no row had all of its features: name products as Parity does")
            try:
                polynomial[product] = polynomial.get(product, 0.0) + float(entry)
            except (TypeError, ValueError, OverflowError):
                raise BadInput("w", entry, "give numbers") from None
        if not all(map(math.isfinite, polynomial.values())):
            raise BadInput("w", w, "give finite numbers")
        return polynomial

    def _least(self, whom: dict[frozenset[str], float], ask: str) -> float:
        """By way of each degree that is high enough; or what was lost altogether, for f loses something, too."""
        found, needed = [self.price(-1)], max(map(len, whom), default=0)
        for part in self.degrees:
            if part.degree >= needed and part.certificate.rounds and self.mixture is not None:
                w = {part.known[product]: entry for product, entry in whom.items() if product in part.known}  # others were always 0
                found.append(above(part.slept, getattr(self.mixture, ask)(part.name), getattr(part.certificate, ask)(w)))
        return min(found)

    def _realised(self, whom: dict[frozenset[str], float]) -> float:
        return self._least(whom, "realised") if self.valid else self.price(-1)

    def _corrected(self, whom: dict[frozenset[str], float]) -> float:
        return self._least(whom, "corrected") if self.valid else self.price(-1)

    def _promised(self, whom: dict[frozenset[str], float]) -> float:
        return self._least(whom, "bound")


class BooleanTrees(ModelExperts):
    """An aggregate of the degrees that are awake, at most `deepest`.

    `bound` is B, for labels in [-B, B]; None for losses of classes. `function` and further options are the learners'. A degree
    sleeps through rows of which it would make more than `most` products. Labels that come late void the promise.

    >>> import numpy as np
    >>> trees = BooleanTrees()
    >>> for x in np.random.default_rng(0).choice([-1.0, 1.0], (1000, 4)):
    ...     trees.update(x, x[0] * x[1] * x[3])
    >>> trees.degree, trees.predict([1.0, -1.0, 1.0, 1.0]) < -0.9
    (3, True)
    >>> certificate = trees.certificate()
    >>> certificate.cumulative_loss <= certificate.bound({"0*1*3": 1.0})  # against the product itself, which loses nothing
    True
    """

    def __init__(
        self,
        loss: Any = "absolute",
        bound: float | None = 1.0,
        deepest: int = 6,
        most: int = 5_000,
        function: Any = "mixture",
        *,
        max_pending: int = MAX_PENDING,
        **options: Any,
    ) -> None:
        if Parity(deepest, most).degree < 1:
            raise BadInput("deepest", deepest, "give a whole number, at least 1")
        if isinstance(loss, losses.Custom):
            raise BadInput("loss", loss, "the price of a degree rests on losses that are never negative: name one of ours")
        made = {}
        for k in range(int(deepest) + 1):
            learner = Learner(function, loss=loss, bound=bound, features=Parity(k, most), **options)
            made[f"degree {k}"] = _Degree(learner, learner.features, k <= 1)
        kept: dict[str, Any] = {} if bound is None else {"bound": bound}
        super().__init__(made, learner.loss, max_pending=max_pending, lanes=False, **kept)
        self.unit = losses.value(self.loss, 0.0, 1.0 if bound is None else float(bound)) or 1.0  # a loss may not mind a small label
        self.asked = 0.0  # what was lost since the last degree woke

    @property
    def degrees(self) -> tuple[_Degree, ...]:
        """One after another, awake or not."""
        return tuple(adapter.model for adapter in self.models.values())

    @property
    def degree(self) -> int:
        """The highest that is awake.

        >>> BooleanTrees().degree
        1
        """
        return sum(one.awake for one in self.degrees) - 1

    def _play(self, row: Any) -> tuple[float, Any]:
        answer, (said, memo) = super()._play(row)
        return answer, (said, memo, answer)

    def _learn(self, row: Any, memo: Any, y: Any, weight: float, late: int) -> None:
        said, _, answer = memo
        super()._learn(row, memo, y, weight, late)
        target = rows.target(self.loss, y, math.inf if self.experts.bound is None else self.experts.bound)
        lost = weight * losses.value(self.loss, answer, target)
        for one, number in zip(self.degrees, said.values, strict=True):
            if math.isnan(number):
                one.slept = above(one.slept, lost, 1e-15 * lost)
            else:
                one.learner.update(row, target, weight)
        self.asked += lost / self.unit
        asleep = next((one for one in self.degrees if not one.awake), None)
        if asleep is not None and asleep.products.most >= asleep.products.size(row) <= self.asked:
            asleep.awake, self.asked = True, 0.0

    def _undo(self) -> Callable[[], None]:
        models, asked = super()._undo(), self.asked

        def back() -> None:
            models()
            self.asked = asked

        return back

    def certificate(self) -> TreesCertificate:  # type: ignore[override]
        """What holds against every polynomial of the features, and what each degree's sleep has cost."""
        mixture = self.experts.certificate()
        parts = []
        for k, (name, one) in enumerate(zip(self.models, self.degrees, strict=True)):
            known = {factors(product): product for product in one.learner.rows.names}
            parts.append(Priced(name, k, one.slept, known, one.learner.certificate()))
        lines = []
        for part in parts[: self.degree + 1]:
            whom = Comparators(f"trees of depth {part.degree}")
            lines.append(Guarantee("its price", "lost while this degree slept", part.slept, True, whom))
            shown = mixture.bound(part.name, nominal=True)
            told = shown if math.isfinite(shown) else None
            lines.append(Guarantee("of the mixture", "promised to the learner of this degree", told, mixture.valid, whom))
        return TreesCertificate(
            learner=f"boolean trees, degree {self.degree}",
            loss=mixture.loss,
            rounds=mixture.rounds,
            cumulative_loss=mixture.cumulative_loss,
            weight=mixture.weight,
            comparators=Comparators("the prediction 0"),
            assumptions=mixture.assumptions,
            others=tuple(lines),
            mixture=mixture,
            degrees=tuple(parts),
        )
