"""The command line: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import gzip
import json
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from burkholder.cli import app as app_module
from burkholder.cli.app import COMMANDS, app
from burkholder.errors import BadInput, BadLine
from burkholder.learning.learner import Learner

RUN = [sys.executable, "-c", "from burkholder.cli import main; main()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
KEYS = {
    "data",
    "rounds",
    "features",
    "loss",
    "learner",
    "mean_loss",
    "error_rate",
    "bound",
    "realised_regret_bound",
    "potential",
    "assumptions",
    "seconds",
    "rounds_per_second",
}


def invoke(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def learned(*arguments):
    result = invoke("learn", *arguments, "--learner", "adagrad", "--json", "--quiet")
    assert result.exit_code == 0
    return json.loads(result.stdout.splitlines()[-1])


def command(*arguments, **options):
    return subprocess.run([*RUN, *map(str, arguments)], env=ENVIRONMENT, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 3))
    y = (x @ [1.0, -2.0, 0.5] > 0).astype(int)
    path = tmp_path / "table.csv"
    lines = [",".join(map(repr, row)) + f",{label}" for row, label in zip(x.tolist(), y.tolist())]
    path.write_text("a,b,c,target\n" + "\n".join(lines) + "\n")
    return path, x, y


# --- learn ------------------------------------------------------------------------------------------------


def test_learn_is_the_learner(table):
    path, x, y = table
    result = learned(path)
    learner = Learner("adagrad", loss="logistic", intercept=True)
    run = learner.run(x, y)
    certificate = run.certificate
    assert result.keys() >= KEYS
    assert (result["rounds"], result["features"], result["loss"], result["complete"]) == (400, 3, "logistic", True)
    assert result["mean_loss"] == pytest.approx(run.mean_loss, rel=1e-12)
    assert result["error_rate"] == pytest.approx(np.mean(run.predictions * (2 * y - 1) <= 0), abs=1e-12)
    assert result["bound"] == pytest.approx(certificate.bound(), rel=1e-9)
    assert result["realised_regret_bound"] == pytest.approx(certificate.realised(), rel=1e-9)
    assert result["potential"] == pytest.approx(certificate.potential, rel=1e-9)
    assert result["data"] == str(path) and len(result["assumptions"]) == len(certificate.assumptions)
    wide = learned(path, "--option", "radius=3")
    assert wide["radius"] == 3.0 and wide["bound"] == pytest.approx(
        Learner("adagrad", loss="logistic", intercept=True, radius=3.0).run(x, y).certificate.bound(), rel=1e-9
    )


def test_the_default_learner(table):
    path, _, y = table
    result = json.loads(invoke("learn", path, "--json", "--quiet").stdout.splitlines()[-1])
    assert result.keys() >= KEYS and result["learner"] == "auto" and result["rounds"] == 400
    base = np.mean(y)
    assert result["mean_loss"] < -base * math.log(base) - (1 - base) * math.log(1 - base)  # better than no features


def test_the_shipped_stream():
    result = learned()
    assert result["rounds"] == 45_312 and result["features"] == 6 and result["loss"] == "logistic"
    assert 0.0 < result["mean_loss"] < math.log(2.0)


def test_no_intercept(table):
    path, x, y = table
    run = Learner("adagrad", loss="logistic").run(x, y)
    assert learned(path, "--no-intercept")["mean_loss"] == pytest.approx(run.mean_loss, rel=1e-12)


def test_regression_in_the_targets_own_units(table, tmp_path):
    _, x, _ = table
    y = 50.0 + x @ [1.0, 2.0, 3.0]
    path = tmp_path / "regression.csv"
    path.write_text("a,b,c,price\n" + "".join(",".join(map(repr, [*row, t])) + "\n" for row, t in zip(x.tolist(), y.tolist())))
    result = learned(path, "--target", "price", "--predictions", tmp_path / "out")
    predictions = np.loadtxt(tmp_path / "out")
    assert result["loss"] == "squared" and result["error_rate"] is None
    assert result["mean_loss"] == pytest.approx(np.mean((predictions - y) ** 2), rel=1e-9)


def test_importance_weights_weigh_the_mean(tmp_path):
    path = tmp_path / "w.vw"
    path.write_text("1 3 | a b:2\n-1 1 | a c\n1 0.5 | b\n" * 20)
    result = learned(path, "--predictions", tmp_path / "out", "--loss", "logistic")
    y, weight = np.tile([1.0, -1.0, 1.0], 20), np.tile([3.0, 1.0, 0.5], 20)
    loss = np.logaddexp(0.0, -y * np.loadtxt(tmp_path / "out"))
    assert result["mean_loss"] == pytest.approx((weight * loss).sum() / weight.sum(), rel=1e-9)


def test_the_first_pass_is_the_honest_one(table):
    path, *_ = table
    once, thrice = learned(path), learned(path, "--passes", 3)
    assert thrice["rounds"] == 1200 and thrice["mean_loss"] == once["mean_loss"]
    assert thrice["error_rate"] == once["error_rate"] and thrice["cumulative_loss"] > once["cumulative_loss"]


def test_malformed_lines_are_refused_or_counted(table):
    path, *_ = table
    path.write_text(path.read_text() + "1,2\n0.1,0.2,0.3,7\n")
    with pytest.raises(BadLine, match="line 402: 2 fields"):
        learned(path)
    result = learned(path, "--skip-bad", "--loss", "logistic")
    assert result["rounds"] == 400 and result["bad_lines"] == 2


def test_formats_agree(table, tmp_path):
    path, x, y = table
    svm = tmp_path / "same.svm"
    svm.write_text("".join(f"{t} " + " ".join(f"{k}:{v!r}" for k, v in enumerate(row)) + "\n" for row, t in zip(x.tolist(), y)))
    np.savez(tmp_path / "same.npz", X=x, y=y)
    losses = {learned(file)["mean_loss"] for file in (path, svm, tmp_path / "same.npz")}
    assert max(losses) == pytest.approx(min(losses), rel=1e-12)


def test_wide_rows(tmp_path):
    # Rows far wider than any buffer a learner starts with.
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((40, 300)), rng.choice([-1, 1], 40)
    path = tmp_path / "wide.svm"
    lines = [f"{t} " + " ".join(f"{k}:{v!r}" for k, v in enumerate(row)) for row, t in zip(x.tolist(), y.tolist())]
    path.write_text("\n".join(lines))
    run = Learner("adagrad", loss="logistic", intercept=True).run(x, y)
    assert learned(path)["mean_loss"] == pytest.approx(run.mean_loss, rel=1e-12)


REFUSED = {
    "loss": ["--loss", "sqared"],
    "learner": ["--learner", "adagard"],
    "option": ["--option", "radius"],
    "radius": ["--radius", "-1"],
    "target": ["--target", "targt"],
    "format": ["--format", "cvs"],
    "bits": ["--bits", "99"],
}


@pytest.mark.parametrize(("argument", "options"), REFUSED.items())
def test_wrong_arguments_are_named(table, argument, options):
    with pytest.raises(BadInput) as caught:
        invoke("learn", table[0], "--learner", "adagrad", *options)
    assert caught.value.argument == argument


# --- how it ends --------------------------------------------------------------------------------------------


def test_errors_are_one_line_and_the_page_that_helps_and_exit_code_1(tmp_path):
    (tmp_path / "sales.csv").write_text("date,store,amount\n2024-01-01,a,5\n")
    done = command("learn", "sales.csv", "--target", "amout", "--learner", "adagrad", "--json", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    said = done.stderr.removeprefix("compiling for this machine, once\n")  # if this is the first use of the reader
    assert said.startswith("Error: ") and "Did you mean 'amount'?" in said
    assert said.splitlines()[1:] == ["More: docs/formats.md"]


def test_a_cut_off_file_gives_no_result(tmp_path):
    data = gzip.compress("".join(f"{i % 2} 1:{i}\n" for i in range(50_000)).encode())
    (tmp_path / "cut.svm.gz").write_bytes(data[: len(data) // 2])
    done = command("learn", "cut.svm.gz", "--learner", "adagrad", "--json", "--predictions", "out", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == "" and "end early" in done.stderr
    assert not (tmp_path / "out").exists() and (tmp_path / "out.partial").exists()


def test_standard_input(table):
    path, *_ = table
    done = command("learn", "-", "--learner", "adagrad", "--json", "--quiet", input=path.read_text())
    assert done.returncode == 0
    assert json.loads(done.stdout)["mean_loss"] == learned(path)["mean_loss"]
    with pytest.raises(BadInput, match="once only"):
        invoke("learn", "-", "--passes", 2, "--learner", "adagrad")


def test_ctrl_c_sums_up_what_was_learned(tmp_path):
    process = subprocess.Popen(
        [
            *RUN,
            "learn",
            "-",
            "--format",
            "libsvm",
            "--learner",
            "adagrad",
            "--loss",
            "logistic",
            "--json",
            "--predictions",
            str(tmp_path / "out"),
        ],
        env=ENVIRONMENT,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write("1 1:1\n-1 2:1\n" * 100)
    process.stdin.flush()
    # The pipe stays open: predictions on disk say that the rows were learned.
    partial = tmp_path / "out.partial"
    deadline = time.monotonic() + 120
    while process.poll() is None and not (partial.exists() and partial.read_text().count("\n") == 200):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        out, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and "INTERRUPTED" in error
    result = json.loads(out.splitlines()[-1])
    assert result["complete"] is False and result["rounds"] == 200
    assert not (tmp_path / "out").exists() and len(partial.read_text().splitlines()) == 200


def test_a_closed_output_pipe_ends_quietly(table):
    path, *_ = table
    line = " ".join(
        f"'{part}'" for part in [*RUN, "learn", str(path), "--learner", "adagrad", "--predictions", "-", "--quiet", "--passes", "1"]
    )
    done = subprocess.run(
        ["bash", "-c", f"{line} | true; echo ${{PIPESTATUS[0]}}"], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
    assert done.stdout.strip() != "0"


# --- the other commands ---------------------------------------------------------------------------------------


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from typer.testing import CliRunner; from burkholder.cli.app import app; "
        "print(CliRunner().invoke(app, ['--help']).stdout); "
        "print([name for name in ('numpy', 'numba', 'scipy', 'pandas', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]" and "learn" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name):
    if app_module.found(*COMMANDS[name]) is None:
        pytest.skip(f"{name} is not part of this build")
    result = invoke(name, "--help")
    assert result.exit_code == 0 and result.stdout.startswith("Usage:")


def test_an_absent_command_does_not_break_the_others(monkeypatch):
    monkeypatch.setitem(COMMANDS, "nonsense", ("no_such_module", "nonsense"))
    commands = app_module.build()
    names = {command.name for command in commands.registered_commands}
    assert "learn" in names and "nonsense" not in names


def test_list():
    from burkholder.experts import METHODS
    from burkholder.functions import CATALOGUE
    from burkholder.losses import LOSSES

    names = json.loads(invoke("list", "--json").stdout)
    assert names["functions"].keys() == CATALOGUE.keys() and names["losses"].keys() == LOSSES.keys()
    assert names["expert rules"].keys() == METHODS.keys()
    assert {"auto", "adagrad", "square-function"} <= names["learners"].keys()
    assert all(about.strip() for group in names.values() for about in group.values())
    text = invoke("list").stdout
    assert all(name in text for group in names.values() for name in group)


@pytest.mark.parametrize("learner", ["square-function", "adagrad", "adagrad-norm", "adaptive", "adaptive-coordinates", "mixture"])
def test_bound_is_what_such_a_stream_is_promised(learner):
    n, size, dim, radius = 50, 0.5, 2, 2.0
    told = json.loads(
        invoke("bound", "--learner", learner, "--rounds", n, "--norm", size, "--features", dim, "--radius", radius, "--json").stdout
    )
    separable = getattr(Learner(learner, loss="absolute").function, "separable", False)
    x = np.full(dim, size) if separable else np.array([size, 0.0])
    options = {"radius": radius} if learner in ("square-function", "adagrad", "adagrad-norm") else {}
    function = Learner(learner, loss="absolute", **options).function
    tau = function.zero(dim)
    for _ in range(n):
        tau = function.advance(tau, x, np.asarray(0.3), np.asarray(1.0))
    assert told["bound"] == pytest.approx(function.ball(radius, tau), rel=1e-9)
    text = invoke("bound", "--learner", learner, "--rounds", n, "--norm", size, "--features", dim, "--radius", radius).stdout
    assert f"{told['bound']:.6g}" in text


def test_bound_of_the_square_function_by_hand():
    told = json.loads(invoke("bound", "--rounds", 10_000, "--norm", 3, "--radius", 2, "--json").stdout)
    assert told["bound"] == pytest.approx(1.306929727 * 3 * 2 * 100, rel=1e-8)


@pytest.mark.parametrize("options", [["--learner", "auto"], ["--norm", "-1"], ["--radius", "0"], ["--learner", "nothing"]])
def test_bounds_that_cannot_be_stated(options):
    with pytest.raises(BadInput):
        invoke("bound", "--rounds", 10, *options)


def test_audit_by_hand(tmp_path):
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((3000, 2)), rng.standard_normal(3000)
    yhat = 0.3 * x[:, 0] + 0.1
    path = tmp_path / "p.csv"
    path.write_text("x1,x2,model,out\n" + "".join(",".join(map(repr, row)) + "\n" for row in np.c_[x, yhat, y].tolist()))
    delta = 2.0 * (yhat - y)
    features = np.c_[np.ones(3000), x]
    expected = delta @ yhat + 2.0 * np.linalg.norm(delta @ features)
    told = json.loads(invoke("audit", path, "--yhat", "model", "--target", "out", "--radius", 2, "--json").stdout)
    assert told["realised_regret_bound"] == pytest.approx(expected, rel=1e-9)
    assert told["mean_loss"] == pytest.approx(np.mean((yhat - y) ** 2), rel=1e-9) and told["rounds"] == 3000
    # It is a bound: no comparator of that size does better than it says.
    for w in rng.standard_normal((50, 3)):
        w *= 2.0 / np.linalg.norm(w)
        assert np.sum((yhat - y) ** 2) - np.sum((features @ w - y) ** 2) <= expected
    bare = json.loads(
        invoke("audit", path, "--yhat", "model", "--target", "out", "--no-intercept", "--geometry", "coordinates", "--json").stdout
    )
    assert bare["realised_regret_bound"] == pytest.approx(delta @ yhat + np.abs(delta @ x).sum(), rel=1e-9)
    assert "regret ≤" in invoke("audit", path, "--yhat", "model", "--target", "out").stdout


def test_an_audit_in_batches_is_the_audit_row_by_row():
    from burkholder.learning.audit import Audit

    rng = np.random.default_rng(4)
    x, yhat, y = rng.standard_normal((60, 3)), rng.standard_normal(60), rng.choice([-1.0, 1.0], 60)
    slow, fast = Audit(loss="logistic"), Audit(loss="logistic")
    for row, p, t in zip(x, yhat, y):
        slow.update((np.arange(3), row), p, t)
    for part in (slice(0, 25), slice(25, 60)):
        n = part.stop - part.start
        fast.run_batch(np.arange(n + 1) * 3, np.tile(np.arange(3), n), x[part].ravel(), yhat[part], y[part])
    one, other = slow.certificate(), fast.certificate()
    assert np.array_equal(one.evidence.g, other.evidence.g) and one.evidence.a == other.evidence.a
    assert one.cumulative_loss == other.cumulative_loss and one.rounds == other.rounds == 60
    with pytest.raises(BadInput, match=r"yhat\[1\]"):
        fast.run_batch([0, 1, 2], [0, 0], [1.0, 1.0], [0.0, math.nan], [1.0, 1.0])
    assert fast.certificate().to_dict() == other.to_dict()


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        ("x,yhat,y\n1,,2\n", [], "prediction 'yhat' is missing"),
        ("x,p,y\n1,2,2\n", ["--yhat", "q"], "no column 'q'"),
        ("x,yhat,y\n1,2,z\n1,2,3\n", [], "target 'y'"),
        ("yhat,y\n1,2\n", ["--no-intercept"], "no feature"),
        ("x,yhat,y\n1,2,3\n", ["--loss", "logistic"], "not a class"),
        ("x,yhat,y\n1,2,3\n", ["--radius", "0"], "radius"),
        ("x,yhat,y\n1,2,3\n", ["--yhat", "y"], "holds no predictions"),
    ],
)
def test_what_cannot_be_audited(tmp_path, text, options, error):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises((BadInput, BadLine), match=error):
        invoke("audit", path, *options)


def test_version():
    from burkholder import __version__

    assert invoke("--version").stdout.strip() == __version__


def test_the_numbers_side_by_side_are_about_the_same_comparators(tmp_path):
    """What is promised and what is realised are the learner's own, over one class that is named."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    y = np.where(X @ [1.0, -0.5] + 0.5 * rng.standard_normal(400) > 0, 1, 0)
    path = tmp_path / "rows.csv"
    path.write_text("a,b,target\n" + "\n".join(f"{a!r},{b!r},{t}" for (a, b), t in zip(X.tolist(), y.tolist())) + "\n")
    ran = CliRunner().invoke(app, ["learn", str(path), "--json", "--quiet", "--radius", "1"])
    told = json.loads(ran.output.splitlines()[-1])
    lines = {line["name"]: line for line in told["guarantees"]}
    assert lines["promised regret"]["comparators"] == lines["realised regret"]["comparators"] == told["comparators"]
    assert told["realised_regret_bound"] == lines["realised regret"]["value"] <= lines["promised regret"]["value"] == told["bound"]


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "burkholder", "--help"], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert "learn" in done.stdout and "predict" in done.stdout
