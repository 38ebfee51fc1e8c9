"""What CONTRIBUTING.md promises: a loss is one file, a potential one file plus its line in the catalogue, and they get the rest.

Both are written here, outside the package, and used in a process of their own: being listed is for good. (A rule for
experts: see tests/outside/test_rule.py.)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

LOSS = '''
from typing import NamedTuple

from burkholder.losses.dispatch import formulas


def _value(loss, yhat, y):
    r = yhat - y
    return (loss.level if r < 0.0 else 1.0 - loss.level) * r * r


def _slope(loss, yhat, y):
    r = yhat - y
    return 2.0 * (loss.level if r < 0.0 else 1.0 - loss.level) * r


@formulas(_value, _slope, "expectile", degree=2, smoothness=2.0)
class Expectile(NamedTuple):
    """level·(y−ŷ)₊² + (1−level)·(ŷ−y)₊²; its minimiser is that expectile."""

    level: float = 0.5

    def lipschitz(self, bound):
        return 4.0 * bound * max(self.level, 1.0 - self.level)

    def curvature(self, bound):
        return 2.0 * min(self.level, 1.0 - self.level)
'''

POTENTIAL = '''
from typing import NamedTuple

import numpy as np

from burkholder.functions import CATALOGUE, Entry, Linear
from burkholder.potentials.dispatch import formulas


def _value(p, g, s, top, dead):
    return 0.5 * p.step * (g * g - s)


def _gap(p, high, low, difference, s):
    return 0.25 * p.step * difference * (high + low)


def _slope(p, g, s, top, dead):
    return p.step * g


@formulas(_value, _gap, _slope)
class Descent(NamedTuple):
    """(g² − s)·step/2."""

    step: float = 1.0

    def bound(self, u, s, top=0.0, dead=0.0):
        return np.square(u) / (2.0 * self.step) + 0.5 * self.step * np.asarray(s)

    def magnitude(self, g, s, top=0.0, dead=0.0):
        return 0.5 * self.step * (np.square(g) + s)


CATALOGUE["descent"] = Entry("descent with a step", lambda **options: Linear("descent", Descent(0.25), "l2", "square", **options))
'''


@pytest.fixture
def run(tmp_path):
    (tmp_path / "expectile.py").write_text(LOSS)
    (tmp_path / "descent.py").write_text(POTENTIAL)
    rng = np.random.default_rng(3)
    x = rng.uniform(-1.0, 1.0, (80, 2))
    y = np.clip(x @ [0.5, -0.25] + rng.uniform(-0.3, 0.3, 80), -1.0, 1.0)
    np.savetxt(tmp_path / "data.csv", np.column_stack([x, y]), delimiter=",", header="a,b,y", comments="")

    def ran(code: str, *arguments: str) -> str:
        environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join([str(tmp_path), ENVIRONMENT["PYTHONPATH"]])}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return ran


def command(run, module: str, *arguments: str) -> dict:
    """The last line of a command, in a process that knows one thing more."""
    return json.loads(run(f"import {module}\nfrom burkholder.cli import main\nmain()", *arguments, "--json").splitlines()[-1])


READ = """
import numpy as np, burkholder as bk
data = np.loadtxt("data.csv", delimiter=",", skiprows=1)
X, y = data[:, :2], data[:, 2]
"""
WITH_LOSS = f"""
import expectile
{READ}
def loss(yhat):
    return np.where(yhat < y, 0.9, 0.1) * (yhat - y) ** 2

w = np.array([0.5, -0.25])
for learner in (bk.Auto("expectile", level=0.9), bk.Learner("adagrad", "expectile", level=0.9, bound=1.0)):
    run = learner.run(X, y)
    assert np.allclose(run.losses, loss(run.predictions), rtol=1e-12, atol=1e-15)
    kept = type(learner).from_state(*learner.state_dict())
    assert kept.predict(X[0]) == learner.predict(X[0]) and kept.loss == learner.loss
regret = run.losses.sum() - loss(X @ w).sum()
certificate = run.certificate
assert regret <= certificate.realised(w) <= certificate.corrected(w) <= certificate.bound(w) < np.inf
experts = bk.Experts("expectile", level=0.9).run({{"one": X[:, 0], "two": X[:, 1]}}, y)
assert np.allclose(experts.losses, loss(experts.predictions), rtol=1e-12, atol=1e-15)
print(bk.Auto("expectile", level=0.9).run(X, y).losses.mean())
"""
WITH_POTENTIAL = f"""
import descent
{READ}
mine, known = bk.Learner("descent", "absolute"), bk.Learner("smoothness", "absolute", strength=4.0)
runs = [learner.run(X, y) for learner in (mine, known)]
assert np.allclose(runs[0].predictions, runs[1].predictions, rtol=1e-12, atol=1e-15)
for name in ("realised", "corrected", "bound"):
    numbers = [getattr(run.certificate, name)([0.5, -0.25]) for run in runs]
    assert np.isclose(*numbers, rtol=1e-12), (name, numbers)
bk.save(mine, "mine.bk")
assert bk.load("mine.bk").predict(X[0]) == mine.predict(X[0])
report = bk.verify("descent")
assert report.verdicts and not report.refuted, report
print(runs[0].losses.mean())
"""


def test_a_loss_is_one_file(run):
    mean = float(run(WITH_LOSS))
    listed = command(run, "expectile", "list")
    assert listed["losses"]["expectile"].startswith("level·(y−ŷ)₊²")
    options = ("learn", "data.csv", "--target", "y", "--loss", "expectile", "--option", "level=0.9", "--save", "model.bk", "--quiet")
    assert command(run, "expectile", *options)["mean_loss"] == pytest.approx(mean, rel=1e-12)
    assert run("import expectile, burkholder as bk\nprint(bk.load('model.bk').loss)").strip() == "Expectile(level=0.9)"


def test_a_potential_is_one_file_and_a_line(run):
    mean = float(run(WITH_POTENTIAL))
    assert command(run, "descent", "list")["learners"]["descent"] == "descent with a step"
    learned = command(run, "descent", "learn", "data.csv", "--target", "y", "--loss", "absolute", "--learner", "descent", "--no-intercept")
    assert learned["mean_loss"] == pytest.approx(mean, rel=1e-12)
    assert command(run, "descent", "bound", "--learner", "descent", "--rounds", "16")["bound"] == pytest.approx(2.0 + 0.125 * 16)
