"""Every task of the first hour does what it says, with the files a newcomer has."""

from __future__ import annotations

import json
import re
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import burkholder as bk
from burkholder.cli.app import app

sys.path.insert(0, str(Path(__file__).parent))
from tasks import TASKS, Done, Task, page

ROOT = Path(__file__).parents[2]


def _put(path: Path, head: str, rows: list[tuple[Any, ...]], mark: str = ",") -> None:
    path.write_text("\n".join([head, *(mark.join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, and a model."""
    pandas, feather = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.feather")
    folder, rng = tmp_path_factory.mktemp("hour"), np.random.default_rng(0)
    when = [datetime(2024, 1, 1) + timedelta(hours=t) for t in range(300)]
    temp, town = rng.standard_normal(300).round(3), rng.choice(["Rome", "Oslo", ""], 300)
    load = (5.0 + temp + np.array([t.hour > 7 for t in when])).round(3)
    stamps = [f"{t:%Y-%m-%d %H:%M}" for t in when]
    gaps = ["" if k % 15 == 14 else value for k, value in enumerate(load)]
    _put(folder / "load.csv", "when,temp,load", list(zip(stamps, temp, gaps)))
    frame = pandas.DataFrame({"when": when, "temp": temp, "town": town, "load": load})
    feather.write_feather(
        frame.assign(load=[None if gap == "" else gap for gap in gaps])[["when", "temp", "load"]], folder / "load.feather"
    )
    frame.to_pickle(folder / "frame.pkl")
    (folder / "events.jsonl").write_text("\n".join(json.dumps({"when": s, "temp": t, "load": y}) for s, t, y in zip(stamps, temp, load)))
    churned = np.where(temp + 0.5 * rng.standard_normal(300) > 0.8, "yes", "no")
    _put(
        folder / "churn.csv", "temp,town,churned", [("" if k % 9 == 0 else t, c, y) for k, (t, c, y) in enumerate(zip(temp, town, churned))]
    )
    _put(folder / "new.csv", "temp,town", [(0.5, "Rome"), ("", "Paris"), (-2, "")])
    kind = np.where(temp > 0.4, "iris", np.where(temp < -0.4, "rose", "tulip"))
    _put(folder / "flowers.csv", "temp,kind", list(zip(temp, kind)))
    _put(folder / "digits.csv", "temp,digit", list(zip(temp, np.where(temp > 0.4, 2, np.where(temp < -0.4, 1, 0)))))
    _put(
        folder / "german.csv", "grad;preis", [(f"{a:.2f}".replace(".", ","), f"{b:.2f}".replace(".", ",")) for a, b in zip(temp, load)], ";"
    )
    advice = [(20240101 + k // 24, k % 24, load[k], load[k] + 1.0, load[k] - 0.5) for k in range(96)]
    _put(folder / "prices.csv", "date,hour,price,a,b", advice)
    _put(folder / "tomorrow.csv", "date,hour,price,a,b", [*advice, (20240105, 0, "", 5.0, 6.0), (20240105, 1, "", 5.5, 6.5)])
    films = [("ann", "f0", 5, 1), ("ann", "f1", 4, 2), ("bob", "f0", 2, 3), ("bob", "f2", 5, 4), ("cid", "f3", 1, 5), ("cid", "f1", 3, 6)]
    _put(folder / "ratings.csv", "user,item,rating,time", films)
    _put(folder / "audit.csv", "temp,model,load", list(zip(temp, load + 0.3, load)))
    ran = CliRunner().invoke(
        app, ["learn", str(folder / "churn.csv"), "--target", "churned", "--save", str(folder / "model.bk"), "--quiet"]
    )
    assert ran.exit_code == 0, ran.output
    return folder


@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_task(task: Task, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(home, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    if task.python:
        import pandas

        frame = pandas.read_pickle("frame.pkl")
        holes = np.where(np.arange(300)[:, None] % 7 == 3, np.nan, frame[["temp"]].to_numpy())
        names = {"bk": bk, "frame": frame, "holes": holes, "load": frame["load"].to_numpy()}
        exec(compile(task.how, task.name, "exec"), names)
        assert task.true(Done("", "", names))
        return
    ran = CliRunner().invoke(app, task.how.split()[1:])
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    assert ran.exit_code == 0 and task.true(Done(ran.stdout, ran.output, {})), ran.output


def test_there_are_thirty_and_the_page_lists_them() -> None:
    assert len(TASKS) == len({task.name for task in TASKS}) == 30
    assert (ROOT / "docs" / "first-hour.md").read_text(encoding="utf-8") == page()


def test_every_test_that_the_page_names_exists() -> None:
    """Read off the table as it stands, asked of the tests as pytest collects them."""
    rows = re.findall(r"^\| .* \| `(\w+)\[(.+)\]` \|$", (ROOT / "docs" / "first-hour.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == len(set(rows)) == 30
    for function, case in rows:
        marks = [mark for mark in globals()[function].pytestmark if mark.name == "parametrize"]
        assert len(marks) == 1 and marks[0].kwargs["ids"].count(case) == 1, case
