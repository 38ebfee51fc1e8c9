"""Options as JSON: numbers, text, containers, and the records of this library by name. Nothing else."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from burkholder import functions, geometries, losses
from burkholder.errors import BadInput
from burkholder.functions.algebra import Combination, Minimum, Softmax
from burkholder.learning.feature_maps import Parity
from burkholder.learning.schema import DTYPES

# Classes that may be named in a file; anything else is the user's own code and never loaded by name.
RECORDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        geometries.Coordinates,
        geometries.Euclidean,
        geometries.PNorm,
        geometries.Supremum,
        geometries.Group,
        geometries.Mahalanobis,
        geometries.Schatten,
        *(kind for kind in losses.LOSSES.values() if kind.__module__.startswith("burkholder.")),
    )
}
FUNCTIONS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        functions.AdaptiveParameterFree,
        functions.ExpertAdvice,
        functions.GradientMixture,
        functions.MatrixPrediction,
        functions.ParameterFree,
        functions.PrintedParameterFree,
        functions.Smoothness,
        functions.SquareFunction,
        functions.StronglyConvex,
        functions.ZigZag,
    )
}
_COMBINED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "Combination": (Combination, ("weights",)),
    "Minimum": (Minimum, ()),
    "Softmax": (Softmax, ("rate",)),
}


def encode(value: Any) -> Any:
    """The value in words of JSON; BadInput when it is not data."""
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value).__name__ in RECORDS and type(value) is RECORDS[type(value).__name__]:
        return {"record": type(value).__name__, "fields": encode(_fields(value))}
    if losses.is_loss(value) and losses.LOSSES.get(losses.name(value)) is type(value):  # from outside: found again once registered
        return {"loss": losses.name(value), "fields": encode(_fields(value))}
    if type(value) is FUNCTIONS.get(type(value).__name__):
        return {"function": type(value).__name__, "options": encode(value.options)}
    if type(value) is _COMBINED.get(type(value).__name__, (None,))[0]:
        extra = {key: getattr(value, key) for key in _COMBINED[type(value).__name__][1]}
        return {"combined": type(value).__name__, "members": encode(list(value.members)), "options": encode(extra)}
    if type(value) is Parity:
        return {"parity": [value.degree, value.most]}
    if isinstance(value, np.ndarray):
        return {"array": encode(value.tolist()), "dtype": value.dtype.str}
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {"pairs": [[encode(key), encode(item)] for key, item in value.items()]}
    raise BadInput("value", value, "only numbers, text, lists and this library's own records can be stored")


def decode(words: Any) -> Any:
    """What `encode` was given."""
    if isinstance(words, list):
        return [decode(item) for item in words]
    if not isinstance(words, dict):
        return words
    match words:
        case {"float": text}:
            return float(text)
        case {"record": name, "fields": fields}:
            return RECORDS[name](**decode(fields))
        case {"loss": name, "fields": fields}:
            return losses.get(name, **decode(fields))
        case {"function": name, "options": options}:
            return FUNCTIONS[name](**decode(options))
        case {"combined": name, "members": members, "options": options}:
            return _COMBINED[name][0](decode(members), **decode(options))
        case {"parity": [degree, most]}:
            return Parity(degree, most)
        case {"array": items, "dtype": dtype} if dtype in DTYPES:
            return np.array(decode(items), dtype=np.dtype(dtype))
        case {"tuple": items}:
            return tuple(decode(item) for item in items)
        case {"pairs": pairs}:
            return {decode(key): decode(item) for key, item in pairs}
    raise BadInput("words", words, "these words have no meaning in this version")


def storable(value: Any) -> bool:
    """Whether `encode` would take it."""
    try:
        encode(value)
    except BadInput:
        return False
    return True


def shown(value: Any) -> Any:
    """Decoded data as JSON can show it: records as they print, long lists cut."""
    if isinstance(value, dict):
        return {str(key): shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        rest = [f"… {len(value) - 20} more"] if len(value) > 20 else []
        return [shown(item) for item in value[:20]] + rest
    if type(value).__name__ in FUNCTIONS:
        return f"{type(value).__name__}({', '.join(f'{key}={item!r}' for key, item in value.options.items())})"
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def _fields(record: Any) -> dict[str, Any]:
    if hasattr(record, "_asdict"):
        return dict(record._asdict())
    if dataclasses.is_dataclass(record):
        return {field.name: getattr(record, field.name) for field in dataclasses.fields(record) if field.init}
    return {}
