"""A Burkholder function from plain Python functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from burkholder.functions.base import BurkholderFunction, Tau, positive


class PlainFunction(BurkholderFunction):
    """Hand in T, U and, as far as you have them, V, A and the structure; the rest follows.

    Every function takes arrays with leading batch axes. `advance(tau, x, yhat, delta)` in place of `statistic`
    makes the function generalised.

    >>> f = PlainFunction(
    ...     "mine",
    ...     zero=lambda dim: (np.zeros(()), np.zeros(dim), np.zeros(())),
    ...     statistic=lambda x, yhat, delta: (delta * yhat, delta[..., None] * x, (x * x).sum(-1)),
    ...     value=lambda tau: tau[0] + ((tau[1] ** 2).sum(-1) - tau[2]) / 2,
    ...     structure=["sign-flip"],
    ... )
    >>> float(f.sign_flip((np.array(0.0), np.array([2.0]), np.array(4.0)), np.array([1.0])))
    -2.0
    """

    def __init__(
        self,
        name: str,
        zero: Callable[[int], Tau],
        value: Callable[[Tau], Any],
        statistic: Callable[..., Tau] | None = None,
        advance: Callable[..., Tau] | None = None,
        target: Callable[[Tau], Any] | None = None,
        bound: Callable[[np.ndarray, Tau], Any] | None = None,
        tangent: Callable[[Tau, np.ndarray], Any] | None = None,
        points: Callable[..., tuple[Tau, np.ndarray]] | None = None,
        structure: Iterable[str] = (),
        lipschitz: float = 1.0,
        growable: bool = True,
    ) -> None:
        self.name, self.structure, self.growable = name, frozenset(structure), growable
        self.lipschitz = positive("lipschitz", lipschitz)
        self.kind = "additive" if advance is None else "generalised"  # type: ignore[misc]
        given = {
            "zero": zero,
            "value": value,
            "statistic": statistic,
            "advance": advance,
            "target": target,
            "bound": bound,
            "tangent": tangent,
            "points": points,
        }
        self.has_ball, self.has_bound = False, bound is not None
        for method, function in given.items():
            if function is not None:
                setattr(self, method, function)
