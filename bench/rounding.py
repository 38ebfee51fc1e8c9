"""What rounding costs a certificate on an ordinary stream: the number told, less the same number made with a unit of rounding of 0.

    python bench/rounding.py [--rounds 10000000] [--only Auto …]

Everything is charged in multiples of u = 2⁻⁵³ where a certificate is made; with u = 0 the same sums give the number without its charge.
Below 1e-9 of the summed losses it is of no consequence. Streams are played in blocks, so that memory does not grow with them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import burkholder as bk

BLOCK = 100_000
UNIT = 2.0**-53


@contextmanager
def exactly() -> Iterator[None]:
    """Certificates as if nothing were ever rounded: the unit is 0 in every module that knows it."""
    changed = [
        (module, name, value)
        for key, module in list(sys.modules.items())
        if key.startswith("burkholder.")
        for name, value in list(vars(module).items())
        if type(value) is float and value == UNIT
    ]
    assert len(changed) > 3, "nobody knows the unit of rounding by its value any more"
    try:
        for module, name, _ in changed:
            setattr(module, name, 0.0)
        yield
    finally:
        for module, name, value in changed:
            setattr(module, name, value)


# --- streams: blocks of (rows, labels) -------------------------------------------------------------------------------------
def features(kind: str) -> Callable[[np.random.Generator, int], tuple[Any, Any]]:
    w = np.random.default_rng(1).normal(size=10)

    def block(rng: np.random.Generator, rows: int) -> tuple[Any, Any]:
        X = rng.normal(size=(rows, 10))
        y = X @ w + rng.normal(size=rows)
        if kind == "signs":
            y = np.sign(y)
        elif kind == "classes":
            y = np.digitize(y, (-2.0, 2.0)).tolist()
        return X, y

    return block


def forecasts(rng: np.random.Generator, rows: int) -> tuple[Any, Any]:
    y = rng.normal(size=rows)
    return y[:, None] + rng.normal(size=(rows, 5)), y


def opinions(rng: np.random.Generator, rows: int) -> tuple[Any, Any]:
    p = rng.dirichlet(np.ones(3), size=(rows, 3))
    return p, rng.integers(0, 3, rows).tolist()


def chances(rng: np.random.Generator, rows: int) -> tuple[Any, Any]:
    return list(rng.dirichlet(np.ones(3), size=rows)), rng.integers(0, 3, rows).tolist()


def ratings(rng: np.random.Generator, rows: int) -> tuple[Any, Any]:
    i, j = rng.integers(0, 200, rows), rng.integers(0, 100, rows)
    return list(zip(i.tolist(), j.tolist())), np.clip(np.round(3 + rng.normal(size=rows)), 1, 5)


def keyed(rng: np.random.Generator, rows: int) -> tuple[Any, Any]:
    X, y = features("numbers")(rng, rows)
    return list(zip(rng.integers(0, 20, rows).tolist(), X.tolist())), y


def entries(rng: np.random.Generator, rows: int) -> tuple[Any, Any]:
    return list(zip(rng.integers(0, 60, rows).tolist(), rng.integers(0, 50, rows).tolist())), rng.uniform(-1, 1, rows)


class Audited:
    """The labels' own mean as a model, audited."""

    def __init__(self) -> None:
        self.audit = bk.Audit("absolute")

    def learn_many(self, X: Any, y: Any) -> None:
        self.audit.run(X, np.full(len(y), 0.1), y)

    def certificate(self) -> Any:
        return self.audit.certificate()


def _merged() -> Any:
    parts = [bk.Auto("absolute", effort="light", full_features=0) for _ in range(2)]
    for k, part in enumerate(parts):
        part.learn_many(*features("numbers")(np.random.default_rng(k), 1000))
    return bk.Merged(parts)


LEARNERS: dict[str, tuple[Callable[[], Any], Callable[..., Any]]] = {
    "Learner adagrad, hinge": (lambda: bk.Learner("adagrad", loss="hinge"), features("signs")),
    "Learner square-function, absolute": (lambda: bk.Learner("square-function", loss="absolute"), features("numbers")),
    "Audit, absolute": (Audited, features("numbers")),
    "Auto, logistic": (lambda: bk.Auto("logistic", effort="light"), features("signs")),
    "Auto, squared": (lambda: bk.Auto("squared", effort="light"), features("numbers")),
    "Auto, absolute": (lambda: bk.Auto("absolute", effort="light"), features("numbers")),
    "AutoMulticlass": (bk.AutoMulticlass, features("classes")),
    "Experts, absolute": (lambda: bk.Experts("absolute"), forecasts),
    "Experts, squared": (lambda: bk.Experts("squared"), forecasts),
    "Experts, levels": (lambda: bk.Experts(quantiles=(0.1, 0.5, 0.9)), forecasts),
    "Probabilities, log": (lambda: bk.Probabilities("log"), opinions),
    "Probabilities, brier": (lambda: bk.Probabilities("brier"), opinions),
    "Intervals": (lambda: bk.Intervals(0.9, model=0), features("numbers")),
    "Quantiles": (lambda: bk.Quantiles((0.1, 0.9), model=0), features("numbers")),
    "PredictionSets": (lambda: bk.PredictionSets(0.9), chances),
    "MatrixCompletion": (bk.MatrixCompletion, ratings),
    "MatrixLearner": (lambda: bk.MatrixLearner(60, 50, radius=2.0), entries),
    "Keyed, own": (lambda: bk.Keyed(bk.Learner("adagrad", loss="absolute"), pooled=False), keyed),
    "Keyed, helped": (lambda: bk.Keyed(bk.Learner("adagrad", loss="absolute")), keyed),
    "Merged, Auto": (_merged, features("numbers")),
}
ASKED = ("realised", "corrected", "bound")


def numbers(learner: Any) -> list[float]:
    """The three numbers of a certificate made now."""
    certificate = learner.certificate()
    return [getattr(certificate, name)() for name in ASKED]


def cost(name: str, rounds: int) -> tuple[list[float], float]:
    """(what each of the three numbers was charged, over the summed losses; processor seconds)."""
    make, block = LEARNERS[name]
    learner, rng, began = make(), np.random.default_rng(0), time.process_time()
    for start in range(0, rounds, BLOCK):
        learner.learn_many(*block(rng, min(BLOCK, rounds - start)))
    spent = time.process_time() - began
    told, total = numbers(learner), learner.certificate().cumulative_loss
    with exactly():
        plain = numbers(learner)
    return [(a - b) / total if np.isfinite(a) and np.isfinite(b) else np.nan for a, b in zip(told, plain)], spent


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=10_000_000)
    options.add_argument("--only", nargs="+", default=[""], help="learners whose names begin so")
    given = options.parse_args()
    print(f"{given.rounds:,} rounds; charged for rounding ÷ summed losses")
    print(f"{'':36s}" + "".join(f"{name:>12s}" for name in ASKED) + f"{'seconds':>10s}", flush=True)
    worst = 0.0
    for name in LEARNERS:
        if name.startswith(tuple(given.only)):
            found, spent = cost(name, given.rounds)
            worst = max(worst, *(share for share in found if share == share), 0.0)
            print(f"{name:36s}" + "".join(f"{share:12.1e}" for share in found) + f"{spent:10.1f}", flush=True)
    print(f"worst {worst:.1e}")
    sys.exit(worst > 1e-9)


if __name__ == "__main__":
    main()
