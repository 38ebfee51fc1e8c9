"""What the loops are handed: one table that names every array of a learner, and rows as plain arrays.

The table is built when an array was replaced, not at every call; the loops are compiled for one kind of argument only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.auto.plan import Plan
from burkholder.auto.state import State, Work
from burkholder.machine.memory import named, table, words

plan_in, state_in, work_in = named(Plan), named(State), named(Work)
STATE_WORDS, WORK_WORDS = words(State), words(Work)
# where each of them begins
STATE_AT = words(Plan)
WORK_AT = STATE_AT + STATE_WORDS


def room(plan: Plan, state: State, work: Work) -> NDArray[np.int64]:
    """The table for one learner; it holds addresses, so state and work must be kept while it is used."""
    return np.concatenate([table(plan), table(state), table(work)])


def plain(array: Any, kind: Any) -> NDArray[Any]:
    """The array, or a copy of it that can be written to and has no gaps: loops are compiled anew for every other kind."""
    kept = np.ascontiguousarray(array, dtype=kind)
    return kept if kept.flags.writeable else kept.copy()
