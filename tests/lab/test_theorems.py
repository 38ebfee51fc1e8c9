"""docs/theorems.md: every statement of the paper has a row, and what a row points at is there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import burkholder as bk
from burkholder.functions import CATALOGUE
from burkholder.lab.sharp import find

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split(" | ")]
    for line in (DOCS / "theorems.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| in the paper")
]
# the paper's statements in its order, by label, or by what the row calls them where there is none
STATEMENTS = [
    "`def:sufficiency`", "`ex:experts`", "example, adaptive gradient descent", "`lem:suff_to_martingale`",
    "`lem:equivalence_burkholder`", "definition, Burkholder function", "`ex:smoothness`", "`lem:universal_algo`",
    "proposition in `sec:algorithm`", "`prop:param_sufficient`", "`thm:param_free`", "a strategy", "a moment bound",
    "`prop:matrix_sufficient`", "`thm:matrix_burkholder`", "`corr:matrix_strategy`", "the doubling proposition",
    "`corr:matrix_square`", "`prop:square_loss_sufficient`", "`thm:square_loss_burkholder`", "`prop:lb`", "`prop:necessary`",
    "example, matrix prediction", "`prop:burkholder_efficient`", "`lem:det_strat2`", "`lem:det_strat3`", "`prop:algebra`",
]  # fmt: skip
BESIDES = [
    "`eq:u_construction`",
    "`eq:univ_algo`",
    "`eq:umd_martingale_ineq`",
    "ZigZag",
    "`sec:adagrad`",
    "`sec:discussion`",
    "T(x⁰, y⁰, 0) = 0",
]


@pytest.mark.parametrize("statement", [*STATEMENTS, *BESIDES])
def test_every_statement_has_a_row(statement) -> None:
    assert any(statement in row[0] for row in ROWS)


def test_rows_are_whole_and_their_files_are_there() -> None:
    assert len(ROWS) >= 25
    for row in ROWS:
        assert len(row) == 5 and all(row), row[0]
        links = re.findall(r"\]\(([^)]+)\)", " ".join(row))
        assert links, row[0]
        for link in links:
            assert (DOCS / link.split("#")[0]).exists(), (row[0], link)


def test_what_is_to_be_run_exists() -> None:
    for row in ROWS:
        for name in re.findall(r"`burkholder verify ([\w.-]+)", row[4]):
            assert name == "NAME" or name in CATALOGUE, row[0]
        for name in re.findall(r"`burkholder sharp ([\w.-]+)", row[4]):
            assert find(name).name == name, row[0]
        for name in re.findall(r"\bbk\.(\w+)\(", row[4]):
            assert callable(getattr(bk, name)), (row[0], name)


def test_the_example_on_matrices_three_times_the_same_number() -> None:
    for shape, rounds, rate in (((1, 1), 4, 0.5), ((2, 2), 3, 0.5), ((1, 2), 5, 1.5)):
        found = bk.matrix_equivalence(shape, rate, rounds)
        assert found.agree and 0 < found.martingale < found.promised
        report = bk.verify(found.optimal)  # at its least c it is a Burkholder function of the game
        assert report.status == "not refuted" and found.optimal.price > 0

    def best(x: int, n: int) -> float:  # one entry: E|Σε| − ½η·n, stopped at the best time, by plain recursion
        stop = abs(x) - 0.25 * n
        return stop if n == 4 else max(stop, (best(x + 1, n + 1) + best(x - 1, n + 1)) / 2)

    assert bk.matrix_equivalence((1, 1), 0.5, 4).martingale == pytest.approx(0.5 * best(0, 0), abs=1e-12)
    with pytest.raises(bk.BadInput):
        bk.matrix_equivalence((2, 2), features=[[1.0, 1.0, 1.0, 1.0]])
    with pytest.raises(bk.BadInput):
        bk.matrix_equivalence((2, 2), features=[[1.0, 1.0]])


def test_the_pair_of_parameter_free_learning_for_any_constants() -> None:
    """`prop:param_sufficient`: ‖w‖‖x‖ − A(w) ≤ V(0, x), proved for all a, γ, c; and what is proved is that, at random constants."""
    pytest.importorskip("z3")
    from burkholder.lab.exact import lemmas

    assert lemmas.conjugate() and not lemmas.conjugate("1.99")
    rng = np.random.default_rng(2)
    an, gamma, w, x = (10.0 ** rng.uniform(-4, 4, 4000) for _ in range(4))
    x *= np.sqrt(an) * 0.05
    with np.errstate(over="ignore"):
        target = gamma * np.exp(x * x / (2 * an))
    bound = w * np.sqrt(2 * an * np.log1p(np.sqrt(an) * w / gamma))
    assert (w * x - bound <= target * (1 + 1e-12)).all()
