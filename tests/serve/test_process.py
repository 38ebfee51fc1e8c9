"""The command itself: killed at any moment it has lost nothing, asked to stop it stops in good order, a browser sees it live."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

import burkholder as bk

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PORT = 18473 + os.getpid() % 5000


def command(folder, *options):
    start = [sys.executable, "-c", "from burkholder.cli import main; main()", "serve"]
    return [*start, "--store", str(folder), "--port", str(PORT), *options]


@contextmanager
def process(folder, *options):
    """The service in a process of its own, ready; it is killed if it still runs."""
    running = subprocess.Popen(command(folder, *options), stderr=subprocess.PIPE, text=True)
    lines = []
    try:
        for line in running.stderr:
            lines.append(line)
            if '"ready"' in line:
                break
        else:
            raise AssertionError("".join(lines))
        yield running, lines
    finally:
        running.kill()
        running.wait()
        running.stderr.close()


def client(**options):
    return bk.Client(f"http://127.0.0.1:{PORT}", retries=8, **options)


def test_killed_it_goes_on_where_it_was_and_stopped_it_exits_with_0(tmp_path):
    options = ("--loss", "logistic", "--learner", "square-function", "--option", "geometry=l2")
    with process(tmp_path / "s", *options) as (running, lines), client() as asked:
        first = asked.predict([1.0, 2.0], id="a")
        asked.learn([[1.0, 0.5], [0.3, 2.0]], [1, 0])
        waits = asked.predict([1.0, 2.0], id="b")
        asked.label("a", 1)
        before = asked.certificate()
        running.send_signal(signal.SIGKILL)
    with process(tmp_path / "s", *options) as (running, lines), client() as asked:
        assert asked.certificate() == before
        assert asked.predict([1.0, 2.0], id="a") == first and asked.predict([1.0, 2.0], id="b") == waits
        asked.label("b", 1)
        taken = subprocess.run(command(tmp_path / "other", *options), capture_output=True, text=True)
        told = [json.loads(line) for line in taken.stderr.splitlines() if not line.startswith("compiling")]
        assert taken.returncode > 0 and "already in use" in told[0]["event"] and told[-1]["event"] == "stopped"
        running.send_signal(signal.SIGTERM)
        rest = running.stderr.read()
        assert running.wait(20) == 0
    said = [json.loads(line) for line in [*lines, *rest.splitlines()] if line.strip() and not line.startswith("compiling")]
    assert [line["event"] for line in said][-1] == "stopped" and all("time" in line for line in said)
    empty = subprocess.run(command(tmp_path / "empty"), capture_output=True, text=True)
    assert empty.returncode == 1 and "it holds no model yet" in empty.stderr and "Traceback" not in empty.stderr
    wrong = subprocess.run(command(tmp_path / "s", "--loss", "hinge"), capture_output=True, text=True)
    assert wrong.returncode == 1 and "its model was made from" in wrong.stderr and "Traceback" not in wrong.stderr


@pytest.mark.skipif(find_spec("granian") is None, reason="granian is not installed")
def test_granian_may_speak_http(tmp_path):
    options = ("--loss", "logistic", "--learner", "square-function", "--option", "geometry=l2", "--server", "granian")
    with process(tmp_path / "s", *options) as (running, _), client() as asked:
        asked.label(asked.predict([1.0, 2.0], id="a").id, 1)
        assert asked.certificate()["rounds"] == 1
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) == 0
    wrong = subprocess.run(command(tmp_path / "s", "--server", "apache"), capture_output=True, text=True)
    assert wrong.returncode == 1 and "uvicorn and granian" in wrong.stderr


@pytest.mark.skipif(BROWSER is None, reason="no browser here")
def test_a_browser_sees_the_numbers(tmp_path):
    with process(tmp_path / "s", "--loss", "logistic", "--learner", "square-function", "--option", "geometry=l2"), client() as asked:
        asked.learn([[1.0, k % 7] for k in range(321)], [k % 2 for k in range(321)])
        asked.predict([1.0, 2.0])
        time.sleep(1.2)  # a moment of the curve
        quiet = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'browser'}", "--virtual-time-budget=4000"]
        look = [BROWSER, *quiet, "--enable-logging=stderr", "--dump-dom", f"http://127.0.0.1:{PORT}/"]
        seen = subprocess.run(look, capture_output=True, text=True, timeout=120)
        page = seen.stdout
        assert ":CONSOLE" not in seen.stderr  # nothing failed, nothing was kept from loading
        told = asked.certificate()
    tiles = dict(re.findall(r'id="tile-(\w+)">([^<]*)<', page))
    assert tiles["rounds"] == "321" and tiles["pending"] == "1"
    assert float(tiles["mean"]) == pytest.approx(told["mean_loss"], rel=1e-3)
    assert len(re.findall(r"<circle", page)) >= 1 and 'data-curve="realised"' in page and ">live<" in page
