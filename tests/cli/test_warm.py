"""`burkholder warm` compiles ahead: afterwards nobody waits, and a place where nothing can be kept is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from burkholder import losses
from burkholder.cli.warming import steps

COMPILING = "compiling for this machine, once"
COMMAND = "from burkholder.cli import main; main()"
USED = """
import numpy as np
from scipy import sparse
import burkholder as bk
from burkholder.machine.announcing import announce_compiling

announce_compiling()
X, y = np.arange(12.0).reshape(4, 3), [1, 0, 1, 0]
rows = [{"age": 31, "job": "clerk"}, {"age": None}, {"job": "none", "pay": 2.5}, {}]
for table in (X, sparse.csr_matrix(X), rows, X.tolist()):
    run = bk.Auto().run(table, y)
    run.learner.predict_many(table), run.certificate.realised(radius=2.0)
learner = bk.Auto()
for x, label in zip(rows, y):
    learner.predict(x), learner.update(x, label)
learner.reveal(learner.play(rows[0]).id, 1)
print(learner.rounds)
"""


def process(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(part for part in sys.path if part)
    environment = {**os.environ, "PYTHONPATH": path, "BURKHOLDER_CACHE_DIR": str(folder)}
    return subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, check=False)


def test_what_is_warm_is_not_compiled_again(tmp_path):
    first = process(COMMAND, tmp_path, "warm", "--quick", "--json")
    assert first.returncode == 0, first.stderr
    said = json.loads(first.stdout.splitlines()[-1])
    assert said["compiled"] == said["loops"] == len(list(Path(said["folder"]).iterdir())) > 5
    assert first.stderr.splitlines()[0] == COMPILING and "auto, logistic loss" in first.stderr
    again = process(COMMAND, tmp_path, "warm", "--quick")
    assert again.returncode == 0 and COMPILING not in again.stderr and "0 of them compiled now" in again.stdout
    learned = process(COMMAND, tmp_path, "learn", "--json")
    assert learned.returncode == 0 and COMPILING not in learned.stderr
    used = process(USED, tmp_path)
    assert (used.returncode, used.stdout, used.stderr) == (0, "5\n", "")


def test_a_place_that_keeps_nothing_is_told(tmp_path):
    (tmp_path / "file").write_text("no folder")
    done = process(COMMAND, tmp_path / "file", "warm", "--quick")
    assert done.returncode == 1 and done.stderr.startswith("Error: BURKHOLDER_CACHE_DIR")


@pytest.mark.parametrize("loss", losses.LOSSES)
def test_everything_is_on_the_list(loss):
    names = [name for name, _ in steps(quick=False)]
    assert {f"{what}, {loss} loss" for what in ("auto", "adagrad", "square-function", "experts")} <= set(names)
    assert {"files", "classes", "completion"} <= set(names) and len(names) == len({*names}) + 1  # auto's default comes first
