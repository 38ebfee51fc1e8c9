"""Model files outlive versions: those of every release load and go on, or say what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

import burkholder as bk

FILES = sorted((Path(__file__).parent / "released").glob("*/*.bk"))
NEXT = {
    "learner": lambda model: model.update({"a": 1.0, "new": 2.0}, 0.5),
    "vector": lambda model: model.update([0.1, 0.2, 0.3], 0.5),
    "experts": lambda model: model.update({"a": 1.0, "b": 0.0}, 0.5),
    "ratings": lambda model: model.update("u0", "i9", 4),
    "audit": lambda model: model.update([0.1, 0.2, 0.3], 0.4, 0.5),
}


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES])
def test_a_released_file_goes_on_or_says_what_to_do(path: Path) -> None:
    try:
        model = bk.load(path)
    except bk.BadFile as error:
        assert path.parent.name == "0.1.0"
        assert "written by burkholder 0.1.0" in str(error) and "learn its data again: burkholder" in str(error)
        return
    before = model.rounds
    NEXT[path.stem](model)
    assert model.rounds == before + 1 and model.certificate().rounds == before + 1


def test_every_release_is_here() -> None:
    assert {path.parent.name for path in FILES} >= {"0.1.0"} and len(FILES) >= 4
