"""Intervals beside their peers, the coverage promise against an adversary, and confidence sequences beside confseq.

    python bench/intervals.py series [--only tuning|sealed] [--rounds 5000] [--names a,b]
    python bench/intervals.py adversary [--rounds 1000000]
    python bench/intervals.py confidence [--repeat 10000]

Needs the data folder (BURKHOLDER_DATA); peers that are not installed are named and left out. Everything that is compared is measured
in this one process: the first 200 rounds calibrate everybody and are not scored.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

import burkholder as bk

START, WINDOW = 200, 500
COVERAGES = (0.8, 0.9, 0.95)


def winkler(low: np.ndarray, high: np.ndarray, y: np.ndarray, coverage: float) -> float:
    alpha = 1.0 - coverage
    outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return float(np.mean(high - low + 2.0 / alpha * outside))


def worst(inside: np.ndarray, coverage: float) -> float:
    """The coverage of the window that is farthest from the target."""
    sums = np.concatenate([[0.0], np.cumsum(inside)])
    seen = (sums[WINDOW:] - sums[:-WINDOW]) / WINDOW
    return float(seen[np.argmax(np.abs(seen - coverage))]) if len(seen) else math.nan


def geometric(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def one_series(name: str, rounds: int) -> list[dict[str, float]]:
    import intervals_data
    import intervals_peers

    _, X, y, yhat = intervals_data.series(name)
    X, y, yhat = X[:rounds], y[:rounds], yhat[:rounds]
    out = []
    for coverage in COVERAGES:
        scored = slice(START, None)
        scores, windows = {}, {}
        for peer, found in intervals_peers.all_of(X, y, yhat, coverage, START):
            if isinstance(found, str):
                print(f"    {peer}: {found}")
                continue
            low, high = found
            scores[peer] = winkler(low[scored], high[scored], y[scored], coverage)
            windows[peer] = worst(((low <= y) & (y <= high))[scored], coverage)
        given = bk.Intervals(coverage, model=X.shape[1]).run(np.column_stack([X, yhat]), y, trace=0)
        own = bk.Intervals(coverage).run(X, y, trace=0)
        best = min(scores, key=scores.__getitem__)
        inside = (given.low <= y) & (y <= given.high)
        late = inside[2000:] if len(y) >= 2500 else inside[:0]
        row = {
            "ratio": winkler(given.low[scored], given.high[scored], y[scored], coverage) / scores[best],
            "own": winkler(own.low[scored], own.high[scored], y[scored], coverage) / scores[best],
            "coverage": float(inside.mean()),
            "late": float(late.mean()) if len(late) else math.nan,
            "bound": given.certificate.coverage_bound,
            "own coverage": own.certificate.coverage,
            "window": abs(worst(inside[scored], coverage) - coverage),
            "windows": float(np.mean([abs(w - coverage) for w in windows.values()])),
            "best window": min(abs(w - coverage) for w in windows.values()),
            "target": coverage,
        }
        listed = ", ".join(f"{peer} {score / scores[best]:.3f}" for peer, score in sorted(scores.items(), key=lambda item: item[1]))
        print(f"{name:14} {coverage:.2f}  ÷ best ({best}): {row['ratio']:.3f}, own forecast {row['own']:.3f}; coverage"
              f" {row['coverage']:.4f} (after 2,000: {row['late']:.4f}, promised ±{row['bound']:.4f}); worst {WINDOW}: off by"
              f" {row['window']:.3f}, peers"
              f" {row['windows']:.3f} on average, {row['best window']:.3f} best", flush=True)  # fmt: skip
        print(f"    peers: {listed}", flush=True)
        out.append(row)
    return out


def series(only: str | None, rounds: int, names: str | None) -> None:
    import intervals_data

    groups = {"tuning": intervals_data.TUNING, "sealed": intervals_data.SEALED}
    for group, members in groups.items():
        if only not in (None, group):
            continue
        wanted = [name for name in members if names is None or name in names.split(",")]
        rows = [row for name in wanted for row in one_series(name, rounds)]
        if not rows:
            continue
        after = [abs(row["late"] - row["target"]) for row in rows if not math.isnan(row["late"])]
        print(f"== {group}: {len(wanted)} series x {len(COVERAGES)} coverages")
        print(f"   interval score / best peer, same point forecasts: geometric mean {geometric([r['ratio'] for r in rows]):.3f}, "
              f"worst {max(r['ratio'] for r in rows):.3f}; with our own: {geometric([r['own'] for r in rows]):.3f}")  # fmt: skip
        print(f"   coverage after 2,000 rounds off by at most {max(after, default=math.nan):.4f}; promise broken: "
              f"{sum(abs(r['coverage'] - r['target']) > r['bound'] for r in rows)} times")  # fmt: skip
        print(f"   worst {WINDOW} rounds off by {np.nanmean([r['window'] for r in rows]):.3f} on average, peers "
              f"{np.nanmean([r['windows'] for r in rows]):.3f}, the best peer of each "
              f"{np.nanmean([r['best window'] for r in rows]):.3f}")  # fmt: skip


def adversary(rounds: int) -> None:
    """Scores chosen against the tracker, within a range: the deviation reached, and the one promised."""
    from burkholder.intervals import tracker
    from burkholder.machine.compiling import compiled

    settle, correction, surplus = tracker.settle, tracker.correction, tracker.surplus

    @compiled
    def attack(account, level, size, way, rounds):  # type: ignore[no-untyped-def]
        for _ in range(rounds):
            q = correction(surplus(account, level))
            # 0: as far out as it goes; 1: as deep inside; 2: just out of reach while that is possible, then deep inside
            score = size if way == 0 else (-size if way == 1 else (min(size, q + 1e-9) if q < size else -size))
            settle(account, score, 1.0, 0.0, score <= q, 1.0, account[0] + account[1], 0)

    steps = [1] * 2000 + [max(1, rounds // 1000)] * 998
    for level in COVERAGES:
        for size in (1.0, 5.0, 50.0):
            for way, words in enumerate(("far outside", "deep inside", "just outside, then deep inside")):
                account, broken, closest, t = tracker.empty(), 0, 0.0, 0
                for step in steps:
                    attack(account, level, size, way, step)
                    t += step
                    promised, off = tracker.promise(account, level), tracker.coverage(account) - level
                    broken += not -promised.low <= off <= promised.high
                    if t > 30:
                        sides = ((-off, promised.low, level), (off, promised.high, 1.0 - level))
                        closest = max([closest, *(reached / side for reached, side, most in sides if side < 0.999 * most)])
                print(f"level {level:.2f}, scores within {size:g} widths, {words}: {t:,} rounds, promise broken {broken} times; "
                      f"the adversary reached {closest:.2f} of it", flush=True)  # fmt: skip


def confidence(repeat: int) -> None:
    """Widths beside confseq's, error rates, and cost."""
    import confidence_peers

    confidence_peers.compare_widths()
    confidence_peers.error_rate(repeat)
    confidence_peers.cost()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("series", "adversary", "confidence"))
    parser.add_argument("--only", choices=("tuning", "sealed"))
    parser.add_argument("--names")
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--repeat", type=int, default=10_000)
    given = parser.parse_args()
    began = time.perf_counter()
    if given.what == "series":
        series(given.only, given.rounds or 5000, given.names)
    elif given.what == "adversary":
        adversary(given.rounds or 1_000_000)
    else:
        confidence(given.repeat)
    print(f"{time.perf_counter() - began:.0f} s")
