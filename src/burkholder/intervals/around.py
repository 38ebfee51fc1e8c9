"""The point forecast an interval is put around: our own, a column of the row, or anybody's model."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from burkholder.auto import Auto
from burkholder.errors import BadInput
from burkholder.experts.models import _adapted, asked, told
from burkholder.intervals.conditional import Rows, each

LARGEST = 1e60  # of labels and forecasts


def checked(value: Any, argument: str) -> float:
    """A forecast or a label as a number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= LARGEST:
        raise BadInput(argument, value, f"give finite numbers of size at most {LARGEST:g}")
    return number


class Own:
    """An `Auto` on the features and the last label."""

    saved, asks = "own", False  # how it is saved, and whether it must see rows as the user gave them

    def __init__(self) -> None:
        self.auto = Auto("absolute")

    def ask(self, x: Any, row: Rows, last: float) -> float:
        return self.auto._play(row.behind(np.array([[last]])).only())[0]

    def predict(self, xs: Any, rows: Rows, last: float) -> np.ndarray:
        return self.auto.predict_batch(*rows.behind(np.full((len(rows.indptr) - 1, 1), last)))

    def check_round(self, row: Rows, last: float, y: float, weight: float) -> None:
        self.auto.check_round(row.behind(np.array([[last]])).only(), y, weight)

    def learn(self, x: Any, row: Rows, last: float, shown: float, y: float, weight: float, late: int) -> None:
        self.auto._learn(row.behind(np.array([[last]])).only(), shown, y, weight, late)

    def run(self, xs: Any, rows: Rows, last: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return self.auto.run_batch(*rows.behind(last[:, None]), y, weight)

    def undo(self) -> Callable[[], None]:
        return self.auto._undo()


class Column:
    """The row says it itself: the feature of this name, or at this place of a vector or a sparse row."""

    def __init__(self, name: Any) -> None:
        self.name = name
        self.saved = [name]
        self.asks = not isinstance(name, int)

    def ask(self, x: Any, row: Rows, last: float) -> float:
        if isinstance(self.name, int):
            found = row.values[row.indices == self.name]
        else:
            found = [x[self.name]] if isinstance(x, Mapping) and self.name in x else []
        if len(found) != 1:
            raise BadInput("x", x, f"every row needs the point forecast {self.name!r}")
        return checked(found[0], f"x[{self.name!r}]")

    def check_round(self, row: Rows, last: float, y: float, weight: float) -> None:
        pass

    def learn(self, x: Any, row: Rows, last: float, shown: float, y: float, weight: float, late: int) -> None:
        pass

    def predict(self, xs: Any, rows: Rows, last: float) -> np.ndarray:
        if not self.asks:
            found = np.flatnonzero(rows.indices == self.name)
            out = rows.values[found]
            if np.array_equal(np.searchsorted(found, rows.indptr), np.arange(len(rows.indptr))) and (np.abs(out) <= LARGEST).all():
                return out
        out = np.empty(len(rows.indptr) - 1)
        for t, row in enumerate(each(rows)):
            try:
                out[t] = self.ask(xs[t] if xs else None, row, 0.0)
            except BadInput as error:
                raise BadInput(f"X[{t}]", error.value, error.remedy) from None
        return out

    def run(self, xs: Any, rows: Rows, last: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return self.predict(xs, rows, 0.0)

    def undo(self) -> Callable[[], None]:
        return lambda: None


class _Fixed:
    """predict(X) of a fitted model that cannot learn one row at a time."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def forecast(self, x: Any) -> Any:
        return self.model.predict(asked(self.model, x))

    def learn(self, x: Any, y: float) -> None:
        pass


class Model:
    """Anything with predict: ours, scikit-learn's, river's, or a function. It learns each row once, where it can and may.

    Where it has no answer (None, NaN, not fitted yet) the last label stands in.
    """

    saved, asks = None, True

    def __init__(self, model: Any, learns: bool = True) -> None:
        fixed = hasattr(model, "predict") and not any(hasattr(model, how) for how in ("update", "partial_fit", "learn_one"))
        self.inner = _Fixed(model) if fixed else _adapted(model, False)
        self.learns = learns

    def ask(self, x: Any, row: Rows, last: float) -> float:
        answer = told(self.inner.forecast(x))
        return last if answer is None else checked(answer, "model")

    def predict(self, xs: Any, rows: Rows, last: float) -> np.ndarray:
        return np.array([self.ask(x, row, last) for x, row in zip(xs, each(rows))], dtype=float)

    def check_round(self, row: Rows, last: float, y: float, weight: float) -> None:
        pass  # it is asked first, and may fail as it likes

    def learn(self, x: Any, row: Rows, last: float, shown: float, y: float, weight: float, late: int) -> None:
        if self.learns and weight > 0.0:
            self.inner.learn(x, y)

    def run(self, xs: Any, rows: Rows, last: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        out = np.empty(len(xs))
        for t, (x, row) in enumerate(zip(xs, each(rows))):
            out[t] = self.ask(x, row, float(last[t]))
            self.learn(x, row, 0.0, out[t], float(y[t]), float(weight[t]), 0)
        return out

    def undo(self) -> Callable[[], None]:
        kept = copy.deepcopy(self.inner)

        def back() -> None:
            self.inner = kept

        return back


def around(model: Any, learns: bool = True) -> Any:
    """What `model` stands for."""
    if model is None:
        return Own()
    if isinstance(model, (str, int, np.integer)) and not isinstance(model, bool):
        if not isinstance(model, str) and model < 0:
            raise BadInput("model", model, "places of features are counted from 0")
        return Column(model if isinstance(model, str) else int(model))
    return Model(model, learns)
