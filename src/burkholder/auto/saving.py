"""Auto as plain data, and back."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from burkholder import losses
from burkholder.auto import schema
from burkholder.auto.nonlinear import PREFIX, TREES, Nonlinear
from burkholder.auto.reading import Reading, row_in, row_out
from burkholder.auto.state import State, copied
from burkholder.learning.tickets import Played

FORMAT = 6  # of saved states


def described(learner: Any) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """(header, arrays) of a learner: plain data for JSON, and numpy arrays."""
    header = {
        "learner": "auto",
        "format": FORMAT,
        "loss": losses.name(learner.loss),
        "options": dict(learner.loss._asdict()),
        "intercept": bool(learner.plan.intercept),
        "low": learner.targets.low,
        "high": learner.targets.high,
        "full_features": learner.plan.full_features,
        "effort": learner.effort,
        "max_pending": learner.max_pending,
        "unit_known": learner._unit_known,
        "late": [learner._late, learner._late_size],
        "rows": learner.reading.to_dict(),
        "tickets": learner._tickets.issued,
        "pending": [[id, played.round, played.memo, row_out(played.row)] for id, played in learner._tickets.waiting.items()],
    }
    beyond = {} if learner._nonlinear is None else learner._nonlinear.arrays()
    own = {f"{PREFIX}{name}": array for name, array in beyond.items()}
    return header, {name: array.copy() for name, array in learner.state._asdict().items()} | own


def restored(kind: Any, header: dict[str, Any], arrays: dict[str, NDArray]) -> Any:
    """The learner of this kind that `described` told; everything is checked first."""
    schema.check(header, arrays, FORMAT)
    given = {name: header[name] for name in ("intercept", "low", "high", "full_features", "effort", "max_pending")}
    learner = kind(header["loss"], **given, **header["options"])
    learner.state = State(**{name: copied(arrays[name]) for name in State._fields})
    if f"{PREFIX}scalars" in arrays:
        learner._nonlinear = Nonlinear(learner.plan, learner.state, TREES[learner.effort], learner.effort == "thorough")
        learner._nonlinear.restore(schema.split_off(arrays)[0])
    learner.reading = Reading.from_dict(header["rows"])
    learner._unit_known = header["unit_known"]
    learner._late, learner._late_size = header["late"][0], float(header["late"][1])
    learner._tickets.issued = header["tickets"]
    learner._tickets.waiting = {id: Played(row_in(row), float(shown), when) for id, when, shown, row in header["pending"]}
    learner._ready()
    return learner
