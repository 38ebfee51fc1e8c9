"""Sharp constants of martingale inequalities, with certified brackets."""

from .ends import LowerEnd, UpperEnd
from .own import OwnConstant
from .problems import Problem, find, names
from .program import Solution, solve
from .result import SharpConstant, sharp

__all__ = ["LowerEnd", "OwnConstant", "Problem", "SharpConstant", "Solution", "UpperEnd", "find", "names", "sharp", "solve"]
