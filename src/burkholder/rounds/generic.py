"""ζ of any Burkholder function, as the tuple of arrays its mathematics is written in."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.learning import ledger as account
from burkholder.learning import rounding
from burkholder.learning.evidence import Evidence
from burkholder.learning.rows import Table, check_finite
from burkholder.rounds.schema import check_tau, largest

LARGEST_FEATURE = 1e150  # beyond this, squares leave the range of doubles


def uniform(seed: int, counter: int) -> float:
    """A number in [0, 1) that depends on seed and counter alone, so that runs repeat bit for bit."""
    key = np.array([seed & 0xFFFFFFFFFFFFFFFF, counter], dtype=np.uint64)
    return float(np.random.Generator(np.random.Philox(key=key)).random())


@contextmanager
def _refusing(x: np.ndarray) -> Iterator[None]:
    """Without warnings of numbers that overflow, which are looked for afterwards; what has no eigenvalues is refused."""
    try:
        with np.errstate(all="ignore"):
            yield
    except np.linalg.LinAlgError:
        raise BadInput("x", float(np.max(np.abs(x))), "with what was learned before, this row overflows: rescale the features") from None


class TauState:
    """Plays through a strategy, advances through the function. The cost per round is that of the mathematics."""

    inverts = False  # whether an inverse is saved beside ζ

    def __init__(self, function: BurkholderFunction, strategy: Any, dim: int = 0, seed: int = 0) -> None:
        self.function, self.strategy, self.seed = function, strategy, int(seed)
        self.rounds = 0
        self.dim = 0
        # Σδŷ and Σδx with their corrections; Σ|δŷ|, Σ|δx_i| and Σ|δ|·sup|⟨w, x⟩| over comparators of size 1
        self._a = np.zeros(2)
        self._g, self._g_low, self._moved = np.zeros(0), np.zeros(0), np.zeros(0)
        self._leaned = self._moved_norm = 0.0
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
        more = np.zeros(dim - self.dim)
        self._g, self._g_low, self._moved = (np.concatenate([part, more]) for part in (self._g, self._g_low, self._moved))
        self.dim = dim

    def dense(self, indices: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The row as a vector of this state's dimension (repeated indices add up)."""
        top, limit = int(indices.max()) + 1 if len(indices) else 0, self.function.dimension
        if limit is not None and top > limit:
            raise BadInput("x", f"feature {top - 1}", f"{self.function.name} was made for {limit} features: give it another shape")
        x = np.zeros(max(self.dim, top) if limit is None or not top else limit)
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

    @classmethod
    def fits(cls, function: Any, strategy: Any) -> bool:
        """Every function has this state."""
        return True

    @classmethod
    def fresh(cls, function: Any, strategy: Any, seed: int) -> TauState:
        """An empty state."""
        return cls(function, strategy, seed=seed)

    atomic = False

    @property
    def size_limit(self) -> float:
        """What `learn` returns is assumed to stay below."""
        return 1.0 if self.function.sizes(np.zeros(max(self.dim, 1))) else math.inf

    # --- whole streams -------------------------------------------------------------------------------------
    def run(self, table: Table, y: np.ndarray, weight: np.ndarray | None, loss: Any, bound: float, ledger: np.ndarray) -> np.ndarray:
        """Every row in turn: play, settle, learn. What it may leave half done, `keep` puts back."""
        out = np.empty(len(y))
        for t, row in enumerate(_rows(table)):
            book = ledger.copy()
            raw, error = self.move(*row)
            importance = 1.0 if weight is None else float(weight[t])
            out[t], delta = account.settle(book, loss, raw, float(y[t]), importance, bound, self.function.lipschitz)
            if not (math.isfinite(delta) and math.isfinite(book[account.LOSS])):
                raise BadInput(f"y[{t}]", float(y[t]), f"the loss at the prediction {out[t]:g}, or its slope, is not finite")
            try:
                size = self.learn(*row, out[t], delta, importance)
            except BadInput as problem:
                raise BadInput(f"x[{t}]", problem.value, problem.remedy) from None
            if math.isfinite(self.size_limit):
                account.measure(book, size, self.size_limit)
            book[account.ERROR] += error
            ledger[:] = book
        return out

    def plays(self, table: Table, loss: Any, bound: float, ledger: np.ndarray) -> np.ndarray:
        """The prediction for every row; ζ stays as it is."""
        return np.array([min(max(self.move(*row)[0], -bound), bound) for row in _rows(table)])

    def keep(self, ledger: np.ndarray) -> Callable[[], None]:
        """Remember ζ and the ledger; the result puts them back."""
        kept = {key: copy.deepcopy(value) for key, value in self.__dict__.items() if key not in ("function", "strategy")}
        book = ledger.copy()

        def back() -> None:
            self.__dict__.update(kept)
            ledger[:] = book

        return back

    # --- one round -----------------------------------------------------------------------------------------
    def move(self, indices: np.ndarray, values: np.ndarray) -> tuple[float, float]:
        """(raw prediction, additive error of the strategy in this round); ζ stays as it is."""
        x = self.dense(indices, values)
        if not len(x):
            return 0.0, 0.0
        with _refusing(x):
            raw, error = self.strategy.play(self._seen(x), x, uniform(self.seed, 2 * self.rounds))
        if math.isnan(raw):
            raise BadInput("x", float(np.max(np.abs(x))), "with what was learned before, this row overflows: rescale the features")
        return raw, error

    def play(self, indices: np.ndarray, values: np.ndarray) -> float:
        """The raw, unclipped prediction; ζ stays as it is."""
        return self.move(indices, values)[0]

    def scaled(self, x: np.ndarray, yhat: float, delta: float, weight: float) -> tuple[np.ndarray, float, float]:
        """The round as a function of curved losses sees it: a weight w < 1 makes the loss w times as curved, which is
        the round (√w·x, √w·ŷ, δ/√w). Others see nothing but δ, which has the weight in it.
        """
        if not self.function.needs_curvature or weight >= 1.0:
            return x, yhat, delta
        root = math.sqrt(weight)
        return root * x, root * yhat, delta / root if root > 0.0 else 0.0

    def learn(self, indices: np.ndarray, values: np.ndarray, yhat: float, delta: float, weight: float = 1.0) -> float:
        """ζ ← advance(ζ); returns how far x exceeds its assumed size, as seen ÷ limit (0 where none is assumed).

        δ has the weight of the round in it.
        """
        x = self.dense(indices, values)
        if not len(x):
            self.rounds += 1
            return 0.0
        before = self._seen(x)
        seen_x, seen_yhat, seen_delta = self.scaled(x, yhat, delta, weight)
        arguments = (before, seen_x, np.asarray(seen_yhat), np.asarray(seen_delta))
        with _refusing(x):
            if self.function.in_expectation:
                sign = 1.0 if uniform(self.seed, 2 * self.rounds + 1) < 0.5 else -1.0
                after = self.function.advance(*arguments, sign)  # type: ignore[call-arg]
            else:
                after = self.function.advance(*arguments)
        most = largest(part.ndim for part in before)
        for part in after:
            if not np.all(np.abs(part) <= most):
                raise BadInput("x", float(np.max(np.abs(x))), "this round's statistic overflows: rescale the features")
        ratio = max((float(np.max(seen)) / limit for seen, limit in self.function.sizes(x).values()), default=0.0)
        self.grow(len(x))
        self._tau = tuple(np.asarray(part) for part in after)
        self.enter(x, yhat, delta)
        self.rounds += 1
        return ratio

    def enter(self, x: np.ndarray, yhat: float, delta: float) -> None:
        """Σδŷ, Σδx and what their rounding is charged by."""
        rounding.add(self._a, 0, 1, delta * yhat)
        self._leaned += abs(delta * yhat)
        step = delta * x
        after = self._g + step
        part = after - self._g
        self._g_low += (self._g - (after - part)) + (step - part)
        self._g = after
        self._moved += np.abs(step)
        if self.function.has_ball:
            self._moved_norm += abs(delta) * max(self._support(x), self._support(-x))

    def _support(self, x: np.ndarray) -> float:
        """sup⟨w, −x⟩ over comparators of size 1, or over the function's own class where it needs no radius."""
        return self.function.support(x, None if self.function.own_radius() is None else 1.0)

    @property
    def a(self) -> float:
        """Σδŷ."""
        return float(self._a.sum())

    @property
    def g(self) -> np.ndarray:
        """Σδx."""
        return self._g + self._g_low

    def evidence(self, loss: Any, rounds: int, steepest: float) -> Evidence:
        """Σδŷ and Σδx with what rounding may have cost: the products are rounded, the sums corrected."""
        unit, empty = rounding.UNIT, np.zeros(self.function.dimension or 1)
        leaned, moved = rounding.more(self._leaned, rounds), self._moved * (1.0 + 1e-9) if self.dim else empty
        each = 2.0 * unit + 4.0 * ((rounds + 4.0) * unit) ** 2
        drift = each * moved + unit * np.abs(self.g if self.dim else 0.0) + rounds * rounding.SUBNORMAL
        return Evidence(
            a=self.a,
            g=self.g if self.dim else empty,
            a_error=rounding.lost(rounds, leaned) + unit * leaned,
            leaned=leaned,
            slope=(loss.slope_error + 2.0) * unit,
            moved=moved,
            drift=drift,
            moved_norm=rounding.more(self._moved_norm, rounds + 4096.0),
            drift_norm=1.0001 * self.function.longest_side(len(drift)) * float(drift.sum()) if self.function.has_ball else 0.0,
        )

    def take_sums(self, dim: int, tau: Tau, parts: list[TauState], placed: list[Callable[[np.ndarray], np.ndarray]]) -> None:
        """Become the sum of several states; `placed` puts each one's coordinates where they go here."""
        self.dim, self._tau = dim, tau
        self._g, self._g_low, self._moved = np.zeros((3, dim))
        for part, place in zip(parts, placed):
            step = place(part._g)
            after = self._g + step
            back = after - self._g
            self._g_low += (self._g - (after - back)) + (step - back) + place(part._g_low)
            self._g = after
            self._moved += place(part._moved)
            rounding.add(self._a, 0, 1, part._a[0])
            self._a[1] += part._a[1]
            self._leaned += part._leaned
            self._moved_norm += part._moved_norm
            self.rounds += part.rounds

    def tau(self) -> Tau:
        """ζ."""
        return tuple(part.copy() for part in self._tau) if self.dim else self.function.zero(self.function.dimension or 1)

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that must be saved to go on bit for bit."""
        parts = {f"tau{k}": part.copy() for k, part in enumerate(self._tau)}
        sums = np.stack([self._g, self._g_low, self._moved])
        scalars = [*self._a, self._leaned, self._moved_norm, self.rounds, self.dim, self.seed]
        return {**parts, "sums": sums, "scalars": np.array(scalars, float)}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Take over what `arrays` gave."""
        check_tau(arrays, self.function, self.inverts)
        scalars = np.asarray(arrays["scalars"], float)
        self._a, self._leaned, self._moved_norm = scalars[:2].copy(), float(scalars[2]), float(scalars[3])
        self.rounds, self.dim, self.seed = (int(number) for number in scalars[4:])
        sums = np.array(arrays["sums"], float)
        self._g, self._g_low, self._moved = sums.copy()
        count = len(self.function.zero(self.dim)) if self.dim else 0
        self._tau = tuple(np.array(arrays[f"tau{k}"], float) for k in range(count))


def _rows(table: Table) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for t in range(table.rows):
        here = slice(int(table.indptr[t]), int(table.indptr[t + 1]))
        values = table.values[here].astype(float)
        check_finite(values, f"x[{t}]")
        yield table.indices[here].astype(np.int64), values
