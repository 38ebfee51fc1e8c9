"""ζ of any Burkholder function, as the tuple of arrays its mathematics is written in."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.rounds.schema import check_tau

LARGEST_FEATURE = 1e150  # beyond this, squares leave the range of doubles


def uniform(seed: int, counter: int) -> float:
    """A number in [0, 1) that depends on seed and counter alone, so that runs repeat bit for bit."""
    key = np.array([seed & 0xFFFFFFFFFFFFFFFF, counter], dtype=np.uint64)
    return float(np.random.Generator(np.random.Philox(key=key)).random())


class TauState:
    """Plays through a strategy, advances through the function. The cost per round is that of the mathematics."""

    inverts = False  # whether an inverse is saved beside ζ

    def __init__(self, function: BurkholderFunction, strategy: Any, dim: int = 0, seed: int = 0) -> None:
        self.function, self.strategy, self.seed = function, strategy, int(seed)
        self.rounds = 0
        self.dim = 0
        self._a = 0.0
        self._g = np.zeros(0)
        self._tau: Tau = ()
        if dim:
            self.grow(dim)

    def grow(self, dim: int) -> None:
        """Room for more coordinates: new ones start at zero, where they contribute nothing."""
        if dim <= self.dim:
            return
        if self.dim and not self.function.growable:
            raise BadInput("x", f"{dim} features", f"{self.function.name} was started with {self.dim} and cannot grow")
        fresh = self.function.zero(dim)
        for new, old in zip(fresh, self._tau):
            if new.shape:
                new[tuple(slice(0, n) for n in np.shape(old))] = old
        self._tau = tuple(new if new.shape or not self._tau else np.asarray(old) for new, old in zip(fresh, self._tau or fresh))
        self._g = np.concatenate([self._g, np.zeros(dim - self.dim)])
        self.dim = dim

    def dense(self, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The row as a vector of this state's dimension (repeated indices add up)."""
        top = int(indices.max()) + 1 if len(indices) else 0
        x = np.zeros(max(self.dim, top))
        np.add.at(x, indices, values)
        return x

    def _seen(self, x: np.ndarray) -> Tau:
        """ζ for a row that may be wider than the state; nothing is stored."""
        if len(x) == self.dim:
            return self._tau
        wider = TauState(self.function, self.strategy)
        wider._tau, wider.dim, wider._g = self._tau, self.dim, self._g
        wider.grow(len(x))
        return wider._tau

    def move(self, indices: np.ndarray, values: np.ndarray) -> tuple[float, float]:
        """(raw prediction, additive error of the strategy in this round); ζ stays as it is."""
        x = self.dense(indices, values)
        if not len(x):
            return 0.0, 0.0
        return self.strategy.play(self._seen(x), x, uniform(self.seed, 2 * self.rounds))

    def play(self, indices: np.ndarray, values: np.ndarray) -> float:
        """The raw, unclipped prediction; ζ stays as it is."""
        return self.move(indices, values)[0]

    def learn(self, indices: np.ndarray, values: np.ndarray, yhat: float, delta: float) -> float:
        """ζ ← advance(ζ); returns how far x exceeds its assumed size, as seen ÷ limit (0 where none is assumed)."""
        x = self.dense(indices, values)
        if not len(x):
            self.rounds += 1
            return 0.0
        before = self._seen(x)
        arguments = (before, x, np.asarray(yhat), np.asarray(delta))
        if self.function.in_expectation:
            sign = 1.0 if uniform(self.seed, 2 * self.rounds + 1) < 0.5 else -1.0
            after = self.function.advance(*arguments, sign)  # type: ignore[call-arg]
        else:
            after = self.function.advance(*arguments)
        for part in after:
            if not np.all(np.isfinite(part)):
                raise BadInput("x", float(np.max(np.abs(x))), "this round's statistic overflows: rescale the features")
        ratio = max((float(np.max(seen)) / limit for seen, limit in self.function.sizes(x).values()), default=0.0)
        self.grow(len(x))
        self._tau = tuple(np.asarray(part) for part in after)
        self._a += delta * yhat
        self._g += delta * x
        self.rounds += 1
        return ratio

    @property
    def a(self) -> float:
        """Σδŷ."""
        return self._a

    @property
    def g(self) -> np.ndarray:
        """Σδx."""
        return self._g.copy()

    def tau(self) -> Tau:
        """ζ."""
        return tuple(part.copy() for part in self._tau) if self.dim else self.function.zero(1)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that must be saved to go on bit for bit."""
        parts = {f"tau{k}": part.copy() for k, part in enumerate(self._tau)}
        return {**parts, "g": self._g.copy(), "scalars": np.array([self._a, self.rounds, self.dim, self.seed], float)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Take over what `arrays` gave."""
        check_tau(arrays, self.function, self.inverts)
        scalars = arrays["scalars"]
        self._a, self.rounds, self.dim, self.seed = float(scalars[0]), *(int(number) for number in scalars[1:])
        self._g = np.array(arrays["g"], float)
        count = sum(name.startswith("tau") for name in arrays)
        self._tau = tuple(np.array(arrays[f"tau{k}"], float) for k in range(count))
