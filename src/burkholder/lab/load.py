"""A function by name: of the catalogue, of a module (`module:object`) or of a file (`file.py:Object`)."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from burkholder.errors import BadInput, BurkholderError
from burkholder.functions import BurkholderFunction
from burkholder.functions import get as named


def load(name: str) -> BurkholderFunction | str:
    """What a name stands for: a catalogue name is returned as it is, anything else as an instance.

    >>> load("adagrad")
    'adagrad'
    >>> load("burkholder.functions:SquareFunction").name
    'square-function (sharp)'
    """
    if ":" not in name and not name.endswith(".py"):
        named(name)  # an unknown name is refused here, with the nearest one
        return name
    place, _, attribute = name.rpartition(":")
    if not place or not attribute:
        raise BadInput("name", name, "give a catalogue name, module:object or file.py:Object")
    module = _module(place, name)
    thing: Any = module
    for part in attribute.split("."):
        if not hasattr(thing, part):
            known = [key for key, item in vars(module).items() if _usable(item, module)]
            raise BadInput("name", name, f"no '{part}' in {place}; it has: {', '.join(known) or 'no functions'}")
        thing = getattr(thing, part)
    return _instance(thing, name)


def _module(place: str, name: str) -> ModuleType:
    try:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        path = Path(place)
        if not path.is_file():
            raise BadInput("name", name, f"there is no file {place}")
        spec = importlib.util.spec_from_file_location(f"_burkholder_user_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses and pickles look the module up
        sys.path.insert(0, os.fspath(path.resolve().parent))
        try:
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(os.fspath(path.resolve().parent))
        return module
    except BurkholderError:
        raise
    except Exception as trouble:
        raise BadInput("name", name, f"{place} could not be imported: {type(trouble).__name__}: {trouble}") from trouble


def _usable(item: Any, module: ModuleType) -> bool:
    return isinstance(item, BurkholderFunction) or (
        isinstance(item, type) and issubclass(item, BurkholderFunction) and item.__module__ == module.__name__
    )


def _instance(thing: Any, name: str) -> BurkholderFunction:
    """The object itself, a class called without arguments, or what a factory returns."""
    if not isinstance(thing, BurkholderFunction) and callable(thing):
        try:
            thing = thing()
        except BurkholderError:
            raise
        except Exception as trouble:
            raise BadInput(
                "name", name, f"calling it without arguments raised {type(trouble).__name__}: {trouble}; name an instance instead"
            ) from trouble
    if not isinstance(thing, BurkholderFunction):
        raise BadInput("name", name, f"it is a {type(thing).__name__}, not a BurkholderFunction")
    return thing
