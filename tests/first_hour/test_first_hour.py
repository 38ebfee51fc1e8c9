"""Every task of the first hour does what it says, with the files a newcomer has."""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import burkholder as bk
from burkholder.cli.app import app

sys.path.insert(0, str(Path(__file__).parent))
from tasks import TASKS, Done, Task, page

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files a newcomer asks for, and what the tasks before leave behind."""
    folder = tmp_path_factory.mktemp("hour")
    with contextlib.chdir(folder):
        for line in (
            "examples",
            *(task.how.removeprefix("burkholder ") for task in TASKS if task.want in ("Save a model", "Save expert advice")),
        ):
            ran = CliRunner().invoke(app, line.split())
            assert ran.exit_code == 0, ran.output
    return folder


@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_task(task: Task, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(home, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    if task.python:
        pandas = pytest.importorskip("pandas")
        names = {"bk": bk, "pandas": pandas}
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
