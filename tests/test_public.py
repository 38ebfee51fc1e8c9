"""The public names exist, come lazily, are known to type checkers, and the extras are not needed to import the package."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import burkholder as bk

SOURCE = Path(bk.__file__)
ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", sorted(bk._PUBLIC))
def test_every_public_name_exists(name):
    assert getattr(bk, name) is not None


def test_dir_shows_the_public_names_and_nothing_else():
    assert dir(bk) == sorted([*bk._PUBLIC, "__version__"])
    assert isinstance(bk.losses, types.ModuleType) and isinstance(bk.geometries, types.ModuleType)
    names: dict[str, object] = {}
    exec("from burkholder import *", names)
    assert names.keys() - {"__builtins__"} == set(dir(bk))


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="nothing"):
        bk.nothing  # noqa: B018


# --- types ---------------------------------------------------------------------------------------------------
def declared() -> dict[str, str]:
    """Public name → module, from the imports that only type checkers read."""
    block = next(node for node in ast.parse(SOURCE.read_text(encoding="utf-8")).body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names:
            assert alias.name == alias.asname  # only `X as X` is handed on
            found[alias.name] = alias.name if node.module == "burkholder" else node.module.removeprefix("burkholder.")
    return found


def test_type_checkers_are_told_what_is_looked_up():
    assert declared() == bk._PUBLIC


ASKED = """\
import burkholder as bk

reveal_type(bk.Auto)
reveal_type(bk.load)
reveal_type(bk.Auto().predict([1.0]))
reveal_type(bk.Auto().certificate())
reveal_type(bk.Learner("adagrad").run([[1.0]], [1.0]))
reveal_type(bk.losses.Pinball(0.9))
reveal_type(bk.geometries.get)
"""
ANSWERS = ["Auto", "path", "float", "AutoCertificate", "Run", "Pinball", "geometry"]  # what each answer must contain
UNKNOWN = "import burkholder as bk\nbk.nothing\n"


def checked(command: list[str], text: str, folder: Path) -> str:
    """What a type checker says of a small file that uses this package."""
    path = folder / "asking.py"
    path.write_text(text, encoding="utf-8")
    environment = {**os.environ, "MYPYPATH": str(SOURCE.parents[1]), "PYTHONPATH": str(SOURCE.parents[1])}
    done = subprocess.run([*command, str(path)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.stdout


def revealed(said: str, mark: str) -> list[str]:
    return [line.partition(mark)[2].strip() for line in said.splitlines() if mark in line]


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_resolves_the_public_names(tmp_path):
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache")]
    answers = revealed(checked(command, ASKED, tmp_path), "Revealed type is")
    assert len(answers) == len(ANSWERS)
    for answer, part in zip(answers, ANSWERS):
        assert part in answer and answer.strip('"') != "Any"
    assert 'has no attribute "nothing"' in checked(command, UNKNOWN, tmp_path)


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")
def test_pyright_resolves_the_public_names(tmp_path):
    command = ["pyright", "--pythonpath", sys.executable]
    answers = revealed(checked(command, ASKED, tmp_path), "Type of ")
    assert len(answers) == len(ANSWERS)
    for answer, part in zip(answers, ANSWERS):
        kind = answer.partition(" is ")[2].strip('"')
        assert part in kind and kind not in ("Any", "Unknown")


# --- weight --------------------------------------------------------------------------------------------------
def test_importing_the_package_imports_nothing_heavy():
    heavy = ("numpy", "numba", "scipy", "typer", "sklearn", "river", "cvxpy")
    code = f"import sys, burkholder; dir(burkholder); print([m for m in {heavy} if m in sys.modules])"
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


EXTRAS = ("sklearn", "river", "forecasting", "report", "client", "serve", "losses", "geometries")


def things():
    """(path, object) of every public name, and of those of the public modules."""
    for name in bk.__all__:
        if not name.startswith("_") and callable(getattr(bk, name)):
            yield name, getattr(bk, name)
    for module in EXTRAS:
        found = importlib.import_module(f"burkholder.{module}")
        for name in getattr(found, "__all__", ()):
            if callable(getattr(found, name)):
                yield f"{module}.{name}", getattr(found, name)


def test_every_public_docstring_has_an_example_and_every_public_member_a_docstring():
    assert [path for path, thing in things() if ">>>" not in (inspect.getdoc(thing) or "")] == []
    bare = [
        f"{path}.{name}"
        for path, thing in things()
        if inspect.isclass(thing) and "." not in path
        for name, member in inspect.getmembers(thing)
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)) and not inspect.getdoc(member)
    ]
    assert bare == []
