"""The kinds of learner that can be saved, and learners inside others: each part in words and arrays of its own."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from burkholder.errors import BadInput

# Kind in the file -> (module, class). Only these can be made by loading a file.
KINDS: dict[str, tuple[str, str]] = {
    "Learner": ("burkholder.learning.learner", "Learner"),
    "Auto": ("burkholder.auto", "Auto"),
    "AutoMulticlass": ("burkholder.auto", "AutoMulticlass"),
    "Experts": ("burkholder.experts", "Experts"),
    "QuantileExperts": ("burkholder.experts.quantiles", "QuantileExperts"),
    "Intervals": ("burkholder.intervals.learner", "Intervals"),
    "Quantiles": ("burkholder.intervals.quantiles", "Quantiles"),
    "PredictionSets": ("burkholder.intervals.sets", "PredictionSets"),
    "Probabilities": ("burkholder.opinions.learner", "Probabilities"),
    "MatrixCompletion": ("burkholder.matrix.completion", "MatrixCompletion"),
    "MatrixLearner": ("burkholder.matrix.learner", "MatrixLearner"),
    "DescribedCompletion": ("burkholder.merged.described", "DescribedCompletion"),
    "Merged": ("burkholder.merged.learner", "Merged"),
    "Keyed": ("burkholder.keyed.learner", "Keyed"),
    "Confidence": ("burkholder.confidence.sequence", "Confidence"),
    "Audit": ("burkholder.learning.audit", "Audit"),
}


def kind_of(learner: Any) -> str:
    """The kind by which a learner is saved; BadInput where it cannot be."""
    kind = type(learner).__name__
    if kind not in KINDS or type(learner).__module__.split(".")[0] != "burkholder":
        raise BadInput("learner", kind, f"these can be saved: {', '.join(KINDS)}")
    return kind


def parts_out(parts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """(kind and words of each part, the arrays of all of them, named part/array)."""
    words: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for name, part in parts.items():
        header, own = part.state_dict()
        words[name] = [kind_of(part), header]
        arrays |= {f"{name}/{key}": array for key, array in own.items()}
    return words, arrays


def parts_in(words: Any, arrays: Mapping[str, np.ndarray], kinds: tuple[str, ...] = tuple(KINDS)) -> dict[str, Any]:
    """Every part, made by its own kind's rules; arrays of no part are refused."""
    if type(words) is not dict or not all(type(name) is str and "/" not in name for name in words):
        raise BadInput("header 'parts'", type(words).__name__, "a table of parts stands there")
    sorted_in: dict[str, dict[str, np.ndarray]] = {name: {} for name in words}
    for key, array in arrays.items():
        name, slash, rest = key.partition("/")
        if not slash or name not in sorted_in:
            raise BadInput(f"array {key!r}", "there", "this kind of learner has no such array")
        sorted_in[name][rest] = array
    found = {}
    for name, told in words.items():
        if type(told) is not list or len(told) != 2 or type(told[0]) is not str or told[0] not in kinds:
            raise BadInput("header 'parts'", name, "a kind of learner and its words stand there")
        module, kind = KINDS[told[0]]
        found[name] = getattr(importlib.import_module(module), kind).from_state(told[1], sorted_in[name])
    return found
