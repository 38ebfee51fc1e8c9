"""What a schema says is what it refuses, for every kind of learner and every array that is saved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burkholder import storage
from burkholder.errors import BadInput, BurkholderError
from burkholder.learning.schema import Array, Schema, check_header, count, index, like, names, steady, whole

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from robust import LINES, survey
from robust_models import MODELS, _auto, makers
from robust_spoil import mended, opened

KINDS = {
    **makers(few=True),  # every kind that can be saved
    "auto with trees": lambda: _auto("squared", True, 120),
    **{
        f"{kind}, {name}": MODELS[kind][name]
        for kind, name in (("Learner", "adagrad-norm"), ("Experts", "huber-root"), ("Intervals", "around a column"))
    },
    **{f"ratings, {name}": MODELS["MatrixCompletion"][name] for name in ("lowering",)},
}


# --- the words of a schema -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("wanted", "array", "says"),
    [
        (Array((2,)), np.zeros(3), "shape must be 2"),
        (Array((2,)), np.zeros(2, np.float32), "type <f8"),
        (Array((2,)), np.zeros((2, 1)), "1 axes"),
        (Array((2,)), np.array([0.0, np.nan]), "must lie"),
        (Array((2,)), np.array([0.0, np.inf]), "must lie"),
        (Array((2,), low=[0.0, -1.0]), np.array([-0.5, -0.5]), r"lie in \[0,"),
        (count((2,), "<f8"), np.array([1.0, 1.5]), "whole"),
        (count((1,)), np.array([-1]), "must lie"),
        (index((1,), 4), np.array([4]), r"\[0, 3\]"),
        (index((1,), 4), np.array([-1]), r"\[0, 3\]"),
        (steady(np.array([1.0, 2.0])), np.array([1.0, 2.5]), "never change"),
        (Array((1,), "|b1"), np.array([2], np.uint8).view(np.bool_), "0 and 1"),
    ],
)
def test_every_word_refuses(wanted: Array, array: np.ndarray, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        Schema({"a": wanted}).check({"a": array})


def test_what_fits_is_taken() -> None:
    described = {
        "a": Array(("rows", 2)),
        "b": index(("rows",), 3, none=True),
        "c": like(np.zeros(4, np.int32)),
        "d": Array((), infinite=True),
    }
    arrays = {"a": np.ones((5, 2)), "b": np.full(5, -1), "c": np.zeros(4, np.int32), "d": np.array(-np.inf)}
    assert Schema(described).check(arrays) == {"rows": 5}
    with pytest.raises(BadInput, match="shape must be 5"):
        Schema(described).check({**arrays, "b": np.zeros(4, np.int64)})
    with pytest.raises(BadInput, match="no such array"):
        Schema(described).check({**arrays, "e": np.zeros(1)})
    with pytest.raises(BadInput, match="'a' = 'missing'"):
        Schema(described).check({key: array for key, array in arrays.items() if key != "a"})
    with pytest.raises(BadInput, match=r"odd.*do not fit together"):
        Schema(described, (("odd", lambda a: False),)).check(arrays)


def test_headers_are_exact() -> None:
    kinds = {"rounds": whole, "names": names}
    check_header({"rounds": 3, "names": ["a", 1]}, kinds)
    right = {"rounds": 3, "names": []}
    wrongs = [{**right, "rounds": odd} for odd in (3.0, True, -1, "3", None, 10**30)]
    wrongs += [{**right, "names": odd} for odd in (["a", "a"], [None, None], [float("nan")], [[1]], "ab", {"a": 1})]
    for wrong in [*wrongs, {"rounds": 1}, {**right, "more": 0}, []]:
        with pytest.raises(BadInput):
            check_header(wrong, kinds)


# --- every array of every kind of learner --------------------------------------------------------------------------
@pytest.fixture(scope="module", params=KINDS)
def saved(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    header, body = opened(KINDS[request.param]()[0])
    arrays = {}
    for name, dtype, shape, offset in header.pop("arrays"):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        arrays[name] = np.frombuffer(bytes(body[offset : offset + size]), dtype).reshape(shape).copy()
    return header, arrays


def _file(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    body, table = bytearray(), []
    for name, array in arrays.items():
        table.append([name, array.dtype.str, list(array.shape), len(body)])
        body += array.tobytes() + bytes(-array.nbytes % 64)
    return mended({**header, "arrays": table}, bytes(body))


def test_no_array_may_be_of_another_shape_or_type_or_missing(saved: Any) -> None:
    header, arrays = saved
    storage.unpack(_file(header, arrays))
    refused = roomy = 0
    for name, array in arrays.items():
        if name.endswith("slot_of") and (array < 0).all():
            roomy += 1  # room for features to come: it may be of any length
            continue
        longer = np.concatenate([array.reshape(-1), array.reshape(-1)[:1]]) if array.size else np.zeros(3, array.dtype)
        others = [longer, array[None], np.nan_to_num(array).astype("<i2")]
        for other in [*others, None]:
            changed = {key: item for key, item in {**arrays, name: other}.items() if item is not None}
            with pytest.raises(BurkholderError):
                storage.unpack(_file(header, changed))
            refused += 1
    assert refused == 4 * (len(arrays) - roomy) > 0


def test_no_array_may_hold_what_is_not_a_number(saved: Any) -> None:
    header, arrays = saved
    for name, array in arrays.items():
        if array.dtype.kind == "f" and array.size:
            for odd in (np.inf,) if np.isnan(array).any() else (np.nan, np.inf):  # NaN: an expert asleep
                changed = array.copy()
                changed.reshape(-1)[-1] = odd
                with pytest.raises(BurkholderError):
                    storage.unpack(_file(header, {**arrays, name: changed}))


def test_arrays_may_not_overlap_or_leave_the_file(saved: Any) -> None:
    header, arrays = saved
    data = _file(header, arrays)
    whole_header, body = opened(data)
    for place in range(1, len(whole_header["arrays"])):
        for offset in (0, 1, len(body), 2**62):
            table = [list(entry) for entry in whole_header["arrays"]]
            if table[place][3] == offset:
                continue
            table[place][3] = offset
            with pytest.raises(storage.BadFile, match="lies where it cannot be"):
                storage.unpack(mended({**whole_header, "arrays": table}, bytes(body)))
    with pytest.raises(storage.BadFile, match="more in it"):
        storage.unpack(mended(whole_header, bytes(body) + bytes(64)))


def test_unknown_and_missing_words_are_refused(saved: Any) -> None:
    header, arrays = saved
    pairs = header["state"]["pairs"]
    for place in range(len(pairs)):
        for changed in (pairs[:place] + pairs[place + 1 :], [*pairs, ["more", 1]]):
            with pytest.raises(BurkholderError):
                storage.unpack(_file({**header, "state": {"pairs": changed}}, arrays))


# --- spoiled at random, in processes of their own ----------------------------------------------------------------------
@pytest.mark.parametrize(("what", "cases"), [("lines", 4000 // LINES), ("models", 200)])
def test_spoiled_files_end_in_an_answer(what: str, cases: int) -> None:
    counts, found = survey(what, cases, seed=7, few=True)
    assert found == [] and counts.total() == cases
    assert counts["refused"] > 0 and counts["accepted"] > 0
