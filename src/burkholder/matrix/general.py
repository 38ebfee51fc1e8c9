"""Matrix prediction for any X: exact eigenvalues where they are cheap, one Krylov space where X has low rank.

State (a, H, M) of theory's sign flip or tangent strategy, log tr exp(A) kept up to date, and the same
ledger as for single entries: U = Σδŷ + (r/η)·log tr exp(A) never exceeds what joins and lowered rates have
PAID.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import BadInput
from burkholder.learning.rounding import SUBNORMAL, UNIT, lost, more
from burkholder.matrix import sign_flip
from burkholder.matrix.consistency import check_anchor, check_given, check_rate, check_square, check_trace
from burkholder.matrix.gradient import Gradient, from_matrix
from burkholder.matrix.inputs import Factors, Row
from burkholder.matrix.norms import frobenius
from burkholder.matrix.sign_flip import ALONG, CEILING, CLOSED, DOUBLING, EPOCH, FIXED, LOWERED, LOWERING, MIXTURE, PAID, Rule
from burkholder.matrix.sign_flip_certificate import Ledger, own_radius, promise
from burkholder.matrix.spaces import Dense, Krylov, Space
from burkholder.potentials import spectral as potential
from burkholder.potentials import spectral_mixture

Array = NDArray[np.float64]
SMALL = 64  # up to this D two full decompositions cost less than a Krylov space
WIDE = 4  # a block wider than D/WIDE is not worth a Krylov space
SPARSE = 2048  # beyond this D, H and M are kept sparse
LEAST = 1e-290  # ‖X‖² below it counts as it in the rate: else a rate may be no number
MATRICES = ("H", "M", "gradient", "gradient_low")


class GeneralEngine:
    """The learner's state and its arithmetic; `method` is "auto", "dense" or "krylov"."""

    def __init__(self, shape: tuple[int, int], rule: Rule, rates: Array, masses: Array, tangent: bool, method: str = "auto") -> None:
        self.shape, self.rule, self.rates, self.masses = shape, rule, rates.copy(), masses
        self.tangent, self.method, self.dimension = tangent, method, sum(shape)
        self.scalars = np.zeros(sign_flip.SCALARS)
        self.log_trace = np.full(len(rates), math.log(self.dimension))
        self.anchor = self.log_trace.copy()
        self.H, self.M = self._zero(), self._zero()
        # ΣδX of every round, with its correction: H forgets at a restart, and holds X only as its factors give it
        self.gradient, self.gradient_low = self._zero(shape), self._zero(shape)
        self.top = 0.0  # an upper bound of ‖M‖, exact whenever it mattered
        self.widest = 0.0  # largest ‖X‖ seen
        self.scalars[PAID] = self._potential()

    def _zero(self, shape: tuple[int, int] | None = None) -> Any:
        shape = (self.dimension, self.dimension) if shape is None else shape
        if self.dimension <= SPARSE:
            return np.zeros(shape)
        from scipy.sparse import csr_matrix

        return csr_matrix(shape)

    # -- the exponent ---------------------------------------------------------------------------------------

    def damping(self, rate: float) -> float:
        """What multiplies −M: ½η²L² for the sign flip, η² for the tangent."""
        return rate**2 if self.tangent else 0.5 * (rate * self.rule.lipschitz) ** 2

    def exponent(self, rate: float) -> Any:
        return rate * self.H - self.damping(rate) * self.M

    def _exact_log_trace(self, rate: float) -> float:
        A = self.exponent(rate)
        if isinstance(A, np.ndarray):
            return float(potential.log_trace_exp(A))
        met = np.flatnonzero(np.diff(A.indptr))  # elsewhere A is 0, and adds 1 to the trace
        rest = self.dimension - len(met)
        return float(np.logaddexp(potential.log_trace_exp(A[met][:, met].toarray()), math.log(rest) if rest else -math.inf))

    def _potential(self) -> float:
        return float(sign_flip.potential(self.rule, self.rates, self.masses, self.log_trace, self.dimension))

    @property
    def value(self) -> float:
        """U of the current epoch: at most 0 and never rising, up to the tolerance."""
        return float(self.scalars[ALONG] - self.scalars[EPOCH] + (self._potential() - self.scalars[PAID]))

    def _norm(self, extra: Factors | None = None) -> float:
        """‖M‖, or ‖M + M(X)‖ exactly."""
        M = self.M
        if extra is not None:
            M = M + self._square(extra)
        if isinstance(M, np.ndarray):
            return float(potential.largest(M))
        if not M.data.any():
            return 0.0
        from scipy.sparse.linalg import eigsh

        start = np.ones(self.dimension)
        return float(eigsh(M, k=1, which="LA", v0=start, return_eigenvectors=False)[0])

    def _dilated(self, X: Factors) -> Any:
        return self._stored(potential.hermitian, X)

    def _square(self, X: Factors) -> Any:
        return self._stored(potential.square, X)

    def _stored(self, make: Any, X: Factors) -> Any:
        """make(X) in the storage of H and M; sparse X are expanded on their own rows and columns only."""
        if isinstance(self.H, np.ndarray):
            return make(X.dense())
        from scipy.sparse import coo_matrix

        rows, columns = np.flatnonzero(X.left.any(1)), np.flatnonzero(X.right.any(1))
        small = coo_matrix(make((X.left[rows] * X.sizes) @ X.right[columns].T))
        where = np.concatenate([rows, columns + self.shape[0]])
        size = (self.dimension, self.dimension)
        return coo_matrix((small.data, (where[small.row], where[small.col])), shape=size).tocsr()

    # -- the rate --------------------------------------------------------------------------------------------

    def _optimal(self, ceiling: float) -> float:
        log_d, lipschitz = math.log(max(self.dimension, 2)), self.rule.lipschitz
        if not self.tangent:
            return math.sqrt(2.0 * log_d / ceiling) / lipschitz
        return min(0.5 / (lipschitz * self.widest), math.sqrt(log_d / ceiling))

    def prepare(self, X: Factors) -> None:
        """Before playing X: double Λ past ‖M + M(X)‖ and lower η or restart, by the rule."""
        if X.norm == 0.0:
            return
        lipschitz = self.rule.lipschitz
        if self.tangent and self.rule.kind == FIXED and self.rates[0] * lipschitz * X.norm > 0.5 * (1 + 1e-12):
            raise BadInput("X", X.norm, f"the tangent strategy needs rate·{lipschitz:g}·‖X‖ ≤ ½; lower the rate")
        self.widest = max(self.widest, X.norm)
        if self.rule.kind in (FIXED, MIXTURE):
            return
        step = max((lipschitz * X.norm) ** 2 if self.tangent else X.norm**2, LEAST)
        if self.scalars[CEILING] == 0.0:
            self.scalars[CEILING] = step
            self.rates[0] = self._optimal(step)
            self.scalars[PAID] = self._potential()
        most = self.top + step
        if most > self.scalars[CEILING]:
            self.top = self._norm()
            most = self.top + step if self.tangent else self._norm(X)
        if most <= self.scalars[CEILING] and self.rates[0] <= self._optimal(float(self.scalars[CEILING])):
            return
        while most > self.scalars[CEILING]:
            self.scalars[CEILING] *= 2.0
        self._lower(self._optimal(float(self.scalars[CEILING])))

    def _lower(self, new: float) -> None:
        old, radius = float(self.rates[0]), self.rule.radius
        self.scalars[LOWERED] += 1.0
        if self.rule.kind == DOUBLING:
            self.scalars[CLOSED] += self.scalars[PAID] + radius / old * self.damping(old) * self.top
            self.scalars[EPOCH] = self.scalars[ALONG]
            self.H, self.M, self.top = self._zero(), self._zero(), 0.0
            self.rates[0], self.log_trace[0] = new, math.log(self.dimension)
            self.scalars[PAID] = self._potential()
        elif self.rule.kind == LOWERING and new < old:
            before = self._potential()
            self.rates[0], self.log_trace[0] = new, self._exact_log_trace(new)
            self.scalars[PAID] += self._potential() - before

    def copy(self) -> GeneralEngine:
        """A state that may be prepared for a round without touching this one (its matrices are never
        changed in place).
        """
        other = copy.copy(self)
        other.rates, other.scalars, other.log_trace = (self.rates.copy(), self.scalars.copy(), self.log_trace.copy())
        return other

    # -- playing ---------------------------------------------------------------------------------------------

    def _dense_round(self, X: Factors) -> bool:
        if self.method != "auto":
            return self.method == "dense"
        return self.dimension <= SMALL or 2 * len(X.sizes) * WIDE > self.dimension

    def predict(self, X: Factors) -> tuple[float, list[Any], int]:
        """(ŷ, what `learn` needs of each rate, block steps); `prepare` has been called."""
        if X.norm == 0.0:
            return 0.0, [], 0
        spaces, changes, steps = [], [], 0
        for rate, log_trace in zip(self.rates, self.log_trace):
            space = self._space(X, float(rate), float(log_trace))
            spaces.append(space)
            steps = max(steps, space.steps)
            changes.append(space.answer)
        bound, lipschitz, radius = self.rule.bound, self.rule.lipschitz, self.rule.radius
        if self.tangent:
            yhat = -radius * changes[0][0]
        elif self.rule.kind != MIXTURE:
            yhat = -radius / (2.0 * lipschitz * self.rates[0]) * (changes[0][0] - changes[0][1])
        else:
            logs = np.log(self.masses) + self.log_trace - math.log(self.dimension)
            pair = logs[:, None] + np.array(changes)
            plus, minus = potential.log_sum_exp(pair.T)
            yhat = float(spectral_mixture.signed_exp_gap(plus, minus, radius / lipschitz, bound))
        return float(min(max(yhat, -bound), bound)) + 0.0, spaces, steps  # + 0.0: no negative zero

    def _space(self, X: Factors, rate: float, log_trace: float) -> Space:
        kind = Dense if self._dense_round(X) else Krylov
        return kind(self, X, rate, log_trace)

    def learn(self, row: Row, yhat: float, delta: float, spaces: list[Any]) -> None:
        """Take in the slope δ of the round that `predict` prepared."""
        self._enter(row, yhat, delta)
        X = row.factors
        if X.norm == 0.0:
            return
        growth = delta**2 if self.tangent else 1.0
        for k, space in enumerate(spaces):
            self.log_trace[k] += space.change(delta)
        self.H = self.H + delta * self._dilated(X)
        self.M = self.M + growth * self._square(X)
        self.top += growth * X.norm**2
        self.anchor = np.maximum(self.anchor, self.log_trace)
        for n, rate in enumerate(self.rates):
            if self.log_trace[n] < self.anchor[n] - sign_flip.FALL:
                self.log_trace[n] = self.anchor[n] = self._exact_log_trace(float(rate))

    def _enter(self, row: Row, yhat: float, delta: float) -> None:
        """The round in the sums of a certificate."""
        matrix, size, rounded = row.term(not isinstance(self.gradient, np.ndarray))
        sign_flip.enter(self.scalars, delta, yhat, size, rounded)
        term = delta * matrix
        # as `rounding.add`, entry by entry
        before, after = self.gradient, self.gradient + term
        part = after - before
        self.gradient_low = self.gradient_low + ((before - (after - part)) + (term - part))
        self.gradient = after

    def take_over(self, gradient: Gradient) -> None:
        """Begin with a ΣδX from elsewhere."""
        whole = gradient.dense(self.shape)
        self.gradient = whole if isinstance(self.gradient, np.ndarray) else type(self.gradient)(whole)
        self.scalars[sign_flip.DRIFT] += more(gradient.error / UNIT)

    def slopes(self, rounds: int) -> Gradient:
        """ΣδX over all rounds: a corrected sum, entry by entry (`rounding`), so that its error in ‖·‖_F is as `lost` says."""
        G = self.gradient + self.gradient_low
        size = frobenius(G if isinstance(G, np.ndarray) else G.data)
        tiny = rounds * SUBNORMAL * self.shape[0] * self.shape[1]
        return from_matrix(G, more(2.0 * UNIT * size + lost(rounds, float(self.scalars[sign_flip.MOVED])) + tiny, 16.0))

    def promise(self) -> Ledger:
        """What this path's ledger promises now, by nuclear norm."""
        top, rate = self._norm(), float(self.rates[0])
        return promise(self.rule, self.scalars, self.rule.radius / rate * self.damping(rate) * top, top, self.dimension)

    def bound(self, nuclear: float | None = None) -> float:
        """The promise against ‖W‖_Σ ≤ nuclear; the learner's own radius if not given."""
        return self.promise()(own_radius(self.rule) if nuclear is None else nuclear)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that changes, by name; sparse matrices as their three arrays."""
        named: dict[str, NDArray[Any]] = {
            "rates": self.rates,
            "log_trace": self.log_trace,
            "anchor": self.anchor,
            "scalars": self.scalars,
            "sizes": np.array([self.top, self.widest]),
        }
        for name in MATRICES:
            matrix = getattr(self, name)
            if isinstance(matrix, np.ndarray):
                named[name] = matrix
            else:
                named |= {f"{name}.{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}
        return named

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take over what `arrays` gave."""
        check_given(self.rule, arrays["rates"], self.rates)
        for name in ("rates", "log_trace", "anchor", "scalars"):
            setattr(self, name, np.array(arrays[name]))
        self.top, self.widest = (float(size) for size in arrays["sizes"])
        for name in MATRICES:
            if name in arrays:
                setattr(self, name, np.array(arrays[name]))
            else:
                from scipy.sparse import csr_matrix

                parts = tuple(np.array(arrays[f"{name}.{part}"]) for part in ("data", "indices", "indptr"))
                setattr(self, name, csr_matrix(parts, shape=getattr(self, name).shape))
        self._check(float(arrays["totals"][0]))

    def _check(self, rounds: float) -> None:
        """Refuse what no stream of so many rounds leaves behind."""
        check_anchor(self.log_trace, self.anchor)
        if self.rule.kind in (DOUBLING, LOWERING):
            ceiling = float(self.scalars[CEILING])
            check_rate(float(self.rates[0]), self._optimal(ceiling) if ceiling > 0.0 else math.inf, 0.0, ceiling)
        check_square(self.M, self.top)
        diagonal = np.asarray(self.M.diagonal(), float)
        for rate, log_trace in zip(self.rates.tolist(), self.log_trace.tolist()):
            check_trace(log_trace, rate, self.damping(rate), self.H, diagonal, self.rule.tol * rounds)
