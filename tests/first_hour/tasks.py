"""Thirty tasks of a first hour: what one wants, the command or the lines of Python that do it, and what must be true afterwards.

`docs/first-hour.md` is this list as a table; a test compares the two.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Done(NamedTuple):
    """What a task left behind: standard output, everything printed, and the names a piece of Python made."""

    out: str
    said: str
    names: dict[str, Any]


class Task(NamedTuple):
    want: str
    how: str
    true: Callable[[Done], bool]

    @property
    def name(self) -> str:
        return self.want.lower().replace(" ", "-")

    @property
    def python(self) -> bool:
        return not self.how.startswith("burkholder ")


def lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def told(done: Done) -> dict[str, Any]:
    return json.loads(done.out.splitlines()[-1])


def seen_by(user: str) -> set[str]:
    return {line.split(",")[1] for line in lines("ratings.csv") if line.startswith(f"{user},")}


TASKS = [
    Task("Learn from a file", "burkholder learn load.csv --target load", lambda d: "best constant" in d.said and "guaranteed" in d.said),
    Task(
        "Learn two classes given as words",
        "burkholder learn churn.csv --target churned --json",
        lambda d: told(d)["classes"] == ["no", "yes"],
    ),
    Task(
        "Learn several classes",
        "burkholder learn flowers.csv --target kind --json",
        lambda d: sorted(told(d)["classes"]) == ["iris", "rose", "tulip"] and told(d)["error_rate"] < 0.3,
    ),
    Task(
        "Learn several classes given as numbers",
        "burkholder learn digits.csv --target digit --multiclass --json",
        lambda d: sorted(told(d)["classes"]) == ["0", "1", "2"],
    ),
    Task(
        "Weigh a rare class",
        "burkholder learn churn.csv --target churned --class-weight balanced --json",
        lambda d: told(d)["mean_loss"] > 0.0,
    ),
    Task(
        "Write probabilities",
        "burkholder learn churn.csv --target churned --predictions p.txt --proba",
        lambda d: all(0.0 < float(p) < 1.0 for p in lines("p.txt")) and len(lines("p.txt")) == 300,
    ),
    Task("Save a model", "burkholder learn churn.csv --target churned --save churn.bk", lambda d: Path("churn.bk").stat().st_size > 0),
    Task(
        "Predict rows without a target",
        "burkholder predict churn.bk new.csv",
        lambda d: len(d.out.splitlines()) == 3 and set(d.out.split()) <= {"yes", "no"},
    ),
    Task(
        "Predict probabilities", "burkholder predict churn.bk new.csv --proba", lambda d: all(0.0 < float(p) < 1.0 for p in d.out.split())
    ),
    Task("Predict as JSON", "burkholder predict churn.bk new.csv --json", lambda d: "prediction" in json.loads(d.out.splitlines()[0])),
    Task(
        "Go on learning",
        "burkholder learn week.csv --load churn.bk --json",
        lambda d: (told(d)["rounds"], told(d)["rounds_today"]) == (350, 50),
    ),
    Task(
        "Read JSON lines",
        "burkholder learn events.jsonl --target load --json",
        lambda d: told(d)["rounds"] == 300 and told(d)["features"] == 2,
    ),
    Task("Read Feather or Arrow", "burkholder learn load.feather --target load --json", lambda d: told(d)["rounds"] == 280),
    Task(
        "Skip rows without a target",
        "burkholder learn load.csv --target load --json",
        lambda d: told(d)["unlabelled"] == 20 and told(d)["bad_lines"] == 0,
    ),
    Task(
        "Read decimal commas",
        "burkholder learn german.csv --target preis --json",
        lambda d: told(d)["features"] == 1 and told(d)["loss"] == "squared",
    ),
    Task(
        "Use dates as features",
        "row, _ = next(iter(bk.read('load.csv', target='load')))",
        lambda d: {"when", "when=hour 0", "when=Monday", "when=January", "temp"} == set(d.names["row"]),
    ),
    Task(
        "Leave dates alone",
        "row, _ = next(iter(bk.read('load.csv', target='load', dates=False)))",
        lambda d: set(d.names["row"]) == {"when=2024-01-01 00:00", "temp"},
    ),
    Task(
        "Forecast a quantile",
        "burkholder learn load.csv --target load --loss pinball --option quantile=0.9 --predictions q.txt --quiet",
        lambda d: len(lines("q.txt")) == 280,
    ),
    Task("See the whole certificate", "burkholder learn churn.csv --target churned --details", lambda d: "realised regret" in d.said),
    Task(
        "Draw a report",
        "burkholder learn churn.csv --target churned --report r.html",
        lambda d: "Calibration" in Path("r.html").read_text(),
    ),
    Task(
        "Combine forecasts",
        "burkholder experts prices.csv --target price --together date --json",
        lambda d: told(d)["experts"] == ["a", "b"] and told(d)["left_out"] == ["hour"] and told(d)["together"],
    ),
    Task("Be told when labels come together", "burkholder experts prices.csv --target price", lambda d: "--together date" in d.said),
    Task(
        "Save expert advice",
        "burkholder experts prices.csv --target price --together date --save prices.bk --report prices.html",
        lambda d: Path("prices.bk").exists() and "</html>" in Path("prices.html").read_text(),
    ),
    Task(
        "Forecast tomorrow",
        "burkholder experts prices-tomorrow.csv --load prices.bk --predictions t.txt",
        lambda d: len(lines("t.txt")) == 24 and all(math.isfinite(float(p)) for p in lines("t.txt")),
    ),
    Task(
        "Complete ratings",
        "burkholder complete ratings.csv --save films.bk --json",
        lambda d: told(d)["rows"] == 5 and Path("films.bk").exists(),
    ),
    Task(
        "Recommend",
        "burkholder complete ratings.csv --top ann --count 2 --json",
        lambda d: len(told(d)["top"]["ann"]) == 2 and not {item for item, _ in told(d)["top"]["ann"]} & seen_by("ann"),
    ),
    Task(
        "Learn from a pandas or polars frame",
        "frame = pandas.read_csv('load.csv', parse_dates=['when']).dropna()\n"
        "run = bk.Auto('absolute').run(frame[['temp', 'when']], frame['load'])",
        lambda d: len(d.names["run"].predictions) == 280,
    ),
    Task(
        "Missing values in scikit-learn",
        "from burkholder.sklearn import BurkholderClassifier\n"
        "frame = pandas.read_csv('churn.csv')\n"
        "model = BurkholderClassifier().fit(frame[['visits', 'spent']], frame['churned'])",
        lambda d: (
            bool(d.names["frame"]["spent"].isna().any())
            and d.names["model"].score(d.names["frame"][["visits", "spent"]], d.names["frame"]["churned"]) > 0.8
        ),
    ),
    Task(
        "Learn from a late label",
        "learner = bk.Auto('squared')\nticket = learner.play({'temp': 3.0})\nlearner.reveal(ticket.id, 5.0)",
        lambda d: d.names["learner"].rounds == 1 and d.names["learner"].pending == 0,
    ),
    Task(
        "Audit somebody else's model",
        "burkholder audit predictions.csv --target load --yhat model --loss absolute --json",
        lambda d: math.isfinite(told(d)["realised_regret_bound"]),
    ),
]


def page() -> str:
    """The table of the docs."""
    head = (
        "# Thirty first-hour tasks\n\n`burkholder examples` writes the files: after it, every line does what it says as it is "
        "printed, in this order. "
        "Lines of Python\nstand behind `import burkholder as bk, pandas`. Each line is run by a test (`tests/first_hour`).\n\n"
        "| to | do | test |\n|---|---|---|\n"
    )
    rows = []
    for task in TASKS:
        how = "<br>".join(f"`{line}`" for line in task.how.splitlines())
        rows.append(f"| {task.want} | {how} | `test_task[{task.name}]` |")
    return head + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")
