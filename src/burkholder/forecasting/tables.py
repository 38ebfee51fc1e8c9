"""Forecasts as Nixtla's libraries write them: a row a series and time, a column a model, `cutoff` the last time known to the models."""

from __future__ import annotations

import math
from typing import Any

from burkholder.errors import BadInput, MissingExtra
from burkholder.experts.learner import Experts
from burkholder.suggestions import did_you_mean


class Combiner:
    """One expert aggregation a series: it learns from cross-validated forecasts, and combines those of tomorrow.

    `fit` takes what `cross_validation` returns, pandas or polars, and gives it back with one column more: the combined forecast, made
    with nothing but the labels known at its cutoff, windows that overlap included. `predict` takes what `forecast` returns.

    >>> import pandas as pd
    >>> days = pd.date_range("2026-01-01", periods=40)
    >>> table = pd.DataFrame({"unique_id": "a", "ds": days, "cutoff": days - pd.Timedelta(days=1), "y": 1.0, "good": 1.1, "poor": 3.0})
    >>> combiner = Combiner("absolute")
    >>> combined = combiner.fit(table)
    >>> bool(combined["burkholder"].iloc[-1] < 1.2), combiner.certificate("a").rounds
    (True, 40)
    >>> combiner.predict(table[["unique_id", "ds", "good", "poor"]].tail(1))["burkholder"].notna().all().item()
    True
    """

    def __init__(
        self,
        loss: Any = "absolute",
        *,
        models: Any = None,
        id_col: str = "unique_id",
        time_col: str = "ds",
        target_col: str = "y",
        cutoff_col: str = "cutoff",
        name: str = "burkholder",
        **options: Any,
    ) -> None:
        self.loss, self.options = loss, options
        self.models = None if models is None else tuple(models)
        self.id_col, self.time_col, self.target_col, self.cutoff_col, self.name = id_col, time_col, target_col, cutoff_col, name
        self.learners: dict[Any, Experts] = {}
        Experts(loss, **options)  # settings that cannot be used are refused here

    def fit(self, table: Any) -> Any:
        """Every window in the order of its cutoff, played before its labels are revealed; the table with the combined column."""
        frame, columns = self._read(table, (self.id_col, self.time_col, self.target_col, self.cutoff_col))
        names = self._models(columns)
        learners = {key: Experts.from_state(*one.state_dict()) for key, one in self.learners.items()}
        answers = [math.nan] * len(columns[self.id_col])
        for key, places in _grouped(columns[self.id_col]).items():
            learner = learners.setdefault(key, Experts(self.loss, **self.options))
            self._windows(learner, names, columns, places, answers)
        self.learners, self.models = learners, names
        return self._with(frame, answers)

    def _windows(self, learner: Experts, names: tuple[str, ...], columns: Any, places: list[int], answers: list[float]) -> None:
        """One series: before each window, what was known at its cutoff is revealed, oldest first."""
        cutoffs, times, labels = columns[self.cutoff_col], columns[self.time_col], columns[self.target_col]
        waiting: list[tuple[Any, int, int]] = []
        for cutoff, window in sorted(_grouped([cutoffs[p] for p in places]).items(), key=lambda item: item[0]):
            waiting = self._revealed(learner, waiting, labels, cutoff)
            for place in sorted((places[k] for k in window), key=lambda p: times[p]):
                ticket = learner.play({name: columns[name][place] for name in names})
                answers[place] = float(ticket.prediction)
                waiting.append((times[place], ticket.id, place))
        self._revealed(learner, waiting, labels, None)

    def _revealed(self, learner: Experts, waiting: list[tuple[Any, int, int]], labels: Any, cutoff: Any) -> list[tuple[Any, int, int]]:
        """Reveal what is known at the cutoff (None: everything); what still waits."""
        known = [one for one in waiting if cutoff is None or one[0] <= cutoff]
        for _, ticket, place in sorted(known, key=lambda one: (one[0], one[1])):
            if labels[place] is None or labels[place] != labels[place]:
                learner.forget(ticket)
                continue
            try:
                learner.reveal(ticket, labels[place])
            except BadInput as error:
                raise BadInput(f"{self.target_col}[{place}]", error.value, error.remedy) from None
        return [one for one in waiting if one not in known]

    def predict(self, table: Any) -> Any:
        """Forecasts without labels, combined with what was learned; a series never met gets what a new aggregation says."""
        if self.models is None:
            raise BadInput("table", "before fit", "call fit with cross-validated forecasts first")
        frame, columns = self._read(table, (self.id_col,))
        names = self._models(columns)
        answers = [math.nan] * len(columns[self.id_col])
        for key, places in _grouped(columns[self.id_col]).items():
            learner = self.learners.get(key) or Experts(self.loss, **self.options)
            for place in places:
                answers[place] = float(learner.predict({name: columns[name][place] for name in names}))
        return self._with(frame, answers)

    def certificate(self, key: Any) -> Any:
        """What is guaranteed for one series."""
        if key not in self.learners:
            raise BadInput("key", key, f"{did_you_mean(str(key), map(str, self.learners))}no series of this name was learned")
        return self.learners[key].certificate()

    # --- tables ------------------------------------------------------------------------------------------------
    def _read(self, table: Any, needed: tuple[str, ...]) -> tuple[Any, dict[str, list[Any]]]:
        try:
            import narwhals.stable.v1 as nw
        except ImportError:
            raise MissingExtra("narwhals", "io") from None
        try:
            frame = nw.from_native(table, eager_only=True)
        except TypeError:
            raise BadInput("table", type(table).__name__, "give a pandas or polars frame") from None
        if self.id_col not in frame.columns and hasattr(table, "reset_index"):
            frame = nw.from_native(table.reset_index(), eager_only=True)
        for column in needed:
            if column not in frame.columns:
                raise BadInput(
                    "table", column, f"{did_you_mean(column, frame.columns)}no such column; there are {', '.join(frame.columns)}"
                )
        return frame, {str(name): column.to_list() for name, column in zip(frame.columns, frame.iter_columns())}

    def _models(self, columns: dict[str, list[Any]]) -> tuple[str, ...]:
        if self.models is None:
            taken = {self.id_col, self.time_col, self.target_col, self.cutoff_col, self.name}
            return tuple(name for name in columns if name not in taken)
        for name in self.models:
            if name not in columns:
                raise BadInput("models", name, f"{did_you_mean(name, columns)}no such column in the table")
        return self.models

    def _with(self, frame: Any, answers: list[float]) -> Any:
        import narwhals.stable.v1 as nw

        made = nw.new_series(self.name, answers, nw.Float64, backend=nw.get_native_namespace(frame))
        native = nw.to_native(frame)
        if hasattr(native, "index"):  # pandas: row by row, whatever the index
            return native.assign(**{self.name: answers})
        return nw.to_native(frame.with_columns(made))


def _grouped(keys: list[Any]) -> dict[Any, list[int]]:
    """The places of each key, keys in the order they come."""
    found: dict[Any, list[int]] = {}
    for place, key in enumerate(keys):
        found.setdefault(key, []).append(place)
    return found
