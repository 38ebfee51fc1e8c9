"""Dict samples, one at a time: `Learner.predict(x)` then `Learner.update(x, y)`, beside river's logistic regression.

    python bench/dicts.py
    python bench/dicts.py --learners adagrad square-function --widths 10

"dict of 10": the same ten names in every sample, as from a table; "sparse dict of 10": ten of five hundred; "parsed":
each sample has strings of its own for its names, as JSON lines bring them. Every contestant is timed as a user would type
the loop. Processor time of one core is measured, the passes of all contestants
interleaved, the best of each kept, so that a busy machine disturbs ratios little. Losses are progressive.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from burkholder import Learner
from engine import planted

AT_MOST = 0.5  # of river's time
KINDS = ("", "sparse ", "parsed ")
LEARNERS = (
    "adagrad", "square-function", "square-function-coordinates", "adagrad-norm", "adaptive", "parameter-free", "smoothness", "mixture",
)  # fmt: skip


def settings(name: str, width: int) -> dict[str, Any]:
    """Options in the units of the data: features of size 1, weights of size 2/√width."""
    root = math.sqrt(width)
    by_name = {
        "adagrad": {"radius": 3.0 / root}, "square-function-coordinates": {"radius": 3.0 / root},
        "square-function": {"radius": 2.0}, "adagrad-norm": {"radius": 2.0}, "smoothness": {"strength": 200.0},
        "parameter-free": {"feature_bound": 2.2 * root},
    }  # fmt: skip
    return by_name.get(name, {})


def sampled(rounds: int, width: int, pool: int) -> tuple[list[dict[str, float]], list[float]]:
    """`rounds` samples of `width` names out of `pool` times as many; labels ±1 from a logistic model, margins of size 2."""
    x, _ = planted(rounds, width, pool * width, seed=1)
    rng = np.random.default_rng(2)
    margin = x @ (rng.standard_normal(pool * width) * 2.0 / math.sqrt(width))
    y = np.where(margin + rng.logistic(size=rounds) > 0.0, 1.0, -1.0)
    names = [f"feature {i}" for i in range(pool * width)]
    rows = np.split(x.indices, x.indptr[1:-1]), np.split(x.data, x.indptr[1:-1])
    samples = [dict(zip([names[i] for i in where], values.tolist(), strict=True)) for where, values in zip(*rows, strict=True)]
    return samples, y.tolist()


def learn_ours(learner: Learner, samples: list[dict[str, float]], labels: list[float]) -> None:
    for x, y in zip(samples, labels, strict=True):
        learner.predict(x)
        learner.update(x, y)


def learn_river(model: Any, samples: list[dict[str, float]], labels: list[bool]) -> None:
    for x, y in zip(samples, labels, strict=True):
        model.predict_proba_one(x)
        model.learn_one(x, y)


def river_loss(model: Any, samples: list[dict[str, float]], labels: list[bool]) -> float:
    """The progressive loss, in a pass that is not timed."""
    total = 0.0
    for x, y in zip(samples, labels, strict=True):
        p = model.predict_proba_one(x)[True]
        total -= math.log(max(p if y else 1.0 - p, 1e-300))
        model.learn_one(x, y)
    return total / len(labels)


def clock(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def contest(names: list[str], rounds: int, width: int, kind: str, passes: int) -> list[dict[str, Any]]:
    from river import linear_model, optim

    from burkholder.river import BurkholderClassifier

    def theirs() -> Any:
        return linear_model.LogisticRegression(optim.SGD(0.05))

    def wrapped() -> Any:
        return BurkholderClassifier("adagrad", intercept=False, options=settings("adagrad", width))

    samples, labels = sampled(rounds, width, 50 if "sparse" in kind else 1)
    if "parsed" in kind:
        samples = [json.loads(json.dumps(x)) for x in samples]
    classes = [y > 0.0 for y in labels]
    best: dict[str, float] = {}
    loss = {"river": river_loss(theirs(), samples, classes)}

    def note(name: str, seconds: float) -> None:
        best[name] = min(best.get(name, math.inf), seconds)

    for one in range(passes + 1):
        few = slice(0, 20 if one == 0 else rounds)  # first: compiled before anything is timed
        note_one = note if one else lambda *_: None
        note_one("river", clock(partial(learn_river, theirs(), samples[few], classes[few])))
        for name in names:
            learner = Learner(name, loss="logistic", **settings(name, width))
            note_one(name, clock(partial(learn_ours, learner, samples[few], labels[few])))
            loss[name] = learner.cumulative_loss / max(1, learner.rounds)
        if "adagrad" in names:
            note_one("adagrad in river's own interface", clock(partial(learn_river, wrapped(), samples[few], classes[few])))
    return [
        {
            "work": f"{kind}dict of {width}, {name}", "microseconds_per_round": seconds / rounds * 1e6, "loss": loss.get(name),
            "time_over_river": seconds / best["river"], "at_most": None if name == "river" or "interface" in name else AT_MOST,
        }
        for name, seconds in best.items()
    ]  # fmt: skip


def show(table: list[dict[str, Any]]) -> None:
    for entry in table:
        loss = "" if entry["loss"] is None else f"loss {entry['loss']:.4f}"
        missed = "  MISSED" if entry["at_most"] is not None and entry["time_over_river"] > entry["at_most"] else ""
        speed = f"{entry['microseconds_per_round']:8.2f} µs  ÷ river {entry['time_over_river']:.3f}"
        print(f"{entry['work']:<52}{speed}  {loss}{missed}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--widths", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--learners", nargs="+", default=LEARNERS)
    parser.add_argument("--out", type=Path, default=Path("out/dicts.json"))
    options = parser.parse_args()
    table: list[dict[str, Any]] = []
    for kind in KINDS:
        for width in options.widths:
            part = contest(options.learners, options.rounds, width, kind, options.passes)
            show(part)
            table += part
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
