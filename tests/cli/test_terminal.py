"""What people read: lines broken between words at 80 columns on a terminal, and as they are, without colours, anywhere else."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading

import numpy as np
import pytest

from burkholder.cli.app import COMMANDS, app

COLUMNS = 80
CASES = {
    "learn": [["learn", "clicks.csv", "--target", "a long name of the target"], ["learn", "clicks.csv", "--target", "-1", "--details"]],
    "predict": [["predict", "model.bk", "clicks.csv"], ["predict", "model.bk", "clicks.csv", "--json"]],
    "experts": [
        ["experts", "forecasts.csv", "--target", "load"],
        ["experts", "forecasts.csv", "--target", "load", "--together", "date"],
        ["experts", "forecasts.csv", "--target", "load", "--together", "date", "--method", "boa"],
    ],
    "intervals": [["intervals", "forecasts.csv", "--yhat", "gfs", "--target", "load", *more] for more in ([], ["--details"])],
    "compare": [["compare", "forecasts.csv", "--a", "gfs", "--b", "ecmwf", "--target", "load"]],
    "complete": [["complete", "ratings.csv", *more] for more in ([], ["--details"], ["--top", "ann"])],
    "audit": [["audit", "forecasts.csv", "--yhat", "gfs", "--target", "load", "--loss", "absolute"]],
    "bound": [["bound", "--learner", "adagrad", "--rounds", "1000", "--features", "3"]],
    "inspect": [["inspect", "model.bk"]],
    "verify": [["verify", "square-function", "--exact", "--seconds", "1"]],
    "sharp": [["sharp", "--list"], ["sharp", "square-function-dyadic"]],
    "tight": [["tight", "square-function"]],
    "discover": [["discover", "--list"]],
    "check": [],  # its two lines are those of a certificate, which takes a discovery to make
    "serve": [],  # talks over HTTP
    "list": [["list"]],
    "examples": [["examples", "more", "--force"]],
    "warm": [["warm", "--quick"]],
}
RUNS = [pytest.param(arguments, id=" ".join(arguments)) for cases in CASES.values() for arguments in cases]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("terminal"), np.random.default_rng(0)
    x, load = rng.standard_normal((96, 2)), 5.0 + rng.standard_normal(96).cumsum() * 0.1
    clicks = ["first,second,a long name of the target", *(f"{a:.4f},{b:.4f},{int(a > b)}" for a, b in x)]
    (folder / "clicks.csv").write_text("\n".join(clicks) + "\n")
    rows = [f"{20240101 + t // 24},{load[t]:.3f},{load[t] + x[t, 0]:.3f},{load[t] + 0.5:.3f}" for t in range(96)]
    (folder / "forecasts.csv").write_text("\n".join(["date,load,gfs,ecmwf", *rows]) + "\n")
    ratings = ["user,item,rating", "ann,f0,5", "ann,f1,4", "bob,f0,2", "bob,f2,5", "cid,f3,1", "cid,f1,3"]
    (folder / "ratings.csv").write_text("\n".join(ratings) + "\n")
    with contextlib.chdir(folder):
        app(["learn", "clicks.csv", "--target", "-1", "--save", "model.bk", "--quiet"], standalone_mode=False)
    return folder


def shown(arguments, terminal):
    """What a command writes to standard output and to standard error, each a pseudo-terminal or a pipe."""
    ends = [os.openpty() if terminal else os.pipe() for _ in range(2)]
    texts: list[bytes] = [b"", b""]

    def drain(k):
        with contextlib.suppress(OSError):  # a terminal whose other end was closed says so this way
            while piece := os.read(ends[k][0], 65536):
                texts[k] += piece

    readers = [threading.Thread(target=drain, args=(k,)) for k in range(2)]
    for reader in readers:
        reader.start()
    out, err = (os.fdopen(end[1], "w", encoding="utf-8") for end in ends)
    with out, err, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert sys.stdout.isatty() == terminal
        app(arguments, standalone_mode=False)
    for reader, end in zip(readers, ends):
        reader.join()
        os.close(end[0])
    return [text.decode().replace("\r\n", "\n") for text in texts]


def words(text):
    """The words of a text, its numbers all alike: a run takes the time it takes."""
    return re.sub(r"\d[\d.,e+-]*", "#", text).split()


def test_no_command_is_forgotten():
    assert set(CASES) == set(COMMANDS)


@pytest.mark.parametrize("arguments", RUNS)
def test_lines_are_broken_between_words(arguments, home, monkeypatch):
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("TERM", "xterm-256color")
    plain, aside = shown(arguments, terminal=False)
    assert plain or aside
    assert not set("\x1b\r") & set(plain + aside)
    seen, aside = shown(arguments, terminal=True)
    assert words(seen) == words(plain)
    if "--json" in arguments:  # data stay whole
        assert seen.count("\n") == plain.count("\n")
        return
    told = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen + "\n" + aside)
    broken = [line for line in re.split(r"[\r\n]", told) if len(line) > COLUMNS and len(line.split()) > 1]
    assert broken == []


def test_an_error_is_broken_between_words_too(home, monkeypatch):
    from burkholder.cli import main

    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setattr(sys, "argv", ["burkholder", "learn", "clicks.csv", "--target", "a long name of the target that is not there"])
    left, right = os.openpty()
    with os.fdopen(right, "w", encoding="utf-8") as err, contextlib.redirect_stderr(err), pytest.raises(SystemExit):
        main()
    lines = os.read(left, 65536).decode().splitlines()
    os.close(left)
    assert lines[0].startswith("Error: ") and len(lines) > 1 and max(map(len, lines)) <= COLUMNS
