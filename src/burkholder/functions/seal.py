"""What the mathematics was when it was imported: a proof is about that text, and says nothing of a text that was changed.

Names prove nothing: a method, a formula of a potential or a constant of a module can be replaced while a program
runs. `altered` compares everything the modules of this package rest on with what they held at import: functions by
their code, classes attribute by attribute, constants by value, everything else by identity. Of the modules from outside that
the formulas call (Python's own functions, `math`, numpy, scipy) it compares every name that the formulas use.
"""

from __future__ import annotations

import builtins
import sys
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

PACKAGES = (
    "burkholder.functions",
    "burkholder.potentials",
    "burkholder.geometries",
    "burkholder.records",
    "burkholder.machine.elementary",
    "burkholder.machine.vectors",
    "burkholder.machine.operations",
    "burkholder.machine.pieces",
    "burkholder.lab.optimal",
)
OUTSIDE = ("builtins", "math", "numpy", "numpy.linalg", "numpy.polynomial.polynomial")
LATE = ("scipy.special", "scipy.optimize")  # imported when first used: remembered when first seen, if they hold only what is theirs
PLAIN = (bool, int, float, str, bytes, type(None))
Mark = tuple[Any, ...]


def _mark(item: Any) -> Mark:
    """What must stay the same of an object for it to be the same mathematics."""
    if type(item) is FunctionType:
        kept = (cell.cell_contents for cell in item.__closure__ or ())
        cells = tuple(("object", part) if isinstance(part, type) else _mark(part) for part in kept)  # `super` keeps the class
        return "function", item, item.__code__, _mark(item.__defaults__), _mark(item.__kwdefaults__), cells
    if isinstance(item, (staticmethod, classmethod)):
        return "wrapped", type(item), _mark(item.__func__)
    if type(item) is property:
        return "property", *(_mark(part) for part in (item.fget, item.fset, item.fdel))
    if isinstance(item, type) and item.__module__.startswith(PACKAGES):
        # what the interpreter itself keeps in a class (annotations, caches) is not callable
        own = {name: _mark(part) for name, part in vars(item).items() if not name.startswith("__") or callable(part)}
        return "class", item, item.__bases__, own
    if type(item) in PLAIN:
        return "constant", type(item), repr(item)
    if type(item) in (tuple, list, frozenset):
        return "items", type(item), *(_mark(part) for part in (sorted(item, key=repr) if type(item) is frozenset else item))
    if type(item) is dict:
        return "entries", {key: _mark(part) for key, part in item.items()}
    if type(item) is np.ndarray:
        return "array", item.dtype.str, item.shape, item.tobytes()
    for wraps in ("py_func", "pyfunc"):  # a compiled loop, and numpy's `vectorize`
        if type(inner := getattr(item, wraps, None)) is FunctionType:
            return "wrapping", item, _mark(inner)
    return "object", item


def _same(old: Any, new: Any) -> bool:
    """Whether two marks agree; tables may have grown, since one's own potentials are entered in them."""
    if type(old) is not tuple or type(new) is not tuple:
        return old is new or (type(old) is type(new) and type(old) in (str, bytes) and old == new)
    if old[:1] == new[:1] == ("entries",):
        return all(key in new[1] and _same(part, new[1][key]) for key, part in old[1].items())
    if old[:1] == new[:1] == ("class",):
        return (
            old[1] is new[1]
            and len(old[2]) == len(new[2])
            and all(a is b for a, b in zip(old[2], new[2]))  # a class may answer == as it likes
            and set(old[3]) == set(new[3])
            and all(_same(part, new[3][name]) for name, part in old[3].items())
        )
    if old[:1] == new[:1] == ("array",):
        return old == new
    return len(old) == len(new) and all(_same(a, b) for a, b in zip(old, new))


def _modules() -> dict[str, ModuleType]:
    return {
        name: module
        for name, module in sorted(sys.modules.items())
        if any(name == package or name.startswith(package + ".") for package in PACKAGES) and module is not None
    }


def _content(module: ModuleType) -> dict[str, Mark]:
    return {name: _mark(item) for name, item in vars(module).items() if not name.startswith("__")}


_sealed: dict[str, dict[str, Mark]] = {}
_outside: dict[str, dict[str, Any]] = {}


def take() -> None:
    """Remember everything as it is now."""
    _sealed.clear()
    _sealed.update({name: _content(module) for name, module in _modules().items() if name != __name__})
    _outside.clear()
    _outside.update({name: dict(vars(sys.modules[name])) for name in OUTSIDE})
    _used.cache_clear()


def add(*modules: str) -> None:
    """Remember modules that are imported later, and hold what proofs are about as well."""
    _sealed.update({name: _content(sys.modules[name]) for name in modules})
    _used.cache_clear()


def _words(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_words(part) for part in code.co_consts if type(part) is CodeType))


@cache
def _used() -> frozenset[str]:
    """Every name that the text of the sealed modules speaks of, read from the modules as they were compiled."""
    texts = (getattr(getattr(sys.modules[name], "__spec__", None), "loader", None) for name in _sealed)
    codes = (loader.get_code(name) for name, loader in zip(_sealed, texts) if loader is not None)
    return frozenset().union(*(_words(code) for code in codes if code is not None))


def _foreign() -> list[str]:
    """The names of modules from outside, of those the formulas use, that were rebound."""
    found = []
    for place in LATE:
        module = sys.modules.get(place)
        if module is not None and place not in _outside:
            top = place.partition(".")[0]
            strangers = (
                name
                for name, item in vars(module).items()
                if name in _used() and type(item) is FunctionType and not item.__module__.startswith(top)
            )
            found += [f"{place}.{name}" for name in strangers]
            if not found:
                _outside[place] = dict(vars(module))
    for place, old in _outside.items():
        new = vars(sys.modules[place])
        found += [f"{place}.{name}" for name in sorted(_used() & set(old)) if new.get(name, old) is not old[name]]
    return found


def altered() -> list[str]:
    """The names whose content is no longer what was imported.

    >>> altered()
    []
    """
    found = []
    for place, old in _sealed.items():
        module = sys.modules.get(place)
        new = _content(module) if module is not None else {}
        found += [f"{place}.{name}" for name, mark in old.items() if name not in new or not _same(mark, new[name])]
        # a name that was added matters when it hides one of Python's own, such as `abs`
        found += [f"{place}.{name}" for name in new if name not in old and hasattr(builtins, name)]
    return found + _foreign()
