"""The Python of README and docs runs as printed, in order, given the data that a page says the reader has; the map is true."""

from __future__ import annotations

import doctest
import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import burkholder as bk
from burkholder.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


class Still:
    """A model that predicts 0 and never learns."""

    def predict(self, x: Any) -> float:
        return 0.0

    def update(self, x: Any, y: float) -> None:
        pass


def given(page: str) -> dict[str, Any]:
    """What the page's reader has: data, models, files in the current folder."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    names: dict[str, Any] = {"bk": bk, "X": X, "F": X, "y": np.clip(X @ [0.5, -0.2, 0.1], -1, 1), "w": [0.5, -0.2, 0.1]}
    if page == "README.md":
        shutil.copy(str(files("burkholder") / "data" / "elec.csv.gz"), "elec.csv.gz")
    if page == "docs/formats.md":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.table({"price": [1.0, 2.0], "size": [3.0, 4.0]}), "prices.parquet")
        Path("clicks.vw.gz").write_text("1 |f a b:2\n-1 |f c\n")  # known by its content, not by its name
    if page == "docs/integrations.md":
        from river import dummy, stats

        names["y"] = np.sign(X[:, 0])
        names |= {
            "more_X": X,
            "more_y": names["y"],
            "model_one": dummy.StatisticRegressor(stats.Mean()),
            "model_two": dummy.StatisticRegressor(stats.Max()),
        }
    if page == "docs/martingales.md":
        names["MyLearner"] = Still
    if page == "docs/matrix.md":
        names |= {"users": ["ann", "bob"], "items": ["alien", "heat"], "ratings": [5, 2], "X": np.eye(50, 80), "y": 0.5}
    if page == "docs/saving.md":
        Path("prices.csv").write_text("size,city,price\n3,Rome,7\n,Oslo,9\n")
        CliRunner().invoke(
            app, ["learn", "prices.csv", "--target", "price", "--learner", "adagrad", "--loss", "absolute", "--save", "prices.bk"]
        )
        shards = [bk.Learner("adagrad", loss="absolute") for _ in range(2)]
        for shard in shards:
            shard.run(X, names["y"])
        names |= {"learner": shards[0], "learner_of_shard_1": shards[0], "learner_of_shard_2": shards[1]}
    if page == "docs/serve.md":
        from serving import listening

        names |= {"url": listening("state", bk.Auto(loss="logistic")), "token": None}
    return names


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search((ROOT / page).read_text(encoding="utf-8"))])
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = given(page)
    for place, block in enumerate(BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))):
        if block.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(block, names, f"{page} block {place}", page, 0)
            assert doctest.DocTestRunner().run(test).failed == 0
            continue
        if page == "docs/experts.md" and "ModelExperts" in block:
            names |= {"x": {"load_yesterday": 1.0}, "y": 2.5}
        exec(compile(block, f"{page} block {place}", "exec"), names)


TYPED = [page for page in PAGES if re.search(r"^\$ (?:z?cat .*)?burkholder ", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)]
ELSEWHERE = {"serve", "warm", "discover", "check", "sharp", "tight", "verify"}  # wait, take long, or need a file of one's own: own tests


@pytest.mark.parametrize("page", [page for page in TYPED if page not in ("docs/serve.md", "docs/verify.md", "docs/sharp.md")])
def test_what_a_page_types_works_as_printed(page, tmp_path, monkeypatch):
    """Every line behind a `$`, in order, in a folder that `burkholder examples` filled."""
    monkeypatch.chdir(tmp_path)
    run(["examples"])
    for line in re.findall(r"^\$ (.+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE):
        words = shlex.split(line, comments=True)
        given = None
        if "|" in words:
            content = Path(words[1]).read_bytes()
            given = gzip.decompress(content) if words[0] == "zcat" else content
            words = words[words.index("|") + 1 :]
        if words[0] != "burkholder" or words[1] in ELSEWHERE:
            continue
        file = words[-1] if ">" in words else ""
        words = words[: words.index(">")] if file else words
        said = run([*words[1:], *(["--force"] if words[1] == "examples" else [])], given)
        if file:
            Path(file).write_text(said)


def run(words, given=None):
    """What a command writes to standard output; it must end well."""
    done = CliRunner().invoke(app, words, input=given)
    assert done.exit_code == 0, (words, done.output, done.exception)
    return done.stdout


def test_the_map_names_files_that_exist():
    """Every path in CONTRIBUTING.md, from the root, the package or a package in it; and the way of a row has ten hops."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w./]+(?:\.py|/))`", text)
    assert len(named) > 20
    for path in named:
        assert (ROOT / path).exists() or (ROOT / "src/burkholder" / path).exists() or (ROOT / "src" / path).exists(), path
    hops = re.findall(r"^\| (\d+) \| .* \| `([\w/]+\.py)` \|$", text, re.MULTILINE)
    assert [int(number) for number, _ in hops] == list(range(1, 11)) and len({path for _, path in hops}) == 10


