"""What the saved trees and the pool of several classes must be before their compiled loop may trust them."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.auto import discriminants as looks
from burkholder.auto import state as slots
from burkholder.auto.forest import CHILD, CUT, FEATURE, LABEL, LEAD, NODES, ROUND, WEIGHT, WIDEST
from burkholder.auto.grove import DEPTH, HELD, LARGEST, RING
from burkholder.auto.nonlinear_schema import FAR, HUGE, covariances, is_tree, ring_of_rows
from burkholder.auto.several import START, WAYS
from burkholder.auto.state import SCALARS
from burkholder.auto.targets import HEAVIEST
from burkholder.errors import BadInput
from burkholder.learning.schema import SUMMED, Array, Arrays, Schema

LEANING = 1e13  # |u_c| ≤ √MOST·FARTHEST/RIDGE, and ½⟨u_c, m_c⟩ ≤ ½·MOST·FARTHEST²/RIDGE


def check_several(trees: int, rounds: float, classes: int, linear: Arrays, arrays: Arrays) -> None:
    """Refuse arrays that are not those of so many trees of so many classes after these linear lanes."""
    wanted = trees > 0 and rounds >= START
    if not arrays:
        if wanted and float(linear["scalars"].reshape(-1, SCALARS)[0, slots.FEATURES]) <= WIDEST + 1:
            raise BadInput("array 'beyond_nodes'", "missing", "the trees of so many rounds must be there")
        return
    if not wanted:
        raise BadInput("array 'beyond_nodes'", "there", "there are no trees here, or not yet")
    _schema(trees, rounds, classes).check(arrays)


def _schema(trees: int, rounds: float, classes: int) -> Schema:
    low, high = np.full(8, -FAR), np.full(8, FAR)
    low[[CHILD, FEATURE]], high[[CHILD, FEATURE]] = 0.0, (NODES, WIDEST)
    low[[CUT, LEAD]], high[[CUT, LEAD]] = -LARGEST, LARGEST
    described = {
        "nodes": Array(("nodes", 8), low=low, high=high),
        "found": Array(("nodes", "room"), low=0.0, high=HUGE),
        "hoped": Array(("nodes", "room"), low=0.0, high=HUGE),
        "held": Array(("nodes", HELD + 1), low=0.0, high=rounds, whole=True),
        "used": Array((trees,), low=1.0, high=NODES, whole=True),
        "seen": Array((1,), low=0.0, high=WIDEST, whole=True),
        "ring": Array(("rows", "columns")),
        "said": Array(("rows", "room"), low=0.0, high=1.0 + 1e-9),
        "ends": Array((2, WIDEST + 9)),
        "seed": Array((1,), "<i8", low=-(2**63), high=2**63 - 1),
        "moments": Array((3, "side"), low=np.array([[-looks.LARGEST], [0.0], [0.0]]), high=LARGEST),
        "means": Array(("room", "side"), low=-looks.FARTHEST, high=HUGE),
        "lean": Array(("room", "side"), low=-LEANING, high=LEANING),
        "inverse": Array(("side", "side"), low=-1.0, high=1.0),
        "warmth": Array((2,), low=np.array([looks.COOLEST, looks.HELD]), high=np.array([looks.WARMEST, HUGE])),
        "pool": Array((WAYS, WAYS - 1), low=-HUGE, high=HUGE),
        "lost": Array((2 * WAYS,), low=-SUMMED, high=SUMMED),
        "retired": Array((1,), low=0.0, high=1.0, whole=True),
    }
    return Schema(
        described,
        (
            ("found: no room for the classes", lambda a: a["found"].shape[1] % 8 == 0 and a["found"].shape[1] > classes),
            ("held: more rows than a leaf holds", lambda a: (a["held"][:, 0] < HELD).all()),
            ("ring: no such rows", lambda a: ring_of_rows(a, RING) and _labelled(a, classes)),
            ("means: not those of classes", _looks),
            ("lost: corrections that are not small", lambda a: _small(a["lost"][:WAYS], a["lost"][WAYS:])),
            ("pool: no covariance", lambda a: covariances(a["pool"][1:])),
            ("nodes: these are no trees", lambda a: all(is_tree(a, k, trees, DEPTH, -FAR) for k in range(trees))),
        ),
    )


def _labelled(arrays: Any, classes: int) -> bool:
    """Every row that is remembered has a class that is known, and probabilities of them."""
    there = arrays["ring"][:, ROUND] > 0.0
    label, weight = arrays["ring"][there, LABEL], arrays["ring"][there, WEIGHT]
    known = (label >= 1.0) & (label <= classes) & (label == np.floor(label)) & (weight >= 0.0) & (weight <= HEAVIEST)
    return bool(known.all() and (arrays["said"][there].sum(axis=1) > 0.0).all())


def _looks(arrays: Any) -> bool:
    """Counts that are not below 0, standardised means, and the inverse of a covariance of all features but the one that is none."""
    means, inverse, side = arrays["means"], arrays["inverse"], len(arrays["inverse"])
    if side % 8 or side <= min(float(arrays["seen"][0]), looks.MOST) or arrays["moments"][0, 0] < 0.0:
        return False
    inside = (means[:, 0] >= 0.0).all() and (arrays["moments"][0] <= looks.LARGEST).all() and (means[:, 1:] <= looks.FARTHEST).all()
    return bool(inside and not inverse[0].any() and not inverse[:, 0].any() and covariances(inverse))


def _small(totals: np.ndarray, rests: np.ndarray) -> bool:
    return bool((totals >= -1e-9).all() and (np.abs(rests) <= 1e-6 * np.abs(totals) + 1e-9).all())
