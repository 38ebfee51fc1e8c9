"""What the saved arrays of an aggregation must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.auto.plan import MIX_LOG
from burkholder.auto.state import ETA, GAP, HEAVY, LOSS, LOSS_REST, RANGE, ROUNDS, SCALARS, SURPRISE, SURPRISES, WEIGHT_SUM
from burkholder.learning.schema import COUNTED, LARGEST, SUMMED, Array, Schema
from burkholder.merged.mixing import Mixer, Mixing

SAVED = tuple(name for name in Mixing._fields if name != "prior")
PREFIX = "mix."
_LOW, _HIGH = np.zeros(SCALARS), np.zeros(SCALARS)  # what is not named here stays 0
_LOW[LOSS_REST] = -LARGEST
_HIGH[[LOSS, LOSS_REST, GAP, RANGE, WEIGHT_SUM]] = SUMMED
_HIGH[[ROUNDS, SURPRISES, HEAVY]] = COUNTED
_HIGH[ETA] = LARGEST
_HIGH[SURPRISE] = np.inf


def out(mixer: Mixer, slots: Any = None) -> dict[str, np.ndarray]:
    """The rows that are used, as arrays to be saved."""
    which = slice(0, mixer.count) if slots is None else slots
    return {f"{PREFIX}{name}": np.ascontiguousarray(getattr(mixer.many, name)[which]).copy() for name in SAVED}


def fill(mixer: Mixer, arrays: dict[str, np.ndarray], count: int, rounds: list[int]) -> None:
    """Check such arrays, of so many streams with so many rounds each, and take them over."""
    width, lanes = mixer.prior.shape[1], mixer.plan.lanes
    described = {
        f"{PREFIX}scalars": Array((count, SCALARS), low=_LOW, high=_HIGH),
        f"{PREFIX}weight": Array((count, width), low=0.0, high=1.0),
        f"{PREFIX}lane_loss": Array((count, width), low=0.0, high=SUMMED),
        f"{PREFIX}lane_rest": Array((count, width)),
        f"{PREFIX}likelihood": Array((count, width), low=0.0, high=1.0),
    }
    of_lanes = np.arange(width) < lanes

    def fits(a: Any) -> bool:
        weight, scalars = a[f"{PREFIX}weight"], a[f"{PREFIX}scalars"]
        whole = np.abs(weight[:, of_lanes].sum(axis=1) - 1.0) <= 1e-6
        steady = (weight[:, ~of_lanes] == 0.0).all() if mixer.plan.mixing != MIX_LOG else True
        rate = (scalars[:, ETA] == 1.0).all() if mixer.plan.mixing == MIX_LOG else True
        return bool(whole.all() and (weight[:, of_lanes] > 0.0).all() and steady and rate)

    def small(a: Any) -> bool:
        scalars = a[f"{PREFIX}scalars"]
        rest = np.abs(scalars[:, LOSS_REST]) <= 1e-6 * scalars[:, LOSS] + 1e-300
        lanes_rest = np.abs(a[f"{PREFIX}lane_rest"]) <= 1e-6 * a[f"{PREFIX}lane_loss"] + 1e-9
        return bool(rest.all() and lanes_rest.all() and (a[f"{PREFIX}likelihood"] > 0.0).all())

    Schema(
        described,
        (
            ("weights are not those of an aggregation", fits),
            ("corrections are larger than what they correct", small),
            ("rounds are not those of the learners", lambda a: a[f"{PREFIX}scalars"][:, ROUNDS].tolist() == list(map(float, rounds))),
        ),
    ).check(arrays)
    parts = [np.array(arrays[f"{PREFIX}{name}"], float) if name in SAVED else mixer.prior for name in Mixing._fields]
    mixer.adopt(Mixing(*parts), count)