def test_a_row_passes_every_hop_of_the_map(tmp_path):
    """The files of the map are those that run when a row is learned: each is imported by that very command."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    hops = re.findall(r"^\| \d+ \| .* \| `([\w/]+)\.py` \|$", text, re.MULTILINE)
    command = re.search(r"^`burkholder (learn prices\.csv .*?)`", text, re.MULTILINE)
    assert command is not None
    (tmp_path / "prices.csv").write_text("size,price\n3,7\n2,5\n4,9\n")
    code = "import sys\nfrom burkholder.cli import main\ntry:\n    main()\nfinally:\n    print(*sys.modules, sep='\\n')\n"
    done = subprocess.run(
        [sys.executable, "-c", code, *command[1].split(), "--quiet"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {"burkholder." + hop.replace("/", ".") for hop in hops} <= set(done.stdout.split())


@pytest.fixture(scope="module")
def first_screen():
    """What `burkholder learn` says here."""
    code = "from burkholder.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, "learn"], env=ENVIRONMENT, capture_output=True, text=True, check=True).stderr


NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_the_first_screen_is_what_the_command_prints(page, first_screen):
    """Word for word; digits of what Auto reaches beyond the third are the processor's, as sums of lanes are rounded in its own order."""
    shown = re.search(r"^\$ burkholder learn  .*\n((?:.+\n)+?)```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert shown is not None
    lines, printed = shown[1].splitlines(), first_screen.splitlines()
    start = printed.index(lines[0])
    assert len(lines) == 5
    for line, beside in zip(lines, printed[start : start + 5], strict=True):
        assert [*NUMBER.sub("#", line).split()] == [*NUMBER.sub("#", beside).split()]
        for one, other in zip(NUMBER.findall(line), NUMBER.findall(beside)):
            near = 0.1 if f"{one}%" in line else 1e-3
            assert float(one.replace(",", "")) == pytest.approx(float(other.replace(",", "")), rel=0.0, abs=near), (line, beside)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *PAGES[1:]])
def test_links_lead_somewhere(page):
    """Files of the tree, and headings in them; pages that the site makes are checked when it is built."""
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)):
        path, _, heading = link.partition("#")
        if re.match(r"https?:|mailto:", link) or path.startswith(("api/", "examples/")):
            continue
        found = (ROOT / page).parent / path if path else ROOT / page
        assert found.exists(), link
        if heading:
            titles = re.findall(r"^#+ (.+)$", found.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}, link


def test_the_site_is_searched_for_links_that_lead_nowhere(tmp_path):
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        from links import broken
    finally:
        sys.path.pop(0)
    (tmp_path / "api").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="top"></h1><a href="api/a.html#here">a</a><a href="#top">t</a><a href="https://x.y/z">z</a><img src="p.png">'
    )
    (tmp_path / "api" / "a.html").write_text('<p id="here"></p><a href="../index.html#bottom">b</a><a href="gone.html">g</a>')
    assert broken(tmp_path) == ["api/a.html: ../index.html#bottom", "api/a.html: gone.html", "index.html: p.png"]
    (tmp_path / "p.png").write_bytes(b"")
    (tmp_path / "api" / "a.html").write_text('<p id="here"></p><a href="../index.html#top">b</a>')
    assert broken(tmp_path) == []
