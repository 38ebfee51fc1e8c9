"""What is kept for going back is the learner's alone, however often its room was used before."""

from __future__ import annotations

import numpy as np
import pytest

import burkholder as bk
from burkholder.learning import keeping
from burkholder.learning.keeping import Kept
from burkholder.storage import pack

LARGE = keeping.LARGE // 8


def test_room_is_used_again_and_never_twice_at_once():
    first = Kept({"a": np.full(LARGE, 1.0)})
    room = first["a"]
    del first
    one, other = Kept({"a": np.full(LARGE, 2.0)}), Kept({"a": np.full(LARGE, 3.0)})
    assert one["a"] is room and other["a"] is not room
    assert (one["a"] == 2.0).all() and (other["a"] == 3.0).all()


def test_little_room_is_kept():
    for size in range(3 * keeping.SHAPES):
        several = [Kept({"a": np.zeros(LARGE + size)}) for _ in range(4)]
        del several
    assert len(keeping._rooms) <= keeping.SHAPES and all(len(spare) <= keeping.SPARE for spare in keeping._rooms.values())


MAKE = {
    "auto": lambda: bk.Auto(loss="logistic"),
    "numbers": lambda: bk.Auto(loss="squared"),
    "classes": lambda: bk.AutoMulticlass([0, 1, 2]),
}


@pytest.mark.parametrize("kind", MAKE)
def test_what_fails_in_the_middle_is_undone_bit_for_bit_again_and_again(kind, monkeypatch):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(400, 4)), rng.integers(0, 3 if kind == "classes" else 2, 400)
    learners = [MAKE[kind](), MAKE[kind]()]  # side by side: what one drops the other may get
    run = type(learners[0])._run

    def broken(self, table, targets, weights):
        run(self, table, targets, weights)
        raise KeyboardInterrupt

    for start in range(0, 400, 100):
        part = slice(start, start + 100)
        for learner in learners:
            before = pack(learner)
            with monkeypatch.context() as patch:
                patch.setattr(type(learner), "_run", broken)
                with pytest.raises(KeyboardInterrupt):
                    learner.learn_many(X[part], labels[part].tolist())
            assert pack(learner) == before
            learner.learn_many(X[part], labels[part].tolist())
    assert pack(learners[0]) == pack(learners[1])
