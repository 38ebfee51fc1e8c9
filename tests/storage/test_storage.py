"""Saved learners go on bit for bit; files that are not whole are refused."""

from __future__ import annotations

import contextlib
import json
import os
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burkholder as bk
from burkholder import functions, losses, storage
from burkholder.experts import Experts
from burkholder.learning import encoding
from burkholder.matrix.completion import MatrixCompletion
from burkholder.storage import BadFile, container


def _stream(seed: int, rounds: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, dim)) / np.sqrt(dim)
    return X / np.maximum(1.0, np.abs(X).max()), np.clip(X @ rng.standard_normal(dim), -1.0, 1.0)


def _same(one: Any, other: Any) -> bool:
    """Whether two learners would write the same file."""
    return storage.pack(one) == storage.pack(other)


def _again(learner: Any, **given: Any) -> Any:
    return storage.unpack(storage.pack(learner), **given)


@pytest.mark.parametrize("name", list(functions.CATALOGUE))
def test_every_function_resumes_bit_for_bit(name: str) -> None:
    entry = functions.CATALOGUE[name]
    dim = entry.dims[-1]
    X, y = _stream(3, 24, dim)
    options: dict[str, Any] = {"loss": "squared" if entry.curved else "absolute", "bound": 1.0, "seed": 2**60 + 1}
    learner = bk.Learner(name, **options)
    for x, target in zip(X[:12], y[:12]):
        learner.update(x, target)
    ticket = learner.play(X[0])
    twin = _again(learner)
    assert _same(learner, twin)
    for one in (learner, twin):
        one.reveal(ticket.id, 0.25)
    assert learner.rounds == 13 and not _same(learner, bk.Learner(name, **options))
    for x, target in zip(X[12:], y[12:]):
        assert learner.predict(x) == twin.predict(x)
        learner.update(x, target)
        twin.update(x, target)
    assert _same(learner, twin)
    assert str(learner.certificate()) == str(twin.certificate())


@pytest.mark.parametrize("loss", list(losses.LOSSES))
def test_losses(loss: str) -> None:
    X, y = _stream(5, 60, 4)
    labels = np.sign(y) + (y == 0) if losses.is_classification(losses.get(loss)) else y
    learner = bk.Learner("adagrad", loss=loss, bound=2.0, radius=3.0, intercept=True)
    learner.run(X[:30], labels[:30])
    twin = _again(learner)
    assert np.array_equal(learner.run(X[30:], labels[30:]).predictions, twin.run(X[30:], labels[30:]).predictions)
    assert _same(learner, twin)


def test_dicts_after_loading_write_the_same_books() -> None:
    learner = bk.Learner("adagrad", loss="logistic", intercept=True)
    for t in range(6):
        learner.update({"a": 1.0, "b": t - 2.5}, t % 2)
    twin = _again(learner)
    for t in range(6):
        for one in (learner, twin):
            one.predict({"a": 0.5, "b": t + 0.5})
            one.update({"a": 0.5, "b": t + 0.5}, t % 3 == 0)
    assert twin.rounds == learner.rounds == 12 and twin.cumulative_loss == learner.cumulative_loss
    assert _same(learner, twin)


def test_names_and_late_labels_are_kept() -> None:
    learner = bk.Learner("mixture", loss="logistic", intercept=True)
    learner.update({"a": 1.0, "b": -2.0}, 1)
    tickets = [learner.play({"b": 1.0, "new": 3.0}), learner.play({"a": 1.0})]
    twin = _again(learner)
    assert twin.pending == 2
    for ticket in reversed(tickets):
        for one in (learner, twin):
            one.reveal(ticket.id, 0)
    assert twin.weights() == learner.weights() and list(twin.rows.names) == ["(intercept)", "a", "b", "new"]
    with pytest.raises(bk.BadInput, match="already revealed"):
        twin.reveal(tickets[0].id, 1)


@pytest.mark.parametrize("x", [([0, 7], [1.0, 2.0]), [1.0, 0.5, 0.0]])
def test_late_labels_of_other_rows(x: Any) -> None:
    row = (np.array(x[0]), np.array(x[1])) if isinstance(x[0], list) else x
    learner = bk.Learner("adagrad-norm", loss="absolute")
    ticket = learner.play(row)
    twin = _again(learner)
    for one in (learner, twin):
        one.reveal(ticket.id, 1.0)
    assert _same(learner, twin)


@pytest.mark.parametrize(
    "function",
    [
        bk.SquareFunction(radius=2.0, geometry="l4"),
        bk.AdaptiveParameterFree(geometry=functions.CATALOGUE["adaptive-mahalanobis"].options["geometry"]),
        bk.combine(bk.SquareFunction(1.0), bk.SquareFunction(5.0), weights=[0.25, 0.75]),
        bk.softmax(bk.SquareFunction(1.0), bk.SquareFunction(2.0), rate=0.5),
    ],
    ids=lambda function: function.name,
)
def test_function_objects(function: Any) -> None:
    X, y = _stream(7, 20, 3)
    learner = bk.Learner(function, loss="absolute", bound=1.0)
    learner.run(X[:10], y[:10])
    twin = _again(learner)
    assert np.array_equal(learner.run(X[10:], y[10:]).predictions, twin.run(X[10:], y[10:]).predictions)


class Mine(bk.SquareFunction):
    """A user's own function: its code is not in any file."""


def test_own_code_must_be_given_again() -> None:
    learner = bk.Learner(Mine(radius=2.0), loss="absolute", features=lambda x: [x[0], x[0] ** 2])
    learner.update([0.5], 1.0)
    with pytest.raises(bk.BadInput, match="of your own"):
        _again(learner)
    with pytest.raises(bk.BadInput, match="features"):
        _again(learner, function=Mine(radius=2.0))
    twin = _again(learner, function=Mine(radius=2.0), features=learner.features)
    assert twin.predict([0.7]) == learner.predict([0.7]) != 0.0
    with pytest.raises(bk.BadInput, match="brings its own"):
        _again(bk.Learner("adagrad", loss="absolute"), loss="squared")


