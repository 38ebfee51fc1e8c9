"""Model files outlive versions: those of every release load and go on, or say what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import burkholder as bk
from burkholder.rounds import layout

FOLDER = Path(__file__).parent / "released"
FILES = sorted(FOLDER.glob("*/*.bk"))
# of 0.1.0: nothing in these bounds what rounding took from their sums
REFUSED = {"audit": "burkholder audit", "experts": "burkholder experts", "ratings": "burkholder complete", "mixture": "burkholder learn"}
REFUSED |= {"waiting": "burkholder learn"}
NEXT = {
    "learner": lambda model: model.update({"a": 1.0, "new": 2.0}, 0.5),
    "vector": lambda model: model.update([0.1, 0.2, 0.3], 0.5),
    "norm": lambda model: model.update([0.1, 0.2, 0.3], 1.0),
    "experts": lambda model: model.update({"a": 1.0, "b": 0.0}, 0.5),
    "ratings": lambda model: model.update("u0", "i9", 4),
    "audit": lambda model: model.update([0.1, 0.2, 0.3], 0.4, 0.5),
}


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_a_released_file_goes_on_or_says_what_to_do(path: Path) -> None:
    if path.parent.name == "0.1.0" and path.stem in REFUSED:
        with pytest.raises(bk.BadFile, match=r"written by burkholder 0\.1\.0") as refused:
            bk.load(path)
        assert f"learn its data again: {REFUSED[path.stem]}" in str(refused.value)
        return
    model = bk.load(path)
    before = model.rounds
    NEXT[path.stem](model)
    assert model.rounds == before + 1 and model.certificate().rounds == before + 1


def test_every_release_is_here() -> None:
    assert {path.parent.name for path in FILES} >= {"0.1.0"} and len(FILES) >= 4


def again(name: str) -> bk.Learner:
    """The learner that wrote this file of 0.1.0, made by this version."""
    X = np.random.default_rng(0).standard_normal((30, 3)).round(3)
    y = np.clip(X @ [0.5, -0.2, 0.1], -1.0, 1.0).round(3)
    if name == "vector":
        learner = bk.Learner("square-function", loss="squared", bound=1.0)
        learner.run(X, y)
    elif name == "norm":
        learner = bk.Learner("adagrad-norm", loss="logistic", intercept=True)
        learner.run(X, np.sign(y + 1e-9), weight=1.0 + np.arange(30) % 3)
    else:
        learner = bk.Learner("adagrad", loss="absolute", radius=2.0)
        for row, label in zip(X.tolist(), y.tolist()):
            learner.update(dict(zip("abc", row)), label)
    return learner


@pytest.mark.parametrize("name", ["learner", "vector", "norm"])
def test_what_a_file_of_the_first_release_lacked_is_bounded(name: str) -> None:
    old, new = bk.load(FOLDER / "0.1.0" / f"{name}.bk"), again(name)
    for slot in (layout.LEANED, layout.MOVED, layout.DRIFTED):
        assert old.state.scalars[slot] >= new.state.scalars[slot] > 0.0
    # the plain sum Σδŷ of 30 rounds lost at most 31 units of what was summed; that much is charged beyond what is charged now
    assert old.state.evidence(old.loss, 30, 1.0).a_error >= 31.0 * 2.0**-53 * new.state.scalars[layout.LEANED]
    row = {"a": 0.3, "b": -1.0} if name == "learner" else [0.3, -1.0, 0.2]
    assert old.predict(row) == pytest.approx(new.predict(row), rel=1e-12)
    told, retold = old.certificate(), new.certificate()
    assert told.cumulative_loss == pytest.approx(retold.cumulative_loss, rel=1e-12)
    for radius in (0.5, 1.0):
        assert retold.realised(radius=radius) - 1e-13 <= told.realised(radius=radius) <= retold.realised(radius=radius) + 1e-11
        assert told.realised(radius=radius) <= told.corrected(radius=radius) <= told.bound(radius=radius)
