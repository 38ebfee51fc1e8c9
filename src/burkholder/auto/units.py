"""Labels in units of the first one that is not 0: what that does to a loss. Everything Auto knows of a loss but its formulas is here."""

from __future__ import annotations

from typing import Any

from burkholder.losses import EpsilonInsensitive, Huber, Squared


def degree(loss: Any) -> int:
    """Labels and predictions twice as large make the loss 2^degree times as large.

    >>> degree(Squared()), degree(EpsilonInsensitive())
    (2, 1)
    """
    return 2 if isinstance(loss, (Squared, Huber)) else 1


def divided(loss: Any, unit: float) -> Any:
    """The loss for labels divided by `unit`: thresholds are divided too.

    >>> divided(Huber(threshold=3.0), 2.0)
    Huber(threshold=1.5)
    """
    return type(loss)(loss[0] / unit) if isinstance(loss, (Huber, EpsilonInsensitive)) else loss


def indifferent(loss: Any) -> float:
    """Errors up to this are free."""
    return float(getattr(loss, "epsilon", 0.0))
