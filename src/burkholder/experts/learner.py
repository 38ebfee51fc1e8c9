"""Experts: many forecasts in, one out, never far behind the best mixture of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.experts import beside, methods, options, rows, schema, stream
from burkholder.experts.certificate import ExpertsCertificate, certify
from burkholder.experts.dispatch import Rule, grown
from burkholder.experts.stream import LOOPS
from burkholder.learning.protocol import OnlineLearner, State, Stretch
from burkholder.learning.runs import Run
from burkholder.learning.schema import check_header
from burkholder.learning.tickets import MAX_PENDING, Played
from burkholder.learning.weights import checked_weight, checked_weights

OUTSIDE = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
NONE = np.empty(0)
UNSEEN = stream.Seen(0.0, 0.0, False)
FULL = "the loss, its slope or the weight of this round is too large, or not a number"


class Parts(NamedTuple):
    """Everything that changes: the rule's state, what was paid, and what the experts beside the user's have learned."""

    state: Any
    tally: stream.Tally
    beside: beside.Beside


class Experts(OnlineLearner):
    """Aggregate forecasts, round by round or whole arrays at once.

    Nothing needs tuning with the default method, "huber-root": it adapts to the scale of forecasts and
    losses, tracks the best expert as it changes, and carries a bound. The others are well-known rules to
    compare with. A forecast that is missing, None or NaN means that the expert is asleep; experts may
    appear at any time.

    loss, quantile=…   a name or record of `burkholder.losses`, with its options
    method, rate=…     a name of METHODS or a `Rule`, with its options:
                       huber-root: shares, rates (its grid of tracking shares, the number of its rates);
                       squint: rates; ewa: rate (needed), linear; ml-poly, boa: linear.
                       linear=False learns from losses (against single experts) instead of slopes δ(ŷ−x_j)
    bound              targets lie in [-bound, bound]: ŷ is kept there, at no cost
    lipschitz          a bound on the loss's slope, when the loss itself has none (squared)
    outside            extra experts x̄ + c·(running MAE); by default for the pinball loss, whose target
                       may lie beyond every forecast
    lanes              extra experts made from the others: their mean debiased at three speeds, and three affine corrections; forecasts
                       that no label seen so far explains are cut. On by default with "huber-root", except for classes and pinball

    quantiles          levels, as (0.1, 0.5, 0.9): a pinball mixture for each, never crossing (see `QuantileExperts`); a forecast is then
                       a number, or one number a level

    >>> experts = Experts(loss="pinball", quantile=0.9)
    >>> for y in (3.0, 2.5, 3.5, 2.0):
    ...     p = experts.predict({"gfs": 3.1, "ecmwf": 2.8})
    ...     experts.update({"gfs": 3.1, "ecmwf": 2.8}, y)
    >>> experts.certificate().rounds
    4
    >>> sorted(experts.weights())[:2]
    ['ecmwf', 'gfs']
    """

    def __new__(cls, *given: Any, quantiles: Any = None, **more: Any) -> Any:
        if quantiles is None:
            return super().__new__(cls)
        from burkholder.experts.quantiles import QuantileExperts

        return QuantileExperts(quantiles, *given, **more)

    def __init__(
        self,
        loss: Any = "absolute",
        *,
        method: str | Rule = "huber-root",
        bound: float | None = None,
        lipschitz: float | None = None,
        outside: tuple[float, ...] | None = None,
        lanes: bool | None = None,
        quantiles: None = None,
        max_pending: int = MAX_PENDING,
        **more: Any,
    ) -> None:
        super().__init__(max_pending)
        rule = methods.get(method)
        known = getattr(losses.LOSSES.get(loss) if isinstance(loss, str) else None, "_fields", ())
        self.loss = losses.get(loss, **{name: value for name, value in more.items() if name in known})
        self.settings = options.settings(rule, {name: value for name, value in more.items() if name not in known})
        self.method = rule.name
        self.bound = None if bound is None else options.positive("bound", bound)
        self.lipschitz = None if lipschitz is None else options.positive("lipschitz", lipschitz)
        slope = self.lipschitz or float(self.loss.lipschitz(math.inf if bound is None else bound))
        limit = slope if math.isfinite(slope) else 0.0  # 0: unknown
        if outside is None:
            outside = OUTSIDE if self.loss.beyond else ()
        self.outside = tuple(float(c) for c in outside)
        if not all(math.isfinite(c) for c in self.outside):
            raise BadInput("outside", outside, "give finite multiples of the running error")
        # clipping ŷ is free only where the loss has its minimiser inside
        clip = self.bound if self.bound is not None and losses.has_minimiser(self.loss) else math.inf
        self._limits = (clip, limit or math.inf)
        if lanes is None:
            lanes = rule.name == methods.DEFAULT and losses.has_minimiser(self.loss) and not self.loss.beyond
        self.lanes = options.truth("lanes", lanes)
        self.names: tuple[str, ...] = ()
        self._beside = beside.start(self.outside, self.lanes, 1.0 if limit else 2.0)  # squared errors follow means: cut later
        self._tally = stream.start(self._first, self.loss.curvature(math.inf) > 0.0)
        self._state = rule.start(self._first, limit, **self.settings)

    # --- the rounds ------------------------------------------------------------------------------------------
    @property
    def _first(self) -> int:
        """The place of the user's first expert among the columns."""
        return beside.width(self._beside)

    @property
    def _parts(self) -> Parts:
        return Parts(self._state, self._tally, self._beside)

    def _with(self, names: tuple[str, ...]) -> Parts:
        """State, tally and what stands beside, with room for all these names; the learner's own when it knows them."""
        fresh = len(names) - len(self.names)
        if not fresh:
            return self._parts
        columns = self._first + len(names)
        state, tally = grown(self._state, columns), stream.grown_with(self._tally, columns)
        more = grown(self._beside, beside.FIXED + min(len(names), beside.WIDE)) if self.lanes else self._beside
        return Parts(state, tally, more)

    def _become(self, parts: Parts, names: tuple[str, ...]) -> None:
        self._state, self._tally, self._beside = parts
        self.names = names

    def _read(self, x: Any) -> rows.Row:
        return rows.row(x, self.names)

    def _play(self, row: rows.Row) -> tuple[float, tuple[np.ndarray, float]]:
        parts, wide = self._with(row.names), np.empty(self._first + row.values.size)
        if self.loss.compiled:
            yhat = LOOPS.meet(*parts, self.loss, self._limits, row.values, wide, UNSEEN).yhat
            return yhat, (wide, yhat)
        answers = np.empty(1)
        LOOPS.answer(*parts, self._limits[0], row.values[None, :], wide[None, :], answers, 1)
        yhat = float(answers[0])
        return yhat, (wide, yhat)

    def _learn(self, row: rows.Row, memo: tuple[np.ndarray, float], y: Any, weight: float, late: int) -> None:
        target = rows.target(self.loss, y, math.inf if self.bound is None else self.bound)
        everyone = row.names
        if len(row.names) < len(self.names) or row.names[: len(self.names)] != self.names:  # others were met since it was played
            everyone = (*self.names, *(name for name in row.names if name not in self.names))
        full = rows.placed(memo[0], row.names, everyone, self._first)
        parts = self._with(everyone)
        if not self._settle(parts, stream.Round(full, memo[1], target, weight, late)):
            raise BadInput("y", y, f"{FULL} (ŷ = {memo[1]:g}, weight {weight:g})")
        self._become(parts, everyone)

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """One round: predict, see y, learn."""
        if not self.loss.compiled:
            return super().update(x, y, weight)
        with self._lock:  # as the general way does it, in one call
            row, counted = self._read(x), checked_weight(weight)
            target = rows.target(self.loss, y, math.inf if self.bound is None else self.bound)
            parts = self._with(row.names)
            met = LOOPS.meet(*parts, self.loss, self._limits, row.values, NONE, stream.Seen(target, counted, True))
            if not met.learned:
                raise BadInput("y", y, f"{FULL} (ŷ = {met.yhat:g}, weight {counted:g})")
            self._become(parts, row.names)

    def _settle(self, parts: Parts, round: stream.Round) -> bool:
        limit = self._limits[1]
        if self.loss.compiled:
            return LOOPS.settle(*parts, self.loss, limit, round)
        cost = stream.costs(self.loss, self._first, round.x, round.yhat, round.y)  # Python functions: they may fail
        if not stream.fits(round, cost):
            return False
        LOOPS.learn(*parts, limit, round, cost)
        return True

    # --- many rows -------------------------------------------------------------------------------------------
    def _table(self, X: Any) -> rows.Table:
        return rows.table(X, self.names)

    def _targets(self, y: Any, rows_: int) -> np.ndarray:
        return rows.targets(self.loss, y, math.inf if self.bound is None else self.bound, rows_)

    def run(self, X: Any, y: Any, weight: Any = None, *, together: Any = None, trace: int = 100, weights: bool = True) -> Run:
        """Whole arrays (rounds × experts), compiled; the same bits as predict and update in a loop.

        X may be an array, a mapping from expert to column, a data frame or a list of rows; NaN means asleep. All of it is
        learned, or nothing when an input is bad. The run's `details` hold `forecasts` and `lanes` (as they were played), `targets`
        and, unless `weights` is False, the experts' `weights` in every round, over the names of its certificate.

        `together` says which rows are revealed together: a whole number (blocks of so many), or one label a row (a block is a
        stretch of equal labels, say the hours of a date). All of a block is predicted before any of it is learned. Huber-root counts a
        block as one round, and what is promised is promised of blocks; other rules learn its rows one by one, as late ones.

        >>> run = Experts().run([[1.0, 2.0], [1.0, 2.0], [3.0, 2.0]], [1.0, 1.0, 3.0], together=["mon", "mon", "tue"])
        >>> float(run.predictions[0]) == float(run.predictions[1])
        True
        """
        with self._lock:
            table = self._table(X)
            table = table._replace(keep=bool(weights), first=rows.blocks(together, table.rows))
            return self._recorded(table, self._targets(y, table.rows), checked_weights(weight, table.rows), trace)

    def _run(self, table: rows.Table, targets: np.ndarray, weights: np.ndarray | None) -> Stretch:
        self._become(self._with(table.names), table.names)
        n, width = table.rows, self._first + len(self.names)
        kept = stream.Kept(np.empty(n), np.empty(n), np.empty((n, width)), np.empty((n if table.keep else 0, width)))
        given = stream.Given(table.values, targets, NONE if weights is None else weights, table.first)
        bad = (self._sweep if self.loss.compiled else self._swept)(given, kept)
        if bad >= 0:
            raise BadInput(f"y[{bad}]", float(targets[bad]), FULL)
        details = {
            "forecasts": kept.wide[:, self._first :],
            "lanes": kept.wide[:, : self._first],
            "targets": targets,
            **({"weights": kept.used} if table.keep else {}),
        }
        return Stretch(kept.predictions, kept.losses, details)

    def _sweep(self, given: stream.Given, kept: stream.Kept) -> int:
        return LOOPS.sweep(*self._parts, self.loss, self._limits, given, kept)

    def _swept(self, given: stream.Given, kept: stream.Kept) -> int:
        """The same for a loss of Python functions."""
        start = 0
        while start < given.y.size:
            stop = stream.block_end(given.first, start, given.y.size)
            part, wide, predictions = slice(start, stop), kept.wide[start:stop], kept.predictions[start:stop]
            LOOPS.answer(*self._parts, self._limits[0], given.forecasts[part], wide, predictions, stop - start)
            for t in range(start, min(stop, len(kept.used))):
                kept.used[t] = LOOPS.pulls(self._state, self._beside, given.forecasts[t])
            block = stream.block_of(wide, predictions, given.y[part], given.weight[part], self._first)
            for t in range(start, stop):
                cost = stream.costs(self.loss, self._first, wide[t - start], float(predictions[t - start]), float(given.y[t]))
                kept.losses[t] = cost.own
                if not stream.cost_of(block, t - start, cost):
                    return t
            LOOPS.absorb(*self._parts, self._limits[1], block)
            start = stop
        return -1

    def _predict_many(self, table: rows.Table) -> np.ndarray:
        answers = np.empty(table.rows)
        LOOPS.answer(*self._with(table.names), self._limits[0], table.values, np.empty((0, 0)), answers, 1)
        return answers

    def _undo(self) -> Callable[[], None]:
        kept, names = Parts(*map(_copied, self._parts)), self.names

        def back() -> None:
            self._become(kept, names)

        return back

    def admit(self, names: tuple[str, ...]) -> None:
        """Know these experts already; they sleep until they first say something."""
        with self._lock:
            everyone = (*self.names, *(name for name in dict.fromkeys(names) if name not in self.names))
            self._become(self._with(everyone), everyone)

    # --- what it knows -----------------------------------------------------------------------------------------
    @property
    def columns(self) -> tuple[str, ...]:
        """The user's experts, then those beside them."""
        return (*self.names, *(f"mean{c:+g}·mae" for c in self.outside), *(beside.LANES if self.lanes else ()))

    @property
    def rounds(self) -> int:
        return int(self._tally.totals[stream.ROUNDS])

    @property
    def cumulative_loss(self) -> float:
        return float(self._tally.totals[stream.LOSS] + self._tally.totals[stream.LOSS_CARRY])

    def weights(self, x: Any = None) -> dict[str, float]:
        """The weight of each expert now, with all of them awake, or with those awake in x."""
        with self._lock:
            row = rows.row(np.zeros(len(self.names)) if x is None else x, self.names)
            state, _, more = self._with(row.names)
            pulls = LOOPS.pulls(state, more, row.values)
            return dict(zip((*row.names, *self.columns[len(self.names) :]), pulls.tolist()))

    def certificate(self) -> ExpertsCertificate:
        """What holds now: bounds for any mixture, the realised regret, what was assumed and seen."""
        with self._lock:
            columns = self.columns if self.names else ()
            return certify(self._parts, self.loss, columns, self._limits[1])

    def expert_losses(self) -> dict[str, float]:
        """The mean loss of each expert, ŷ standing in for it where it was asleep."""
        totals, paid = self._tally.totals, self._tally.paid
        weight = totals[stream.WEIGHT] + totals[stream.WEIGHT_CARRY]
        means = np.roll(paid[stream.SUM] + paid[stream.CARRY], -self._first) / (weight or math.nan)
        return dict(zip(self.columns, means.tolist()))

    @property
    def average_loss(self) -> float:
        """The mean loss of the plain average of the experts awake."""
        totals = self._tally.totals
        weight = totals[stream.WEIGHT] + totals[stream.WEIGHT_CARRY]
        return float(totals[stream.AVERAGE] / weight) if weight else math.nan

    def plot_weights(self, path: str | None = None) -> Any:
        """The weights now, as bars; over a whole run, `burkholder.experts.run.plot_weights(run)` draws them over time."""
        from burkholder.learning.runs import importance_figure

        figure = importance_figure(self.weights(), len(self.columns), "weight")
        if path is not None:
            figure.savefig(path, dpi=130)
        return figure

    # --- saving --------------------------------------------------------------------------------------------------
    def state_dict(self) -> State:
        """A header for JSON and a dictionary of arrays; `from_state` resumes from them bit for bit."""
        if not self.loss.compiled:
            raise BadInput("loss", "custom", "Python functions cannot be saved; use a named loss")
        with self._lock:
            header = {
                "kind": "experts",
                "version": schema.VERSION,
                "loss": losses.name(self.loss),
                "options": self.loss._asdict(),
                "method": self.method,
                "settings": {key: list(value) if isinstance(value, tuple) else value for key, value in self.settings.items()},
                "bound": self.bound,
                "lipschitz": self.lipschitz,
                "outside": list(self.outside),
                "lanes": self.lanes,
                "names": list(self.names),
                "max_pending": self.max_pending,
                "tickets": self._tickets.issued,
                "pending": [[id, play.round, play.memo[1], list(play.row.names)] for id, play in self._tickets.waiting.items()],
            }
            named = self._parts._asdict().items()
            arrays = {f"{part}.{name}": array.copy() for part, record in named for name, array in _arrays(record).items()}
            return header, arrays | {f"pending.{id}": play.memo[0].copy() for id, play in self._tickets.waiting.items()}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Experts:
        """The learner that `state_dict` described."""
        check_header(header, schema.HEADER)
        given = {key: header[key] for key in ("method", "bound", "lipschitz", "max_pending")} | header["settings"] | header["options"]
        self = cls(header["loss"], outside=tuple(header["outside"]), lanes=header["lanes"], **given)
        schema.check_state(header, arrays, self._parts)  # no expert, no memory: the arrays are checked against it
        names, first = tuple(header["names"]), self._first
        parts = self._with(names)
        for part, record in parts._asdict().items():
            for name, array in _arrays(record).items():
                array[...] = arrays[f"{part}.{name}"]
        self._become(parts, names)
        self._tickets.issued = header["tickets"]
        for id, when, yhat, named in header["pending"]:
            wide = np.array(arrays[f"pending.{id}"])
            self._tickets.waiting[id] = Played(rows.Row(wide[first:].copy(), tuple(named)), (wide, float(yhat)), when)
        return self


def _arrays(record: Any) -> dict[str, np.ndarray]:
    return {name: array for name, array in record._asdict().items() if isinstance(array, np.ndarray)}


def _copied(record: Any) -> Any:
    return record._replace(**{name: array.copy() for name, array in _arrays(record).items()})
