"""What a stream of labels is for: the loss on labels in [−1, 1], its slope within ±2, and what a prediction says of the label.

squared, absolute, …   ŷ is the label expected, kept in [−1, 1]; for the losses whose best answer is a median, biases are sharpened too
logistic               labels are ±1, ŷ is the log-odds of 1 and is not cut: such a loss has no minimiser
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from burkholder.losses.dispatch import derivative
from burkholder.machine.compiling import uncounted

SLOPE = 2.0  # what bias model, direction and bet count on
SURE = 8.0  # log-odds that biases stay within
FARTHEST = 700.0  # log-odds of a bet


class Aim(NamedTuple):
    """A loss on labels; slopes are `share` times its own."""

    loss: Any
    share: float
    odds: bool

    @property
    def median(self) -> bool:
        """Whether the best answer is one."""
        return not self.odds and self.loss.degree != 2


def aim(loss: Any) -> Aim:
    """The aim of a loss whose slope on [−1, 1] is bounded.

    >>> from burkholder import losses
    >>> aim(losses.Squared()).share, aim(losses.Logistic()).odds
    (0.5, True)
    """
    return Aim(loss, min(1.0, SLOPE / float(loss.lipschitz(1.0))), bool(loss.odds))


@uncounted
def slope(aim, yhat, y):
    """δ."""
    return aim.share * derivative(aim.loss, yhat, y)


@uncounted
def expected(aim, yhat):
    """The label that ŷ expects."""
    return np.tanh(0.5 * yhat) if aim.odds else yhat


@uncounted
def within(aim, yhat):
    """ŷ where cutting is free, else as it is."""
    return yhat if aim.odds else min(max(yhat, -1.0), 1.0)
