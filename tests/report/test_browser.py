"""Pages in a real browser: no complaint, nothing wider than the window, readable by day and by night, reached by keyboard."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from burkholder.cli.app import app

ROOT = Path(__file__).parents[2]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files",
    "--enable-logging=stderr",
]
REPORTS = {
    "learn": (["learn", "clicks.csv", "--target", "-1"], 4),
    "learner": (["learn", "clicks.csv", "--target", "-1", "--learner", "adagrad", "--option", "radius=3"], 4),
    "experts": (["experts", "forecasts.csv", "--target", "load"], 2),
    "intervals": (["intervals", "forecasts.csv", "--yhat", "gfs", "--target", "load"], 4),
    "compare": (["compare", "forecasts.csv", "--a", "gfs", "--b", "ecmwf", "--target", "load"], 1),
}  # a report by its command, and how many charts it has
SITE = ["start", "howto", "api/Auto"]
WIDTHS, LOOKS = (390, 1280), ("light", "dark")

# Frames are as wide as the windows would be; what is inside a box that scrolls by itself may be wider.
_PROBE = """<!doctype html><meta name="color-scheme" content="light dark"><body><pre id="out"></pre><script>
const pages = %s, told = {};
const close = (a, b) => a <= b + 1;
function looked(page, view, width) {
  const out = {}, all = [...page.querySelectorAll('body *')], seen = item => item.checkVisibility({visibilityProperty: true});
  const scrolls = item => { for (let up = item.parentElement; up; up = up.parentElement)
    if (/auto|scroll|hidden|clip/.test(view.getComputedStyle(up).overflowX)) return true; return false; };
  out.overflow = page.documentElement.scrollWidth - page.documentElement.clientWidth;
  out.wide = all.filter(item => seen(item) && !close(item.getBoundingClientRect().right, width) && !scrolls(item))
    .map(item => item.outerHTML.slice(0, 80));
  const body = view.getComputedStyle(page.body);
  [out.paper, out.ink] = [body.backgroundColor, body.color];
  if (/, 0\\)$/.test(out.paper)) out.paper = view.getComputedStyle(page.documentElement).backgroundColor;
  out.small = all.filter(item => seen(item) && !item.closest('svg, sup, sub, .headerlink') && item.innerText && !item.children.length
    && parseFloat(view.getComputedStyle(item).fontSize) < 11).map(item => item.outerHTML.slice(0, 80));
  const boxes = all.filter(item => /auto|scroll/.test(view.getComputedStyle(item).overflowX) && item.scrollWidth > item.clientWidth + 1);
  const wanted = [...page.querySelectorAll('a[href], button, summary, input, .chart'), ...boxes].filter(seen);
  out.wanted = wanted.length;
  out.unreached = wanted.filter(item => { item.focus(); return page.activeElement !== item || item.tabIndex < 0 && !boxes.includes(item); })
    .map(item => item.outerHTML.slice(0, 80));
  out.skips = [...page.querySelectorAll('a[href], button')].slice(0, 1)
    .some(item => item.hash && page.querySelector(item.hash) !== null || item.closest('#pst-skip-link') !== null);
  out.charts = [...page.querySelectorAll('.chart')].map(figure => {
    const plot = [...figure.querySelectorAll('.plot')].find(plot => plot.getBoundingClientRect().width > 0), own = {};
    const box = plot.getBoundingClientRect(), key = name => new view.KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true});
    own.ready = figure.dataset.ready;
    own.lengths = [...plot.querySelectorAll('path.line')].map(path => path.getTotalLength());
    own.outside = [...plot.querySelectorAll('text')].filter(text => { const own = text.getBoundingClientRect();
      return !close(box.left, own.left) || !close(own.right, box.right); }).map(text => text.textContent);
    const says = () => figure.querySelector('.now').textContent;
    own.before = says();
    figure.dispatchEvent(key('Home'));
    own.first = says();
    figure.dispatchEvent(key('ArrowRight'));
    own.second = says();
    own.cursor = figure.querySelector('.cursor').getAttribute('visibility');
    return own;
  });
  return out;
}
(async () => {
  for (const [name, url, width] of pages) {
    const frame = document.createElement('iframe');
    frame.style = `width:${width}px;height:4000px;border:0`;
    frame.src = url;
    const loaded = new Promise(done => frame.onload = done);
    document.body.append(frame);
    await loaded;
    await new Promise(done => setTimeout(done, 200));
    told[name + ' ' + width] = looked(frame.contentDocument, frame.contentWindow, width);
    frame.remove();
  }
  document.getElementById('out').textContent = JSON.stringify(told);
})();
</script></body>"""


def _reports(folder: Path) -> dict[str, Path]:
    """The pages of four commands, about small files."""
    rng = np.random.default_rng(0)
    x, load = rng.standard_normal((600, 3)), 5.0 + rng.standard_normal(600).cumsum() * 0.1
    label = np.where(x @ [1.0, -1.0, 0.5] + rng.standard_normal(600) > 0, 1, -1)
    rows = [f"{a:.5g},{'red' if c > 0 else 'blue'},{b:.5g},{y}" for (a, b, c), y in zip(x, label)]
    (folder / "clicks.csv").write_text("\n".join(["size & weight,colour,b,target", *rows]) + "\n")
    rows = [f"{y:.4f},{y + e:.4f},{y + 0.5:.4f}" for y, e in zip(load, x[:, 0])]
    (folder / "forecasts.csv").write_text("\n".join(["load,gfs,ecmwf", *rows]) + "\n")
    found = {}
    for name, (arguments, _) in REPORTS.items():
        found[name] = folder / f"{name}.html"
        placed = [str(folder / word) if word.endswith(".csv") else word for word in arguments]
        ran = CliRunner().invoke(app, [*placed, "--report", str(found[name])])
        assert ran.exit_code == 0, (ran.output, ran.exception)
    return found


def _site(folder: Path) -> dict[str, Path]:
    """The pages of the documentation, built as the site is but for its gallery and most of its reference."""
    if any(find_spec(name) is None for name in ("sphinx", "myst_parser", "pydata_sphinx_theme")):
        return {}
    kept = ["index.md", "start.md", "howto.md", "conf.py", "reference.py", "pictures.py"]
    (folder / "docs").mkdir()
    for name in kept:
        shutil.copy(ROOT / "docs" / name, folder / "docs" / name)
    shutil.copytree(ROOT / "docs" / "pictures", folder / "docs" / "pictures")
    more = ["-D", "extensions=myst_parser", "-D", "exclude_patterns=api/[!A]*,api/A[!u]*,more.md", "-d", str(folder / "trees")]
    built = [sys.executable, "-m", "sphinx", "-Q", "-b", "html", *more, str(folder / "docs"), str(folder / "site")]
    subprocess.run(built, check=True, capture_output=True, timeout=300)
    return {name: folder / "site" / f"{name}.html" for name in SITE}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    if BROWSER is None:
        pytest.skip("no Chromium on this machine")
    folder = tmp_path_factory.mktemp("pages")
    return {**_reports(folder), **_site(folder)}


@pytest.fixture(scope="module", params=LOOKS)
def visit(request: pytest.FixtureRequest, pages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any, str]:
    """One look at every page in both widths: (light or dark, what was seen, what the browser said)."""
    assert BROWSER is not None
    folder = tmp_path_factory.mktemp("visit")
    probe = folder / "probe.html"
    probe.write_text(_PROBE % json.dumps([(name, path.as_uri(), width) for name, path in pages.items() for width in WIDTHS]))
    look = f"--blink-settings=preferredColorScheme={LOOKS[::-1].index(request.param)}"
    given = [f"--user-data-dir={folder / 'profile'}", "--window-size=1400,4200", "--virtual-time-budget=60000", "--dump-dom"]
    ran = subprocess.run([BROWSER, *FLAGS, look, *given, probe.as_uri()], capture_output=True, text=True, timeout=300)
    found = html.unescape(ran.stdout.split('<pre id="out">')[1].split("</pre>")[0])
    assert found, ran.stderr
    return request.param, json.loads(found), ran.stderr


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*REPORTS, *SITE])
def test_a_page_is_readable_and_reached_by_keyboard(name: str, width: int, visit: tuple[str, Any, str], pages: dict[str, Path]) -> None:
    if name not in pages:
        pytest.skip("the packages that build the site are not installed")
    look, found, _ = visit
    told = found[f"{name} {width}"]
    assert told["overflow"] <= 0 and told["wide"] == [] and told["small"] == []
    assert told["unreached"] == [] and told["wanted"] >= 2 and told["skips"]
    dark, light = sorted((_light(told["paper"]), _light(told["ink"])))
    assert dark < 0.3 and light > 0.7 and (_light(told["paper"]) == dark) == (look == "dark")
    assert len(told["charts"]) == (REPORTS[name][1] if name in REPORTS else 0)
    for chart in told["charts"]:
        assert chart["ready"] == "yes" and min(chart["lengths"]) > 30.0 and chart["outside"] == []
        assert len({chart["before"], chart["first"], chart["second"]}) == 3 and chart["cursor"] == "visible"


def test_no_page_makes_the_browser_complain(visit: tuple[str, Any, str]) -> None:
    """Errors and warnings are not told apart here; the site's theme alone says which mode it takes."""
    said = [line for line in visit[2].splitlines() if "CONSOLE" in line]
    assert [line for line in said if f'"[PST]: Changed to auto mode using the {visit[0]} theme."' not in line] == []


def _light(colour: str) -> float:
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 765.0
