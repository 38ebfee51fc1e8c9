"""Whatever is saved comes back bit for bit, at every moment and for every kind of row: before the first round, midway, with
plays that wait, and after their labels came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.sparse import coo_matrix

import burkholder as bk
from burkholder import storage
from burkholder.auto import Auto, AutoMulticlass
from burkholder.experts import Experts
from burkholder.learning.rows import DIRECT
from burkholder.matrix.completion import MatrixCompletion
from burkholder.matrix.learner import MatrixLearner


class Kind(NamedTuple):
    """How to make one, and its rows and labels: row(t) for t = 0, 1, 2, …"""

    make: Callable[[], Any]
    row: Callable[[int], Any]
    label: Callable[[int], Any] = lambda t: float(t % 3) / 2.0


def _named(t: int) -> dict[Any, Any]:
    return {"a": 1.0, f"n{t % 5}": t - 3.5, "colour": ("red", "blue", None)[t % 3], 7: 0.5}


def _vector(t: int) -> Any:
    return np.array([1.0, t % 4 - 1.5, 0.0 if t % 2 else 2.0])


def _sparse(t: int) -> Any:
    return np.array([t % 3, 40]), np.array([1.0, -0.5])


def _far(t: int) -> Any:
    return np.array([t % 3, DIRECT + t % 2, 2**63 - 1 - t % 3]), np.array([1.0, 2.0, -0.5])


def _matrix(t: int) -> Any:
    rng = np.random.default_rng(t)
    entry = coo_matrix(([1.0, -2.0], ([0, 2], [1, t % 3])), shape=(4, 3))
    return ((t % 4, t % 3), (t % 4, 1, 0.5), rng.normal(size=(4, 3)), entry, (rng.normal(size=(4, 1)), rng.normal(size=(3, 1))))[t % 5]


def _pair(t: int) -> Any:
    return t % 5, f"m{t % 4}"


def _learner(row: Callable[[int], Any], name: str = "adagrad", loss: str = "absolute", **options: Any) -> Kind:
    return Kind(lambda: bk.Learner(name, loss=loss, bound=2.0, **options), row)


def _completion(**options: Any) -> Kind:
    return Kind(lambda: MatrixCompletion(1, 5, **options), _pair, lambda t: 1.0 + t % 5)


def _sign_flip(rate: Any, shape: tuple[int, int] = (4, 3), row: Callable[[int], Any] = _matrix, **options: Any) -> Kind:
    radius = None if rate == "mixture" else 1.0
    return Kind(lambda: MatrixLearner(*shape, rate=rate, radius=radius, **options), row, lambda t: 0.5 - t % 2)


KINDS = {
    "learner named": _learner(_named, intercept=True),
    "learner vector": _learner(_vector, "mixture"),
    "learner sparse": _learner(_sparse, intercept=True, max_pending=5),
    "learner in Python": _learner(_vector, "strongly-convex", "squared"),
    "auto named": Kind(lambda: Auto("squared"), _named),
    "auto vector": Kind(lambda: Auto("logistic", intercept=False, full_features=2), _vector, lambda t: t % 2),
    "auto far": Kind(lambda: Auto("absolute", low=0.0, high=1.0), _far),
    "auto odd names": Kind(lambda: Auto("squared"), lambda t: {("a", t % 2): 1.0, 0.5: 2.0, None: 1.0, True: t}),
    "classes": Kind(AutoMulticlass, _named, lambda t: ("a", 2, ("b", 1.5), True)[t % 4]),
    "classes far": Kind(lambda: AutoMulticlass(["x"]), _far, lambda t: "xyz"[t % 3]),
    "experts": Kind(lambda: Experts("pinball", quantile=0.7), lambda t: {"a": 1.0, "b": None, f"e{t % 3}": t / 2}),
    "experts ewa": Kind(lambda: Experts("squared", method="ewa", rate=0.1, bound=9.0), _vector),
    "experts shares": Kind(lambda: Experts(shares=(0.0, 0.1), rates=9, lipschitz=1.0), _vector),
    "ratings": _completion(),
    "ratings fast": _completion(fast=True, max_pending=7),
    **{f"ratings {rate}": _completion(strategy="sign-flip", rate=rate, radius=2.0) for rate in ("lowering", "doubling", 0.1)},
    "ratings pinball": _completion(strategy="sign-flip", rate="mixture", loss=bk.losses.Pinball(0.7)),
    "matrix": _sign_flip("lowering"),
    "matrix tangent": _sign_flip("doubling", strategy="tangent"),
    "matrix unbounded": _sign_flip("mixture", bound=np.inf),
    **{f"matrix entries {rate}": _sign_flip(rate, (60, 50), lambda t: (t % 9, t % 7, 1.0)) for rate in ("doubling", "mixture")},
    "matrix wide": _sign_flip(0.1, (2040, 20), lambda t: np.eye(2040, 20) if t == 2 else (t % 9, t % 7, 1.0)),
}


def _again(learner: Any) -> Any:
    data = storage.pack(learner)
    twin = storage.unpack(data)
    assert storage.pack(twin) == data
    return twin


@pytest.mark.parametrize("name", KINDS)
def test_saved_at_any_moment(name: str) -> None:
    make, row, label = KINDS[name]
    learner = make()
    twin = _again(learner)  # before anything was seen
    early = [one.play(row(4)).id for one in (learner, twin)]
    twin = _again(twin)  # a play, and no round
    assert early == [1, 1] and twin.pending == 1 and twin.max_pending == learner.max_pending
    for t in range(9):
        for one in (learner, twin):
            one.update(row(t), label(t))
        if t == 4:
            twin = _again(twin)
    waiting = [learner.play(row(t)).id for t in (2, 9, 11)]
    assert [twin.play(row(t)).id for t in (2, 9, 11)] == waiting
    twin = _again(twin)
    for one in (learner, twin):
        one.forget(waiting[0])
        for t, id in zip((9, 4), (waiting[1], 1)):
            one.reveal(id, label(t))
    twin = _again(twin)
    assert storage.pack(learner) == storage.pack(twin)
    assert learner.rounds == 11 and learner.pending == 1
    assert repr(twin.predict(row(5))) == repr(learner.predict(row(5)))
    for one in (learner, twin):
        one.reveal(waiting[2], label(11))
    assert storage.pack(learner) == storage.pack(twin) and str(learner.certificate()) == str(twin.certificate())
    with pytest.raises(bk.BadInput, match="already revealed"):
        twin.reveal(1, label(0))


def test_merged_learners_come_back() -> None:
    parts = []
    for shift in (0, 3):
        part = bk.Learner("adagrad", loss="absolute", radius=2.0)
        for t in range(6):
            part.update(_named(t + shift), 0.5)
        parts.append(part)
    whole = bk.merge(*parts)
    twin = _again(whole)
    for one in (whole, twin):
        one.update(_named(1), 1.0)
    assert storage.pack(whole) == storage.pack(twin)


def test_a_play_of_another_kind_of_row_is_refused_when_its_label_comes() -> None:
    for make in (lambda: bk.Learner("adagrad", loss="absolute"), lambda: Auto("absolute")):
        learner = make()
        ids = [learner.play(x).id for x in ([1.0, 2.0], {"a": 1.0}, [1.0, 2.0, 3.0])]
        learner.reveal(ids[0], 1.0)
        twin = _again(learner)
        for id in ids[1:]:
            before = storage.pack(twin)
            with pytest.raises(bk.BadInput, match=r"one kind of features|takes 2 features"):
                twin.reveal(id, 1.0)
            assert storage.pack(twin) == before


@pytest.mark.parametrize("name", ["\ud800", "a\udfffb", "\x00", "𝄞", "\u2028"])
def test_names_that_are_no_text_are_kept_as_they_are(name: str) -> None:
    learner, keyed = bk.Auto("absolute", effort="light"), bk.Keyed(bk.Learner("adagrad", loss="absolute"), key="k")
    learner.update({name: 1.0}, 1.0)
    keyed.update({"k": name, name: 1.0}, 1.0)
    assert storage.unpack(storage.pack(learner)).predict({name: 1.0}) == learner.predict({name: 1.0}) != 0.0
    assert storage.unpack(storage.pack(keyed)).keys == [name]