def test_other_learners_resume(tmp_path: Any) -> None:
    experts = Experts(loss="pinball", quantile=0.9)
    movies = MatrixCompletion(low=1, high=5)
    audit = bk.Audit(loss="squared", geometry="coordinates")
    rng = np.random.default_rng(1)
    for _ in range(30):
        experts.update({"gfs": 3.0 + rng.random(), "ecmwf": 2.8}, 3.0 + rng.random())
        movies.update(f"u{rng.integers(5)}", int(rng.integers(6)), float(rng.integers(1, 6)))
        audit.update({"a": rng.random(), 3: 1.0}, rng.random(), 1.0)
    for learner in (experts, movies, audit):
        path = tmp_path / "model.bk"
        storage.save(learner, path)
        twin = storage.load(path)
        assert type(twin) is type(learner) and _same(learner, twin)
        told = json.dumps(twin.certificate().to_dict(), default=str)
        assert told == json.dumps(learner.certificate().to_dict(), default=str)
        assert storage.inspect(path)["kind"] == type(learner).__name__
    for one in (movies, storage.unpack(storage.pack(movies))):
        one.update("new", "film", 4.0)
    assert audit.certificate().realised({"a": 1.0}) == storage.unpack(storage.pack(audit)).certificate().realised({"a": 1.0})


def test_only_learners_are_saved() -> None:
    with pytest.raises(bk.BadInput, match="these can be saved"):
        storage.pack({"not": "a learner"})


# --- files ------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def whole() -> bytes:
    learner = bk.Learner("adagrad", loss="logistic", radius=2.0)
    X, y = _stream(11, 40, 6)
    learner.run(X, np.sign(y))
    return storage.pack(learner, {"note": "ä"})


@given(st.data())
def test_any_flipped_bit_is_noticed(whole: bytes, data: Any) -> None:
    at = data.draw(st.integers(0, len(whole) - 1))
    bit = data.draw(st.integers(0, 7))
    mutant = bytearray(whole)
    mutant[at] ^= 1 << bit
    with pytest.raises(BadFile):
        storage.unpack(bytes(mutant))


@given(st.data())
def test_truncated_spliced_and_lengthened_files_are_refused(whole: bytes, data: Any) -> None:
    a, b = sorted(data.draw(st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole)))))
    kind = data.draw(st.sampled_from(["cut", "drop", "repeat", "append"]))
    mutant = {"cut": whole[:a], "drop": whole[:a] + whole[b:], "repeat": whole[:b] + whole[a:], "append": whole + whole[:b]}[kind]
    if mutant == whole:
        return
    with pytest.raises(BadFile):
        storage.unpack(mutant)


@given(st.data())
def test_resealed_nonsense_never_escapes(whole: bytes, data: Any) -> None:
    """Whoever alters a file and mends its checksum gets a model or a BurkholderError, never another error."""
    import hashlib

    mutant = bytearray(whole[:-32])
    for _ in range(data.draw(st.integers(1, 4))):
        mutant[data.draw(st.integers(20, len(mutant) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(bk.BurkholderError):
        storage.unpack(bytes(mutant) + hashlib.sha256(mutant).digest())


@pytest.mark.parametrize(
    ("text", "says"), [(b"", "empty"), (b"PK\x03\x04 a zip file", "not a burkholder model"), (b"burkholder model", "cut short")]
)
def test_foreign_files(text: bytes, says: str) -> None:
    with pytest.raises(BadFile, match=says):
        storage.unpack(text)


def test_newer_schema_says_upgrade(whole: bytes) -> None:
    newer = whole[:16] + struct.pack("<I", container.SCHEMA + 1) + whole[20:]
    with pytest.raises(BadFile, match="upgrade burkholder"):
        storage.unpack(newer)


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(BadFile, match="does not know"):
        storage.unpack(container.seal({"kind": "Popen", "about": {}, "extra": {"pairs": []}, "state": []}, {}))


def test_a_failed_write_leaves_the_old_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, whole: bytes) -> None:
    path = tmp_path / "model.bk"
    container.write(path, whole)

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(BadFile, match="No space left"):
        container.write(path, b"half a file")
    assert path.read_bytes() == whole and [entry.name for entry in tmp_path.iterdir()] == ["model.bk"]
    with pytest.raises(BadFile, match="cannot be read"):
        storage.load(tmp_path / "absent.bk")
    with pytest.raises(BadFile, match="cannot be written"):
        container.write(tmp_path / "no" / "folder.bk", whole)


_PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from([losses.Huber(0.5), losses.Logistic(), functions.CATALOGUE["adaptive-group"].options["geometry"]]),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=8,
)


@given(_PLAIN)
def test_words_come_back(value: Any) -> None:
    back = encoding.decode(json.loads(json.dumps(encoding.encode(value), allow_nan=False)))
    assert back == value and type(back) is type(value)


@given(st.dictionaries(st.text(max_size=8), st.sampled_from(container.DTYPES), max_size=4), st.integers(0, 3))
def test_arrays_come_back(kinds: dict[str, str], axes: int) -> None:
    rng = np.random.default_rng(0)
    arrays = {name: (rng.random((3, 0, 2)[:axes] if axes == 3 else (2,) * axes) * 100).astype(dtype) for name, dtype in kinds.items()}
    header, back = container.unseal(container.seal({"kind": "x"}, arrays))
    assert header == {"kind": "x"} and list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype and back[name].shape == array.shape
        assert back[name].tobytes() == array.tobytes()
