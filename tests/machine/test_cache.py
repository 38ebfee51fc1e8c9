"""Compiled code on disk: found again, rebuilt when damaged, never stale."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import burkholder
from burkholder.machine import cache

COMPILING = "compiling for this machine, once\n"
SCRIPT = """
from burkholder import losses
from burkholder.losses.batch import values
from burkholder.machine.announcing import announce_compiling
announce_compiling()
print(values(losses.get("absolute"), [1.0, 2.0], [0.0, 5.0]).tolist())
"""
RIGHT = "[1.0, 3.0]\n"


def run(script: str, folder: Path, *, path: Path | None = None, **variables: str) -> tuple[str, str]:
    """(standard output, standard error) of a process of its own."""
    home = Path(burkholder.__file__).parent.parent
    where = os.pathsep.join(str(part) for part in (home, path) if part is not None)
    environment = {**os.environ, "PYTHONPATH": where, "BURKHOLDER_CACHE_DIR": str(folder), **variables}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def warm(tmp_path: Path) -> Path:
    assert run(SCRIPT, tmp_path) == (RIGHT, COMPILING)
    assert len(kept(tmp_path)) == 1
    return tmp_path


def test_the_next_process_compiles_nothing_and_says_nothing(warm):
    assert run(SCRIPT, warm) == (RIGHT, "")


def _emptied(file: Path) -> None:
    file.write_bytes(b"")


def _truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _overwritten(file: Path) -> None:
    data = bytearray(file.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(64)
    file.write_bytes(bytes(data))


def _of_another_version(file: Path) -> None:
    content = pickle.dumps(("0.1", {"index": "of another version"}))
    file.write_bytes(hashlib.sha256(content).digest() + content)


def _calling_what_is_gone(file: Path) -> None:
    content = b"cburkholder.machine.gone\nnothing\n."
    file.write_bytes(hashlib.sha256(content).digest() + content)


def _a_folder_in_its_place(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize(
    "damage", [_emptied, _truncated, _overwritten, _of_another_version, _calling_what_is_gone], ids=lambda d: d.__name__
)
def test_what_is_damaged_is_compiled_anew(warm, damage):
    [file] = kept(warm)
    damage(file)
    assert run(SCRIPT, warm) == (RIGHT, COMPILING)
    assert run(SCRIPT, warm) == (RIGHT, "")


def test_what_cannot_be_replaced_is_compiled_every_time(warm):
    _a_folder_in_its_place(kept(warm)[0])
    assert run(SCRIPT, warm) == (RIGHT, COMPILING)
    assert run(SCRIPT, warm) == (RIGHT, COMPILING)
    assert kept(warm) == []  # no drafts are left lying about


@pytest.mark.parametrize("place", ["a file", "nowhere", "no right to write"])
def test_without_a_folder_everything_runs(tmp_path, place):
    folder = tmp_path / "cache"
    if place == "a file":
        folder.write_text("in the way")
    elif place == "nowhere":
        folder = Path("/proc/nowhere")
    else:
        folder.mkdir(mode=0o500)
    out, said = run(SCRIPT, folder)
    assert out == RIGHT and said == COMPILING


def test_the_folder_is_that_of_the_sources_content_not_of_their_times(tmp_path):
    source = Path(cache.__file__).parent
    copy = shutil.copytree(source, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    later = time.time() + 1000.0
    for file in copy.glob("*.py"):
        os.utime(file, (later, later))
    assert cache.fingerprint(copy) == cache.fingerprint(source)
    (copy / "cells.py").write_text((copy / "cells.py").read_text() + " ")
    edited = cache.fingerprint(copy)
    assert edited != cache.fingerprint(source)
    (copy / "cells.py").rename(copy / "cells_.py")
    assert cache.fingerprint(copy) != edited


def test_edges_leave_the_folder_as_it_is(tmp_path):
    """Nothing in them is compiled: the import contract of `machine.compiling` names the same packages."""
    for name in (*cache.EDGES, "auto"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.py").write_text("1")
    before = cache.fingerprint(tmp_path)
    for name in cache.EDGES:
        (tmp_path / name / "one.py").write_text("2")
    assert cache.fingerprint(tmp_path) == before
    (tmp_path / "auto" / "one.py").write_text("2")
    assert cache.fingerprint(tmp_path) != before
    contracts = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if "burkholder.machine.compiling" in one.get("forbidden_modules", ()))
    assert set(contract["source_modules"]) == {f"burkholder.{name}" for name in cache.EDGES}


def test_each_processor_and_way_of_compiling_has_a_folder_of_its_own(tmp_path):
    script = "from burkholder.machine.cache import cache_folder; print(cache_folder())"
    ways = [{"BURKHOLDER_PLAIN": "0"}, {"BURKHOLDER_PLAIN": "1"}, {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}]
    assert len({run(script, tmp_path, **{"BURKHOLDER_PLAIN": "0", **way})[0] for way in ways}) == 3


LOSS = """
from typing import NamedTuple
from burkholder.losses.dispatch import formulas

def _value(loss, yhat, y):
    return {factor} * abs(yhat - y)

def _slope(loss, yhat, y):
    return {factor} if yhat > y else -{factor}

@formulas(_value, _slope, "scaled")
class Scaled(NamedTuple):
    pass
"""
USE = "from my_loss import Scaled; from burkholder.losses.batch import values; print(values(Scaled(), [1.0, 2.0], [0.0, 5.0]).tolist())"


def test_a_loss_from_outside_is_never_stale(tmp_path):
    folder = tmp_path / "cache"
    for factor, right in ((2.0, "[2.0, 6.0]\n"), (3.0, "[3.0, 9.0]\n")):
        (tmp_path / "my_loss.py").write_text(LOSS.format(factor=factor))
        assert run(USE, folder, path=tmp_path, PYTHONDONTWRITEBYTECODE="1")[0] == right
    assert kept(folder) == []


def test_the_command_line_says_that_it_compiles(tmp_path):
    begin = "import sys; from burkholder.cli import main; sys.argv = ['burkholder', 'list']\ntry: main()\nexcept SystemExit: pass\n"
    quiet = SCRIPT.replace("announce_compiling()", "")
    assert run(begin + quiet, tmp_path)[1] == COMPILING
    assert run(begin + quiet, tmp_path)[1] == ""


def test_the_library_compiles_in_silence(tmp_path):
    assert run(SCRIPT.replace("announce_compiling()", ""), tmp_path) == (RIGHT, "")
