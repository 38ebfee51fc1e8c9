"""The optimal U of a pair (T, V) on a finite game, what it is worth, and the adversary that it contains."""

from burkholder.functions import seal
from burkholder.lab.optimal.check import examine
from burkholder.lab.optimal.coin import Forced, forced
from burkholder.lab.optimal.function import Optimal, optimal
from burkholder.lab.optimal.game import Equivalence, equivalence
from burkholder.lab.optimal.histories import Minimax, minimax

__all__ = ["Equivalence", "Forced", "Minimax", "Optimal", "equivalence", "examine", "forced", "minimax", "optimal"]

seal.add(*(f"{__name__}.{part}" for part in ("check", "function", "table")))
