"""The rules by name. A new one is a file that ends in a `Rule`, and its line here; or `register` it from anywhere."""

from __future__ import annotations

import difflib
from typing import Any

from burkholder.errors import BadInput
from burkholder.experts import boa, ewa, huber_root, ml_poly, squint
from burkholder.experts.dispatch import Rule, attach

DEFAULT = huber_root.RULE.name
METHODS: dict[str, Rule] = {rule.name: rule for rule in (huber_root.RULE, ewa.RULE, ml_poly.RULE, boa.RULE, squint.RULE)}


def register(rule: Rule) -> Rule:
    """Make a rule of one's own known by its name, so that saved learners that use it can be loaded."""
    known = METHODS.get(rule.name)
    if known is not None and known.record is not rule.record:
        raise BadInput("method", rule.name, "there is a rule of this name already")
    METHODS[rule.name] = attach(rule)
    return METHODS[rule.name]


def get(method: Any) -> Rule:
    """The rule of that name, or the rule itself."""
    if isinstance(method, Rule):
        return attach(method)
    if method not in METHODS:
        near = difflib.get_close_matches(str(method), METHODS, 1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise BadInput("method", method, f"{hint}Methods: {', '.join(METHODS)}")
    return METHODS[method]
