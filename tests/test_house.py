"""The shape of the code: what takes more than ten parameters is listed here, with the reason."""

from __future__ import annotations

import ast
from pathlib import Path

import burkholder

SOURCE = Path(burkholder.__file__).parent
MOST = 10

# Commands and estimators: every parameter is an option that a user writes.
OPTIONS = {
    "cli/audit.py:audit",
    "cli/compare.py:compare",
    "cli/complete.py:complete",
    "cli/experts.py:experts",
    "cli/intervals.py:intervals",
    "cli/learn.py:learn",
    "cli/serve.py:serve",
    "functions/plain.py:__init__",
    "matrix/completion.py:__init__",
    "matrix/learner.py:__init__",
    "sklearn/classifier.py:__init__",
    "sklearn/regressor.py:__init__",
    "spark/keyed.py:learn_keyed",
}
# Compiled loops: a record by value costs more at every call than arrays one by one.
LOOPS = {
    "auto/classes.py:run_classes",
    "auto/kernel.py:one_round",
    "auto/kernel.py:rounds",
    "auto/kernel.py:run_many",
    "auto/kernel.py:run_rows",
    "auto/nonlinear.py:learn",
    "auto/nonlinear.py:run_rows",
    "auto/several.py:run_several",
    "intervals/learner.py:_enter",
    "intervals/learner.py:_learns",
    "intervals/learner.py:_rounds",
    "intervals/quantiles.py:_enter",
    "intervals/quantiles.py:_learns",
    "matrix/krylov.py:probe_signs",
    "matrix/krylov.py:probe_tangent",
    "matrix/lanczos.py:step",
    "matrix/sign_flip.py:late",
    "matrix/sign_flip.py:learn",
    "matrix/sign_flip.py:predict",
    "matrix/sign_flip.py:predict_many",
    "matrix/sign_flip.py:prepare",
    "matrix/sign_flip.py:rounds",
    "matrix/stream.py:rounds",
    "merged/mixing.py:rounds",
    "streams/readers/libsvm.py:parse",
    "streams/readers/table.py:parse",
    "streams/readers/vw.py:parse",
}
# No reason but age: to become records.
OWED = {"streams/readers/columns.py:__init__"}


def long_functions(folder: Path) -> set[str]:
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                if len(names) - (names[:1] in (["self"], ["cls"])) > MOST:
                    found.add(f"{path.relative_to(folder).as_posix()}:{node.name}")
    return found


def test_no_function_grows_beyond_ten_parameters() -> None:
    """Nothing new is long, and what has become short leaves the lists."""
    assert long_functions(SOURCE) == OPTIONS | LOOPS | OWED


def test_a_long_function_is_found(tmp_path: Path) -> None:
    ten = ", ".join(f"a{i}" for i in range(MOST))
    (tmp_path / "one.py").write_text(f"class A:\n    def f(self, {ten}): ...\n    def g(self, {ten}, *, b): ...\n", encoding="utf-8")
    assert long_functions(tmp_path) == {"one.py:g"}
