"""What a field is, is the same in dicts, frames, `read` and the scikit-learn and river classes: spans and times of day, categories,
decimals, every kind of missing values; what is no field is refused by all of them."""

from __future__ import annotations

from datetime import time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput
from burkholder.learning import fields

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
ROWS = 24
HOURS = pd.date_range("2024-01-01", periods=ROWS, freq="h")
COLUMNS: dict[str, Any] = {
    "spans": pd.to_timedelta([None if t % 7 == 0 else t for t in range(ROWS)], unit="m"),
    "times": [moment.time() for moment in HOURS],
    "decimals": [None if t % 5 == 0 else Decimal(t) / 7 for t in range(ROWS)],
    "whole": pd.array([None if t % 7 == 0 else t for t in range(ROWS)], dtype="Int64"),
    "truths": pd.array([None if t % 8 == 0 else t % 2 == 0 for t in range(ROWS)], dtype="boolean"),
    "words": pd.array([None if t % 5 == 0 else f"w{t % 3}" for t in range(ROWS)], dtype="string"),
    "categories": pd.Categorical([None if t % 6 == 0 else "xyz"[t % 3] for t in range(ROWS)]),
    "stamps": pd.array(HOURS, dtype=pd.ArrowDtype(pa.timestamp("us"))),
    "zoned": HOURS.tz_localize("Europe/Paris"),
}
REFUSED: dict[str, Any] = {"lists": [[1, 2]] * ROWS, "periods": pd.period_range("2020-01", periods=ROWS, freq="M")}
Y = np.sin(np.arange(ROWS))


def framed(column: Any) -> Any:
    return pd.DataFrame({"size": np.arange(ROWS) / 4, "odd": column})


def losses(X: Any, y: Any = Y) -> list[float]:
    return bk.Learner("adagrad", loss="absolute").run(X, list(y)).losses.tolist()


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_a_frame_is_the_list_of_its_rows(name: str) -> None:
    frame = framed(COLUMNS[name])
    found = losses(frame)
    assert found == losses(frame.to_dict("records"))
    rows = list(bk.read(frame.assign(y=Y), target="y"))
    assert found == losses([x for x, _ in rows], [y for _, y in rows])


@pytest.mark.parametrize("name", sorted({*COLUMNS} - {"times"}))
def test_scikit_learn_and_river_take_them(name: str) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("river")
    from burkholder.river import BurkholderRegressor as Streaming
    from burkholder.sklearn import BurkholderRegressor

    frame = framed(COLUMNS[name])
    model = BurkholderRegressor(learner="adagrad", loss="absolute").fit(frame, Y)
    assert np.isfinite(model.predict(frame)).all()
    one, many = (Streaming(learner="adagrad", loss="absolute") for _ in range(2))
    for row, y in zip(frame.to_dict("records"), Y):
        one.learn_one(row, y)
    many.learn_many(frame, pd.Series(Y))
    assert one.predict_many(frame).tolist() == many.predict_many(frame).tolist()


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_no_field_is_refused_by_all(name: str) -> None:
    frame = framed(REFUSED[name])
    learner = bk.Learner("adagrad", loss="absolute")
    for ways in (
        lambda: learner.run(frame, Y),
        lambda: learner.predict(frame.to_dict("records")[0]),
        lambda: list(bk.read(frame.assign(y=Y), target="y")),
    ):
        with pytest.raises(BadInput, match="odd"):
            ways()
    assert learner.rounds == 0


def test_numbers_that_are_categories_are_words() -> None:
    frame = framed(pd.Categorical([t % 3 for t in range(ROWS)]))
    assert losses(frame) == losses([{**row, "odd": str(row["odd"])} for row in frame.to_dict("records")])
    rows = list(bk.read(frame.assign(y=Y), target="y"))
    assert rows[1][0] == {"size": 0.25, "odd=1": 1.0}


def test_a_span_is_seconds() -> None:
    for span in (timedelta(minutes=2), np.timedelta64(2, "m"), pd.Timedelta("2min")):
        assert fields.features("wait", span, "x") == [("wait", 120.0)]
    assert fields.features("at", time(13, 30), "x") == [("at=13:30:00", 1.0)]
    assert fields.features("wait", np.timedelta64("NaT"), "x") == [("wait?", 1.0)]
