"""One table with gaps in numbers, words and dates: the same predictions by whichever door it comes."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burkholder as bk

ROWS = 60


@pytest.fixture(scope="module")
def rows() -> tuple[list[dict[str, Any]], np.ndarray]:
    rng = np.random.default_rng(0)
    size, town = rng.standard_normal(ROWS).round(3), rng.choice(["Rome", "Oslo"], ROWS)
    when = [datetime(2024, 1, 1) + timedelta(hours=5 * k) for k in range(ROWS)]
    found = [
        {
            "size": None if k % 7 == 3 else float(size[k]),
            "town": None if k % 5 == 2 else str(town[k]),
            "when": None if k % 11 == 4 else when[k],
        }
        for k in range(ROWS)
    ]
    return found, (3.0 + size + (town == "Rome")).round(3)


def fresh() -> bk.Learner:
    return bk.Learner("adagrad", loss="absolute", intercept=True)


def one_by_one(learner: Any, pairs: Any) -> list[float]:
    said = []
    for x, y in pairs:
        said.append(learner.predict(x))
        learner.update(x, y)
    return said


def by_pandas(rows: list[dict[str, Any]], y: np.ndarray, folder: Path) -> Any:
    return fresh().run(pytest.importorskip("pandas").DataFrame(rows), y).predictions


def by_polars(rows: list[dict[str, Any]], y: np.ndarray, folder: Path) -> Any:
    return fresh().run(pytest.importorskip("polars").DataFrame(rows), y).predictions


def by_csv(rows: list[dict[str, Any]], y: np.ndarray, folder: Path) -> Any:
    lines = [",".join("" if value is None else str(value) for value in (*row.values(), label)) for row, label in zip(rows, y)]
    (folder / "t.csv").write_text("\n".join(["size,town,when,y", *lines]) + "\n")
    return one_by_one(fresh(), bk.read(folder / "t.csv", target="y"))


def by_river(rows: list[dict[str, Any]], y: np.ndarray, folder: Path) -> Any:
    pytest.importorskip("river")
    from burkholder.river import BurkholderRegressor

    model, said = BurkholderRegressor("adagrad", loss="absolute"), []
    for row, label in zip(rows, y):
        said.append(model.predict_one(row))
        model.learn_one(row, label)
    return said


def by_run(rows: list[dict[str, Any]], y: np.ndarray, folder: Path) -> Any:
    return fresh().run(rows, y).predictions


@pytest.mark.parametrize("door", [by_run, by_pandas, by_polars, by_csv, by_river], ids=lambda door: door.__name__)
def test_a_gap_means_the_same_by_every_door(rows: Any, door: Any, tmp_path: Path) -> None:
    assert list(door(*rows, tmp_path)) == one_by_one(fresh(), zip(*rows))


def test_a_gap_means_the_same_in_scikit_learn(rows: Any) -> None:
    pytest.importorskip("sklearn")
    from burkholder.sklearn import BurkholderRegressor

    X, y = rows
    frame = pytest.importorskip("pandas").DataFrame(X)
    model, beside = BurkholderRegressor(learner="adagrad", loss="absolute", shuffle=False).fit(frame, y), fresh()
    beside.run(X, y)
    np.testing.assert_allclose(model.predict(frame), beside.predict_many(X), rtol=0.0, atol=1e-14)
