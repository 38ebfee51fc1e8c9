"""Pages of intervals and quantiles: every level beside what it covered, whole without any other file, titles never taken for markup."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import burkholder as bk
from burkholder.cli.app import app
from burkholder.report import write_quantiles

RNG = np.random.default_rng(8)
N = 700
X = RNG.uniform(0, 5, (N, 2))
Y = 2 * X[:, 0] + X[:, 0] * RNG.normal(size=N)
WEIGHT = RNG.choice([0.5, 1.0, 4.0], N)


class Links(HTMLParser):
    """Everything a page could fetch, and every tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.found += [value for name, value in attrs if name in ("src", "href", "xlink:href") and value]


def alone(text: str) -> None:
    page = Links(text)
    assert set(page.found) <= {"data:,", "#main"} and "url(" not in text and "@import" not in text and "http" not in text
    assert "b" not in page.tags  # titles here hold <b>


def curves(text: str, key: str) -> dict[str, list[tuple[float, float]]]:
    found = re.search(rf'id="{key}".*?data-chart=\'(.*?)\'', text, re.S)
    assert found is not None
    return {line["name"]: [tuple(point) for point in line["points"]] for line in json.loads(html.unescape(found[1]))["lines"]}


def histogram(text: str) -> list[tuple[str, str]]:
    part = text.partition("Histogram over the levels (PIT)")[2].partition("</section>")[0]
    return re.findall(r'class="name">(.*?)</span>.*?class="value">(.*?)</span>', part)


@pytest.mark.parametrize("levels", [(0.5,), (0.1, 0.4, 0.9), tuple(k / 20 for k in range(1, 20))])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_every_level_of_quantiles_is_on_the_page(tmp_path: Path, levels: tuple[float, ...], weight: np.ndarray | None) -> None:
    run = bk.Quantiles(levels).run(X, Y, weight)
    write_quantiles(str(tmp_path / "page.html"), run, "load <b> & price")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    alone(text)
    assert "load &lt;b&gt; &amp; price</h1>" in text
    drawn = curves(text, "calibration")
    seen = [float(np.average(run.quantiles[:, k] >= Y, weights=weight)) for k in range(len(levels))]
    assert drawn["at or below"] == [pytest.approx(pair) for pair in zip(levels, seen)]
    assert drawn["asked for"] == [(edge, edge) for edge in (0.0, *levels, 1.0)]
    for k, level in enumerate(levels):
        off = run.certificate.of(level).coverages[0]["coverage_bound"]
        low, high = drawn["promised, at least"][k][1], drawn["promised, at most"][k][1]
        assert low == pytest.approx(max(0.0, level - off)) and high == pytest.approx(min(1.0, level + off))
        assert low <= seen[k] <= high
    parts = np.diff([0.0, *seen, 1.0]) / np.diff([0.0, *levels, 1.0])
    bars = histogram(text)
    assert bars[-1] == ("as asked for", "1") and len(bars) == len(levels) + 2
    assert [float(value) for _, value in bars[:-1]] == pytest.approx(parts.tolist(), abs=2e-3)
    assert bars[0][0] == f"at or below {levels[0]:g}" and bars[-2][0] == f"above {levels[-1]:g}"
    assert ("Width</h2>" in text) == (len(levels) > 1)


def test_a_promise_over_other_rounds_is_not_drawn(tmp_path: Path) -> None:
    learner = bk.Quantiles((0.1, 0.9))
    learner.run(X[:300], Y[:300])
    write_quantiles(str(tmp_path / "page.html"), learner.run(X[300:], Y[300:]))
    assert set(curves((tmp_path / "page.html").read_text(encoding="utf-8"), "calibration")) == {"at or below", "asked for"}


def test_a_run_of_nothing_has_a_page(tmp_path: Path) -> None:
    write_quantiles(str(tmp_path / "page.html"), bk.Quantiles((0.1, 0.9)).run(np.zeros((0, 2)), np.zeros(0)))
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Nothing to draw" in text and "Calibration" not in text and "Histogram" not in text


def test_both_ends_of_intervals_are_on_the_page(tmp_path: Path) -> None:
    data, page, out = tmp_path / "load <b>.vw", tmp_path / "page.html", tmp_path / "out.csv"
    data.write_text("".join(f"{y!r} {w!r} | a:{x[0]!r} b:{x[1]!r}\n" for x, y, w in zip(X.tolist(), Y.tolist(), WEIGHT.tolist())))
    done = CliRunner().invoke(app, ["learn", str(data), "--intervals", "0.8", "--report", str(page), "--predictions", str(out), "--quiet"])
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    alone(text)
    assert "load &lt;b&gt;.vw" in text
    played = np.loadtxt(out, delimiter=",", skiprows=1)
    seen = [float(np.average(played[:, column] >= Y, weights=WEIGHT)) for column in (1, 2)]
    assert curves(text, "calibration")["at or below"] == [pytest.approx((level, share)) for level, share in zip((0.1, 0.9), seen)]
    told = [float(value) for _, value in histogram(text)]
    assert told == pytest.approx([seen[0] / 0.1, (seen[1] - seen[0]) / 0.8, (1.0 - seen[1]) / 0.1, 1.0], rel=1e-3, abs=1e-6)
