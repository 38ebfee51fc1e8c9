"""Every public name has an example in its docstring, the learners' protocol in every method; doctests of the package run them."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

import burkholder as bk

# data, whose docstring is that of its type; and what only a run of several seconds gives
PLAIN = {"CATALOGUE", "Found", "ProofCertificate"}
PROTOCOL = sorted(name for name in vars(bk.OnlineLearner) if not name.startswith("_"))


@pytest.mark.parametrize("name", sorted(set(bk._PUBLIC) - PLAIN))
def test_a_public_name_has_an_example(name: str) -> None:
    assert ">>>" in (inspect.getdoc(getattr(bk, name)) or "")


def test_so_has_every_name_of_the_reference() -> None:
    """Those of the modules for other libraries too; and the reference has all that the package lists."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
    try:
        from reference import public
    finally:
        sys.path.pop(0)
    things = public()
    assert things.keys() >= set(bk._PUBLIC) and {"sklearn.BurkholderClassifier", "forecasting.Combiner", "storage.inspect"} <= things.keys()
    assert [name for name, thing in things.items() if ">>>" not in (inspect.getdoc(thing) or "") and name not in PLAIN] == []


@pytest.mark.parametrize("name", PROTOCOL)
def test_a_method_of_every_learner_has_an_example(name: str) -> None:
    assert ">>>" in (inspect.getdoc(getattr(bk.OnlineLearner, name)) or "")


def test_what_discovery_gives_has_its_example_where_it_is_made() -> None:
    assert ">>>" in (inspect.getdoc(bk.discover) or "")
