"""What is done with a model that was accepted, and what must then be true of it.

It predicts, learns, hears late labels, certifies and is saved. Whatever it was made from: a round that is refused leaves the same
bytes; predicting does; its file read again gives the same bytes; every number is a number; and what it certifies comes in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder import storage
from burkholder.errors import BurkholderError

Step = Callable[[Any], None]


class Use:
    """Steps in order, and comparators to ask about."""

    def __init__(self, *steps: Step, comparators: tuple[Any, ...] = ()) -> None:
        self.steps, self.comparators = steps, comparators

    def __call__(self, learner: Any) -> bool:
        """Whether every step was taken; AssertionError for what must not be."""
        kept, all_taken = storage.pack(learner), True
        assert storage.pack(storage.unpack(kept)) == kept, "its own file is read as another learner"
        self.certify(learner)
        for step in self.steps:
            try:
                step(learner)
            except BurkholderError as error:
                assert storage.pack(learner) == kept, f"a refused round changed it: {error}"
                all_taken = False
            else:
                kept = storage.pack(learner)
        self.certify(learner)
        try:
            assert storage.pack(storage.unpack(kept)) == kept, "its own file is read as another learner"
        except BurkholderError as error:
            raise AssertionError(f"its own file is refused: {error}") from None
        return all_taken

    def certify(self, learner: Any) -> None:
        """Ask for everything a certificate says."""
        if not hasattr(learner, "certificate"):
            return  # a confidence sequence: its statement is its interval
        try:
            certificate = learner.certificate()
        except BurkholderError as error:
            raise AssertionError(f"it does not certify: {error}") from None
        sane(certificate)
        for asked in ({}, {"radius": 0.5}, *({"w": w} for w in self.comparators)):
            in_order(certificate, asked)


def sane(certificate: Any) -> None:
    """Rounds are counted, losses are sizes, and nothing is no number."""
    rounds, loss, mean = certificate.rounds, certificate.cumulative_loss, certificate.mean_loss
    assert type(rounds) is int and rounds >= 0, f"rounds {rounds!r}"
    assert 0.0 <= loss < math.inf, f"cumulative loss {loss!r}"
    assert 0.0 <= mean < math.inf or (math.isnan(mean) and not (rounds and certificate.weight)), f"mean loss {mean!r}"
    assert certificate.potential is None or not math.isnan(certificate.potential), f"potential {certificate.potential!r}"
    told = certificate.to_dict()
    for part in told["guarantees"] + told["assumptions"]:
        assert not any(isinstance(value, float) and math.isnan(value) for value in part.values()), f"not a number in {part}"
        assert part.get("violations", 0) >= 0, f"{part}"
    str(certificate)


def in_order(certificate: Any, asked: dict[str, Any]) -> None:
    """realised ≤ corrected ≤ bound, none of them −∞ or no number; a learner may say that it has no such number."""
    try:
        numbers = certificate.realised(**asked), certificate.corrected(**asked), certificate.bound(**asked)
    except BurkholderError:
        return
    assert -math.inf < numbers[0] <= numbers[1] <= numbers[2], f"realised, corrected and bound {numbers} for {asked}"


# --- steps ------------------------------------------------------------------------------------------------------------
def predicting(*x: Any, how: str = "predict") -> Step:
    """Finite predictions, and nothing is changed by them."""

    def step(learner: Any) -> None:
        before = storage.pack(learner)
        said = getattr(learner, how)(*x)
        numbers = list(said.values()) if isinstance(said, dict) else said
        assert np.isfinite(np.asarray(numbers, float)).all(), f"{how} says {said}"
        assert storage.pack(learner) == before, f"{how} changed it"

    return step


def learning(*round: Any) -> Step:
    return lambda learner: learner.update(*round)


def revealing(y: Any) -> Step:
    """The label of the oldest play that waits, if one does."""

    def step(learner: Any) -> None:
        for id in list(learner._tickets.waiting)[:1]:
            learner.reveal(id, y)

    return step


def interval(sequence: Any) -> None:
    """The ends are numbers within the range."""
    low, high = sequence.interval()
    assert np.isfinite(low).all() and np.isfinite(high).all(), f"an interval from {low} to {high}"
    assert (np.asarray(low) >= sequence.low).all() and (np.asarray(high) <= sequence.high).all(), f"[{low}, {high}] leaves the range"


def plays(x: Any, y: Any, comparators: tuple[Any, ...] = ()) -> Use:
    """Two rounds and two late labels."""
    return Use(predicting(x), learning(x, y), predicting(x), learning(x, y), revealing(y), revealing(y), comparators=comparators)
