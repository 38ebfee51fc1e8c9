"""Every public name has an example in its docstring, the learners' protocol in every method; doctests of the package run them."""

from __future__ import annotations

import inspect

import pytest

import burkholder as bk

# data, whose docstring is that of its type; and what only a run of several seconds gives
PLAIN = {"CATALOGUE", "Found", "ProofCertificate"}
PROTOCOL = sorted(name for name in vars(bk.OnlineLearner) if not name.startswith("_"))


@pytest.mark.parametrize("name", sorted(set(bk._PUBLIC) - PLAIN))
def test_a_public_name_has_an_example(name: str) -> None:
    assert ">>>" in (inspect.getdoc(getattr(bk, name)) or "")


@pytest.mark.parametrize("name", PROTOCOL)
def test_a_method_of_every_learner_has_an_example(name: str) -> None:
    assert ">>>" in (inspect.getdoc(getattr(bk.OnlineLearner, name)) or "")


def test_what_discovery_gives_has_its_example_where_it_is_made() -> None:
    assert ">>>" in (inspect.getdoc(bk.discover) or "")
