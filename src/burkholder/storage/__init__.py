"""Saving learners: `save`, `load`, `inspect`; one file, no pickle, atomic, checked, resumed bit for bit."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.errors import BadInput, BurkholderError
from burkholder.learning.kinds import KINDS, kind_of
from burkholder.storage import container
from burkholder.storage.container import BadFile
from burkholder.version import __version__


def _described(learner: Any) -> tuple[str, dict[str, Any], container.Arrays]:
    """(kind, header, arrays) of anything that can be saved."""
    kind = kind_of(learner)
    header, arrays = learner.state_dict()
    return kind, header, arrays


def pack(learner: Any, extra: dict[str, Any] | None = None) -> bytes:
    """The learner as the bytes of a model file; `extra` is plain data to keep beside it.

    >>> import burkholder as bk
    >>> learner = bk.Learner("adagrad", loss="absolute", radius=2.0)
    >>> learner.update({"a": 1.0}, 1.0)
    >>> unpack(pack(learner)).predict({"a": 1.0}) == learner.predict({"a": 1.0})
    True
    """
    from burkholder.learning.encoding import encode
    from burkholder.storage import tables

    kind, header, arrays = _described(learner)
    table = tables.of(learner)
    about = {"rounds": int(getattr(learner, "rounds", 0)), "library": __version__}
    return container.seal({"kind": kind, "about": about, "extra": encode(extra or {}), "table": table, "state": encode(header)}, arrays)


def unpack(data: bytes, path: str = "model", **given: Any) -> Any:
    """The learner from such bytes; `function=`, `loss=`, `features=` give what is code of your own.

    >>> import burkholder as bk
    >>> unpack(pack(bk.Auto("squared"))).loss
    Squared()
    """
    return unpack_with_extra(data, path, **given)[0]


def unpack_with_extra(data: bytes, path: str = "model", **given: Any) -> tuple[Any, dict[str, Any]]:
    """(learner, extra). Everything is verified first: on any error nothing was made.

    >>> import burkholder as bk
    >>> unpack_with_extra(pack(bk.Auto("squared"), {"day": 3}))[1]
    {'day': 3}
    """
    from burkholder.learning.encoding import decode
    from burkholder.learning.protocol import OnlineLearner
    from burkholder.learning.saved import check_statement
    from burkholder.storage import older, tables

    header, arrays = container.unseal(data, path)
    try:
        kind = header["kind"]
        if kind not in KINDS:
            raise BadFile(path, f"it holds a {kind!r}, which this version does not know")
        state, extra = decode(header["state"]), decode(header["extra"])
        if kind == "Learner" and isinstance(header["about"], dict) and header["about"].get("library") == older.WRITTEN_BY:
            state, arrays = older.renewed(state, arrays) or (state, arrays)
        learner = _maker(kind, given)(state, arrays)
        if type(extra) is not dict:
            raise BadFile(path, "what is kept beside the learner is no table of names and values")
        tables.give(learner, header.get("table"))
        if isinstance(learner, OnlineLearner):
            with np.errstate(all="ignore"):
                check_statement(learner.certificate())
        return learner, extra
    except BadInput as error:
        if error.argument in ("function", "loss", "features") and (error.value is None or given):
            raise
        raise BadFile(path, f"its content does not fit together: {error}{_older(header)}") from None
    except BurkholderError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise BadFile(path, f"its content does not fit together ({type(error).__name__}: {error}){_older(header)}") from None


def _older(header: Any) -> str:
    """What to do about a file of a version whose learners kept less than certificates rest on now."""
    about = header.get("about") if isinstance(header, dict) else None
    if not isinstance(about, dict) or about.get("library") != "0.1.0":  # see `older`
        return ""
    kind = header.get("kind")
    again = COMMANDS.get(kind if isinstance(kind, str) else "", "burkholder learn DATA --target COLUMN --save NEW.bk")
    return (
        ". It was written by burkholder 0.1.0, whose learners kept no account of rounding, on which certificates rest. To convert it, "
        f"learn its data again: {again}. Its settings: burkholder inspect FILE. To go on with it as it is: pip install burkholder==0.1.0"
    )


COMMANDS = {  # that make a model of each kind anew
    "Experts": "burkholder experts FORECASTS --target COLUMN --save NEW.bk",
    "MatrixCompletion": "burkholder complete RATINGS --save NEW.bk",
    "Audit": "burkholder audit PREDICTIONS --target COLUMN",
}


def _maker(kind: str, given: dict[str, Any]) -> Callable[..., Any]:
    module, name = KINDS[kind]
    if kind == "Learner":
        from functools import partial

        return partial(getattr(importlib.import_module(module), name).from_state, **given)
    for key, part in given.items():
        if part is not None:
            raise BadInput(key, part, f"a saved {kind} brings its own {key}; leave it out")
    return getattr(importlib.import_module(module), name).from_state


def save(learner: Any, path: str | os.PathLike[str], extra: dict[str, Any] | None = None) -> None:
    """Write the learner to one file. The path holds the old file or the new one at every moment, never a part.

    >>> import tempfile, os, burkholder as bk
    >>> from burkholder.storage import load, save
    >>> learner = bk.Learner("adagrad", loss="absolute", radius=2.0)
    >>> learner.update({"a": 1.0}, 1.0)
    >>> path = os.path.join(tempfile.mkdtemp(), "small.bk")
    >>> save(learner, path)
    >>> load(path).predict({"a": 1.0}) == learner.predict({"a": 1.0})
    True
    """
    container.write(path, pack(learner, extra))


def load(path: str | os.PathLike[str], *, function: Any = None, loss: Any = None, features: Any = None) -> Any:
    """The learner as it was saved, to go on bit for bit.

    Parts that were Python code of your own (a function, a loss, a feature map) are not in the file: give them.

    >>> import tempfile, os, burkholder as bk
    >>> learner = bk.Auto("absolute")
    >>> learner.update({"size": 3.0}, 7.0)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.bk")
    >>> bk.save(learner, path)
    >>> bk.load(path).rounds
    1
    """
    given = {"function": function, "loss": loss, "features": features}
    return unpack(container.read(path), str(path), **{key: part for key, part in given.items() if part is not None})


def load_with_extra(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """(learner, what `save` was given as `extra`).

    >>> import tempfile, os, burkholder as bk
    >>> path = os.path.join(tempfile.mkdtemp(), "auto.bk")
    >>> save(bk.Auto("squared"), path, {"day": 3})
    >>> load_with_extra(path)[1]
    {'day': 3}
    """
    return unpack_with_extra(container.read(path), str(path))


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file holds, without making the learner. The checksum is verified.

    >>> import tempfile, os, burkholder as bk
    >>> path = os.path.join(tempfile.mkdtemp(), "auto.bk")
    >>> save(bk.Auto("squared"), path)
    >>> inspect(path)["kind"]
    'Auto'
    """
    from burkholder.learning.encoding import decode, shown

    data = container.read(path)
    header, arrays = container.unseal(data, str(path))
    try:
        state, extra = decode(header["state"]), decode(header["extra"])
        return {
            "path": str(path),
            "bytes": len(data),
            "schema": container.SCHEMA,
            "sha256": data[-32:].hex(),
            "kind": header["kind"],
            **header["about"],
            "settings": shown(state),
            "extra": shown(extra),
            "table": header.get("table"),
            "arrays": {name: {"dtype": str(array.dtype), "shape": list(array.shape)} for name, array in arrays.items()},
        }
    except (BurkholderError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadFile(str(path), f"its header cannot be understood ({error})") from None


__all__ = ["KINDS", "BadFile", "inspect", "load", "load_with_extra", "pack", "save", "unpack", "unpack_with_extra"]
