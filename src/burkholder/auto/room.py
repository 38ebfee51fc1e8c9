"""What the loops are handed: tables that name every array of a learner, and rows as plain arrays.

The tables are made when an array was replaced, not at every call; the loops are compiled for one kind of argument only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.auto.plan import Plan, steps_for
from burkholder.auto.state import State, Work
from burkholder.machine.memory import named, table, told

plan_with = told(Plan, steps_for)  # for a loss: what its class says of its lanes is settled when the loop is compiled
plan_of, state_of, work_of = named(Plan), named(State), named(Work)


def tables_of(plan: Plan, state: State, work: Work) -> tuple[Any, Any, Any]:
    """What the loop of one learner reads; they hold addresses, so state and work must be kept while they are used."""
    return table(plan), table(state), table(work)


def plain(array: Any, kind: Any) -> NDArray[Any]:
    """The array, or a copy of it that can be written to and has no gaps: loops are compiled anew for every other kind."""
    kept = np.ascontiguousarray(array, dtype=kind)
    return kept if kept.flags.writeable else kept.copy()
