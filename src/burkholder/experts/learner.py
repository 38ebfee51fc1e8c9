"""Experts: many forecasts in, one out, never far behind the best mixture of them."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.experts import boa, ewa, huber_root, ml_poly, rows, schema, squint, stream
from burkholder.experts.certificate import ExpertsCertificate, certify
from burkholder.experts.dispatch import grown
from burkholder.experts.run import ExpertsRun
from burkholder.learning.schema import check_header
from burkholder.suggestions import did_you_mean

METHODS = ("huber-root", "ewa", "ml-poly", "boa", "squint")
OUTSIDE = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)


class Experts:
    """Aggregate forecasts, round by round or whole arrays at once.

    Nothing needs tuning with the default method, "huber-root": it adapts to the scale of forecasts and
    losses, tracks the best expert as it changes, and carries a bound. The others are well-known rules to
    compare with. A forecast that is missing, None or NaN means that the expert is asleep; experts may
    appear at any time.

    loss, quantile=…   a name or record of `burkholder.losses`, with its options
    bound              targets lie in [-bound, bound]: ŷ is kept there, at no cost
    lipschitz          a bound on the loss's slope, when the loss itself has none (squared)
    rate               the learning rate: "ewa" needs one, no other method has one
    linear             learn from slopes δ(ŷ−x_j) (competes with mixtures) or from losses (single experts)
    shares, rates      huber-root's grid of tracking shares, and the number of its rates
    outside            extra experts x̄ + c·(running MAE); by default for the pinball loss, whose target
                       may lie beyond every forecast

    >>> experts = Experts(loss="pinball", quantile=0.9)
    >>> for y in (3.0, 2.5, 3.5, 2.0):
    ...     p = experts.predict({"gfs": 3.1, "ecmwf": 2.8})
    ...     experts.update({"gfs": 3.1, "ecmwf": 2.8}, y)
    >>> experts.certificate().rounds
    4
    >>> sorted(experts.weights())[:2]
    ['ecmwf', 'gfs']
    """

    def __init__(
        self,
        loss: Any = "absolute",
        *,
        method: str = "huber-root",
        bound: float | None = None,
        lipschitz: float | None = None,
        rate: float | None = None,
        linear: bool = True,
        shares: tuple[float, ...] = huber_root.SHARES,
        rates: int | None = None,
        outside: tuple[float, ...] | None = None,
        **options: float,
    ) -> None:
        self.loss = losses.get(loss, **options)
        if method not in METHODS:
            raise BadInput("method", method, f"{did_you_mean(method, METHODS)}Methods: {', '.join(METHODS)}")
        for name, number in (("bound", bound), ("lipschitz", lipschitz), ("rate", rate)):
            if number is not None and not (number > 0 and math.isfinite(number)):
                raise BadInput(name, number, "give a positive finite number")
        if (method == "ewa") != (rate is not None):
            raise BadInput("rate", rate, "method 'ewa' needs a positive learning rate, the others have none")
        if rates is not None and not 1 <= rates <= 1000:
            raise BadInput("rates", rates, "give a whole number from 1 to 1000")
        if not shares or shares[0] != 0.0 or not all(0.0 <= alpha < 1.0 for alpha in shares):
            raise BadInput("shares", shares, "start with 0, then give numbers in (0, 1)")
        self.method, self.rate, self.linear, self.shares = method, rate, bool(linear), tuple(shares)
        self.bound, self.lipschitz = bound, lipschitz
        slope = float(lipschitz or 0.0) or float(self.loss.lipschitz(math.inf if bound is None else bound))
        self._limit = slope if math.isfinite(slope) else 0.0  # 0: unknown
        self.rates = rates or 48  # 2^48: the first spread may be a poor guide to the scale of the rest
        if outside is None:
            outside = OUTSIDE if isinstance(self.loss, losses.Pinball) else ()
        self.outside = tuple(float(c) for c in outside)
        if not all(math.isfinite(c) for c in self.outside):
            raise BadInput("outside", outside, "give finite multiples of the running error")
        # clipping ŷ is free only where the loss has its minimiser inside
        self._clip = float(bound) if bound is not None and losses.has_minimiser(self.loss) else math.inf
        self.names: tuple[str, ...] = ()
        self._tally = stream.start(0, self.outside)
        self._state = self._start(len(self.outside))

    def _start(self, columns: int) -> Any:
        if self.method == "ewa":
            assert self.rate is not None
            return ewa.start(columns, self.rate, self.linear)
        if self.method == "ml-poly":
            return ml_poly.start(columns, self.linear)
        if self.method == "boa":
            return boa.start(columns, self.linear)
        if self.method == "squint":
            return squint.start(columns, self._limit, self.rates)
        return huber_root.start(columns, self._limit, self.rates, self.shares)

    def _with(self, fresh: tuple[str, ...]) -> tuple[Any, stream.Tally]:
        """State and tally with room for new names; the learner's own when there is none."""
        if not fresh:
            return self._state, self._tally
        columns = len(self.outside) + len(self.names) + len(fresh)
        state, tally = grown(self._state, columns), grown(self._tally, columns)
        tally.paid[columns - len(fresh) :] = tally.totals[stream.LOSS]  # asleep so far: it played ŷ
        return state, tally

    @property
    def columns(self) -> tuple[str, ...]:
        """The user's experts, then those outside the hull."""
        return (*self.names, *(f"mean{c:+g}·mae" for c in self.outside))

    def predict(self, x: Any) -> float:
        """ŷ for one round of forecasts: a mapping from expert to forecast, or an array. Pure."""
        values, fresh = rows.row(x, self.names)
        state, tally = self._with(fresh)
        return float(stream.play(state, tally, self._clip, values))

    def update(self, x: Any, y: Any) -> None:
        """Learn the target of the round whose forecasts are x."""
        values, fresh = rows.row(x, self.names)
        target = rows.target(self.loss, y, math.inf if self.bound is None else self.bound)
        state, tally = self._with(fresh)
        limit = self._limit or math.inf
        if isinstance(self.loss, losses.Custom):  # Python functions: they may fail or overflow, so ask first
            yhat = float(stream.play(state, tally, self._clip, values))
            delta, own, average, paid = stream.round_losses(self.loss, tally, values, yhat, target)
            if not (math.isfinite(delta) and math.isfinite(own)):
                raise BadInput("y", y, f"the loss of ŷ = {yhat:g} or its slope is not finite")
            stream.score(state, tally, limit, values, target, yhat, delta, own, average, paid)
        else:
            stream.sweep(
                state,
                tally,
                self.loss,
                self._clip,
                limit,
                values[None, :],
                np.array([target]),
                np.empty(1),
                np.empty(1),
                np.empty((0, values.size + len(self.outside))),
            )
        self._state, self._tally, self.names = state, tally, (*self.names, *fresh)

    def run(self, F: Any, y: Any, *, weights: bool = True) -> ExpertsRun:
        """Whole arrays (rounds × experts), compiled; the same bits as predict and update in a loop.

        F may be an array, a mapping from expert to column, or a data frame; NaN means asleep.
        """
        bound = math.inf if self.bound is None else self.bound
        forecasts, targets, fresh = rows.table(F, y, self.loss, bound, self.names)
        state, tally = self._with(fresh)
        n, names = targets.size, (*self.names, *fresh)
        width = len(names) + len(self.outside)
        predictions, paid = np.empty(n), np.empty(n)
        used = np.empty((n if weights else 0, width))
        if isinstance(self.loss, losses.Custom):  # Python functions may fail in any round: learn on a twin
            twin = copy.deepcopy(self)
            (twin._state, twin._tally), twin.names = twin._with(fresh), names
            for t in range(n):
                predictions[t] = twin.predict(forecasts[t])
                if weights:
                    used[t] = stream.pulls(twin._state, twin._tally, forecasts[t])
                paid[t] = losses.value(self.loss, float(predictions[t]), float(targets[t]))
                twin.update(forecasts[t], targets[t])
            state, tally = twin._state, twin._tally
        else:
            stream.sweep(state, tally, self.loss, self._clip, self._limit or math.inf, forecasts, targets, predictions, paid, used)
        self._state, self._tally, self.names = state, tally, names
        return ExpertsRun(predictions, paid, used, self.columns, self.certificate(), self.loss, forecasts, targets)

    def weights(self, x: Any = None) -> dict[str, float]:
        """The weight of each expert now, with all of them awake, or with those awake in x."""
        if x is None:
            x = np.zeros(len(self.names))
        values, fresh = rows.row(x, self.names)
        state, tally = self._with(fresh)
        pulls = stream.pulls(state, tally, values)
        outside = self.columns[len(self.names) :]
        return dict(zip((*self.names, *fresh, *outside), pulls.tolist()))

    def certificate(self) -> ExpertsCertificate:
        """What holds now: bounds for any mixture, the realised regret, what was assumed and seen."""
        columns = self.columns if self.names else ()
        return certify(self.method, losses.name(self.loss), self._state, self._tally, columns, self._limit or math.inf)

    def expert_losses(self) -> dict[str, float]:
        """The mean loss of each expert, ŷ standing in for it where it was asleep."""
        paid = np.roll(self._tally.paid, -len(self.outside)) / max(self._tally.totals[stream.ROUNDS], 1.0)
        return dict(zip(self.columns, paid.tolist()))

    @property
    def average_loss(self) -> float:
        """The mean loss of the plain average of the experts awake."""
        totals = self._tally.totals
        return float(totals[stream.AVERAGE] / totals[stream.ROUNDS]) if totals[stream.ROUNDS] else math.nan

    def state_dict(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """A header for JSON and a dictionary of arrays; `from_state` resumes from them bit for bit."""
        if isinstance(self.loss, losses.Custom):
            raise BadInput("loss", "custom", "Python functions cannot be saved; use a named loss")
        header = {
            "kind": "experts",
            "version": 1,
            "loss": losses.name(self.loss),
            "options": self.loss._asdict(),
            "method": self.method,
            "bound": self.bound,
            "lipschitz": self.lipschitz,
            "rate": self.rate,
            "linear": self.linear,
            "shares": list(self.shares),
            "rates": self.rates,
            "outside": list(self.outside),
            "names": list(self.names),
        }
        arrays = {
            f"{part}.{name}": array.copy()
            for part, record in (("state", self._state), ("tally", self._tally))
            for name, array in record._asdict().items()
            if isinstance(array, np.ndarray)
        }
        return header, arrays

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Experts:
        """The learner that `state_dict` described."""
        check_header(header, schema.HEADER)
        settings = {key: header[key] for key in ("method", "bound", "lipschitz", "rate", "linear", "rates")}
        settings |= {"shares": tuple(header["shares"]), **header["options"]}
        empty = cls(header["loss"], outside=(), **settings)  # no expert, no memory: the arrays are checked against it
        schema.check_state(header, arrays, empty._state, empty._tally)
        self = cls(header["loss"], outside=tuple(header["outside"]), **settings)
        names = tuple(header["names"])
        state, tally = self._with(names)
        for part, record in (("state", state), ("tally", tally)):
            for name, array in record._asdict().items():
                if isinstance(array, np.ndarray):
                    array[...] = arrays[f"{part}.{name}"]
        self._state, self._tally, self.names = state, tally, names
        return self
