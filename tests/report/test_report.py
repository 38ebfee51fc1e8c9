"""The report: whole without any other file, and honest in its numbers; test_browser.py has it drawn."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse

from burkholder import losses
from burkholder.cli.session import Asked, Session
from burkholder.cli.telling import result
from burkholder.report import baselines, charts
from burkholder.report.recorder import Recorder


def _session(
    folder: Path,
    learner: str = "adagrad",
    options: tuple[str, ...] = ("radius=3",),
    rows: int = 600,
    loss: str | None = None,
    skip_bad: bool = False,
) -> tuple[Session, str]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] + rng.standard_normal(rows) > 0, 1, -1)
    data = folder / "stream <b>.csv"
    data.write_text(
        "\n".join(["size & weight,colour,b,target", *(f"{x[0]:.5g},{'red' if x[2] > 0 else 'blue'},{x[1]:.5g},{t}" for x, t in zip(X, y))])
        + "\n"
    )
    recorder = Recorder(str(folder / "report.html"))
    session = Session(
        data=str(data), name=str(data), reading={"intercept": True}, asked=Asked(loss, learner, options), quiet=True, recorder=recorder
    )
    session.run()
    recorder.write(session, result(session))
    return session, (folder / "report.html").read_text()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Session, str, Path]:
    folder = tmp_path_factory.mktemp("report")
    return *_session(folder), folder / "report.html"


class _Page(HTMLParser):
    """Everything a page could fetch, and whether its tags close."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href") and value]
        if tag not in ("meta", "link", "br", "!doctype"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.links += [value for name, value in attrs if name in ("src", "href") and value]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_is_self_contained_and_well_formed(report: Any) -> None:
    _, text, path = report
    page = _Page()
    page.feed(text)
    assert not page.open and path.stat().st_size < 2_000_000
    assert set(page.links) <= {"data:,", "#main"} and "url(" not in text and "@import" not in text and "http" not in text
    assert "stream &lt;b&gt;.csv" in text and "<b>.csv" not in text
    headings = ("Progressive loss", "Certificate over time", "Potential", "Confusion", "Calibration", "Largest weights", "Assumptions")
    for heading in (*headings, "Settings and environment"):
        assert f"{heading}</h2>" in text
    assert "size &amp; weight" in text and "held" in text


def _curves(text: str, key: str) -> dict[str, list[tuple[float, float]]]:
    import html

    found = re.search(rf'id="{key}".*?data-chart=\'(.*?)\'', text, re.S)
    assert found is not None
    return {line["name"]: [tuple(point) for point in line["points"]] for line in json.loads(html.unescape(found[1]))["lines"]}


def test_curves_are_the_run(report: Any) -> None:
    session, text, _ = report
    loss, regret = _curves(text, "loss"), _curves(text, "certificate")
    assert loss["adagrad"][-1] == (600.0, pytest.approx(session.mean_loss))
    assert len(loss["adagrad"]) == 24 and _curves(text, "potential")["potential U(ζ)"][-1][1] == pytest.approx(session.learner.potential())
    final = {item.name: item.value for item in session.learner.certificate().guarantees}
    for name, value in final.items():
        assert regret[name][-1] == (600.0, pytest.approx(value))
    had = regret["regret had, against the best comparator found"]
    bound = dict(regret["realised regret"])
    assert len(had) == 24 and all(value <= bound[n] + 1e-9 for n, value in had)
    constant, linear = loss["best constant in hindsight"][-1][1], loss["best linear in hindsight"][-1][1]
    assert linear < constant and had[-1][1] == pytest.approx(600.0 * (session.mean_loss - linear))


def test_report_changes_nothing(tmp_path: Path) -> None:
    from burkholder.storage import pack

    watched, _ = _session(tmp_path)
    plain = Session(data=watched.data, name="x", reading={"intercept": True}, asked=Asked(None, "adagrad", ["radius=3"]), quiet=True)
    plain.run()
    assert pack(plain.learner) == pack(watched.learner)


@pytest.mark.parametrize(
    ("learner", "options", "loss"),
    [("adaptive", (), None), ("square-function-l4", ("bound=3",), "absolute"), ("zigzag", (), "hinge"), ("auto", (), None)],
)
def test_other_learners_have_reports(tmp_path: Path, learner: str, options: tuple[str, ...], loss: str | None) -> None:
    _, text = _session(tmp_path, learner, options, 200, loss)
    page = _Page()
    page.feed(text)
    assert not page.open and "nan" not in text.lower().replace("nanum", "") and len(_curves(text, "loss")) >= 2


# --- baselines ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", list(losses.LOSSES))
def test_best_constant(name: str) -> None:
    rng = np.random.default_rng(4)
    y, weight, loss = rng.standard_normal(40) * 3 + 1, rng.random(40), losses.get(name)
    if losses.is_classification(loss):
        y = np.sign(y)

    def cost(c: float) -> float:
        return sum(w * losses.value(loss, c, t) for w, t in zip(weight, y))

    assert baselines.best_constant(loss, y, weight) == pytest.approx(
        min(optimize.minimize_scalar(cost, bounds=span, method="bounded").fun for span in ((-9, 9), (-3, 3), (0, 2))), rel=1e-4
    )


@pytest.mark.parametrize(("box", "ball"), [(None, None), (0.4, None), (None, 0.5)])
@pytest.mark.parametrize("name", ["squared", "logistic", "huber"])
def test_best_linear_is_near_the_best(name: str, box: float | None, ball: float | None) -> None:
    import cvxpy as cp

    rng = np.random.default_rng(5)
    X, loss = rng.standard_normal((80, 4)) * [1.0, 1.0, 3.0, 0.2], losses.get(name)
    y = X @ [1.0, -0.5, 0.3, 0.0] + rng.standard_normal(80)
    y = np.sign(y) if name == "logistic" else y
    w, found = baselines.best_linear(loss, sparse.csr_matrix(X), y, np.ones(80), box, ball)
    v = cp.Variable(4)
    residual = X @ v - y
    cost = {
        "squared": cp.sum_squares(residual),
        "logistic": cp.sum(cp.logistic(-cp.multiply(y, X @ v))),
        "huber": cp.sum(cp.huber(residual, 1.0)) / 2,
    }[name]
    limits = ([cp.norm_inf(v) <= box] if box else []) + ([cp.norm(v) <= ball] if ball else [])
    best = cp.Problem(cp.Minimize(cost), limits).solve(solver="CLARABEL")
    assert best * (1 - 1e-6) <= found <= best * 1.001
    assert box is None or np.abs(w).max() <= box * (1 + 1e-12)
    assert ball is None or np.linalg.norm(w) <= ball * (1 + 1e-12)


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.93), (-3.0, 17.0), (5.0, 5.0), (1e-7, 3e-7), (-1e9, 1e12)])
def test_ticks_cover(low: float, high: float) -> None:
    for ticks in (charts.nice_ticks(low, high), charts.wide_ticks(low, high)):
        assert ticks == sorted(ticks) and ticks[0] <= low + 1e-12 and ticks[-1] >= high - 1e-9 * abs(high) and len(ticks) <= 30


