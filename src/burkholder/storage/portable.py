"""Objects that hold learners and must pickle, copy and clone: their learners travel as model files."""

from __future__ import annotations

from typing import Any, NamedTuple

from burkholder.storage import KINDS, pack, unpack


class _Packed(NamedTuple):
    """A learner as the bytes of its file."""

    data: bytes


def _is_learner(value: Any) -> bool:
    kind = type(value)
    return kind.__name__ in KINDS and kind.__module__.partition(".")[0] == "burkholder"


def _out(value: Any) -> Any:
    if _is_learner(value):
        return _Packed(pack(value))
    if type(value) is list:
        return [_out(item) for item in value]
    if type(value) is dict:
        return {key: _out(item) for key, item in value.items()}
    return value


def _back(value: Any) -> Any:
    if isinstance(value, _Packed):
        return unpack(value.data)
    if type(value) is list:
        return [_back(item) for item in value]
    if type(value) is dict:
        return {key: _back(item) for key, item in value.items()}
    return value


class Portable:
    """Put before the other bases. Learners among the attributes (and in lists and dicts) are stored as bytes."""

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {key: _out(value) for key, value in (self.__dict__ if state is None else state).items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        whole = {key: _back(value) for key, value in state.items()}
        above = getattr(super(), "__setstate__", None)
        if above is None:
            self.__dict__.update(whole)
        else:
            above(whole)
