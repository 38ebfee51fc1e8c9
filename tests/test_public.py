"""The public names exist, come lazily, and the extras are not needed to import the package."""

from __future__ import annotations

import subprocess
import sys

import pytest

import burkholder as bk


@pytest.mark.parametrize("name", sorted(bk._PUBLIC))
def test_every_public_name_exists(name):
    assert getattr(bk, name) is not None
    assert name in dir(bk)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="nothing"):
        bk.nothing  # noqa: B018


def test_importing_the_package_imports_nothing_heavy():
    heavy = ("numpy", "numba", "scipy", "typer", "sklearn", "river", "cvxpy")
    code = f"import sys, burkholder; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_learning_needs_no_extra():
    code = (
        "import sys\n"
        "for name in ('sklearn', 'river', 'cvxpy', 'flint', 'z3', 'pyarrow', 'polars', 'pandas', 'matplotlib', 'zstandard'):\n"
        "    sys.modules[name] = None\n"
        "import burkholder as bk\n"
        "learner = bk.Learner('adagrad', loss='absolute', bound=1.0)\n"
        "learner.update([1.0], 0.5)\n"
        "print(learner.certificate().rounds)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