def test_a_regret_is_drawn_only_to_the_comparators_the_certificate_speaks_of(tmp_path: Path) -> None:
    """Auto's comparators are not those of the solver: a line of regret to others could lie above the realised one."""
    session, text = _session(tmp_path, "auto", ())
    lines = _curves(text, "certificate")
    assert set(lines) == {item.name for item in session.learner.certificate().guarantees if "regret" in item.name}
    assert "may be none of them" in text and "regret had" not in text and "best linear in hindsight" in _curves(text, "loss")


def test_a_class_nobody_has_is_no_row_of_the_confusion(tmp_path: Path) -> None:
    data, page = tmp_path / "kinds.csv", tmp_path / "kinds.html"
    data.write_text("a,kind\n" + "".join(f"{k % 3},{'xyz'[k % 3]}\n" for k in range(60)))
    from typer.testing import CliRunner

    from burkholder.cli.app import app

    done = CliRunner().invoke(app, ["learn", str(data), "--target", "kind", "--report", str(page), "--quiet"])
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert re.findall(r">was (\w+)<", text) == ["x", "y", "z"] and "said nothing yet" in text


@pytest.mark.parametrize("rows", [5, 40, 3000])
def test_the_coverage_lately_is_a_curve_however_short_the_run(rows: int) -> None:
    from burkholder.report.bands import WINDOW, lately

    hits = np.arange(rows) % 3 > 0
    window, at, share = lately(hits)
    assert window <= min(WINDOW, rows / 2) and len(at) == len(share) >= rows / 2
    assert share[-1] == pytest.approx(hits[-window:].mean()) and at[-1] == rows
