"""Confidence sequences beside confseq: widths, error rates, and the cost of a value.

confseq's closed forms ask when they shall be best; untuned means one answer for all lengths and laws (intrinsic time 10). Its
predictable plug-in asks nothing. Its beta-binomial mixture is for a constant mean.
"""

from __future__ import annotations

import math
import time

import numpy as np

import burkholder as bk

ALPHA = 0.05
LENGTHS = (100, 10_000, 1_000_000)
GRID = 201  # an odd number: the means below lie within cells, where a grid of candidates would prove nothing
SAMPLED = (
    ("Bernoulli(.5)", 0.5, lambda rng, n: (rng.random(n) < 0.5) * 1.0),
    ("Bernoulli(.01)", 0.01, lambda rng, n: (rng.random(n) < 0.01) * 1.0),
    ("uniform", 0.5, lambda rng, n: rng.random(n)),
)


def laws() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    n = max(LENGTHS)
    found = {"Bernoulli(.5)": (rng.random(n) < 0.5) * 1.0, "Bernoulli(.01)": (rng.random(n) < 0.01) * 1.0, "uniform": rng.random(n)}
    import intervals_data

    _, _, y, yhat = intervals_data.series("epex")
    losses = np.minimum(np.abs(y - yhat) / 100.0, 1.0)  # in [0, 1]: what lies beyond counts as 1
    found["real losses"] = np.resize(rng.permutation(losses), n)  # in random order: betting is for a constant mean
    return found


def ours(x: np.ndarray) -> float:
    """The closed form at the end of x, from its state."""
    from burkholder.confidence import sequence, wealth

    confidence = bk.Confidence(alpha=ALPHA)
    n, total = len(x), np.cumsum(x)
    guess = (0.5 + np.concatenate([[0.0], total[:-1]])) / np.arange(1, n + 1)
    confidence.state[: sequence.UP] = np.array([n, total[-1], 0.0, guess.sum(), 0.0])
    for start in range(0, n, 10_000):
        part = slice(start, start + 10_000)
        confidence.state[sequence.UP :] += wealth.bets(x[part], guess[part]).sum(axis=-1).reshape(-1)
    low, high = confidence.interval()
    return high - low


def theirs(x: np.ndarray) -> dict[str, float]:
    """confseq's untuned closed forms at the end of x."""
    from confseq.boundaries import beta_binomial_log_mixture, gamma_exponential_mixture_bound
    from confseq.predmix import predmix_empbern_twosided_cs

    n, total, mean = len(x), np.cumsum(x), float(x.mean())
    guess = np.append(0.5, (total / np.arange(1, n + 1))[:-1])
    half = float(gamma_exponential_mixture_bound(np.array([np.sum((x - guess) ** 2)]), ALPHA / 2, 10.0, 1.0, ALPHA / 2)[0]) / n
    found = {"empirical Bernstein": min(1.0, mean + half) - max(0.0, mean - half)}
    low, high = predmix_empbern_twosided_cs(x, alpha=ALPHA)
    found["predictable plug-in"] = float(high[-1] - low[-1])

    def wealth(m: float) -> float:
        logs = [
            beta_binomial_log_mixture(
                s=np.array([n * (c - q)]), v=np.array([n * m * (1 - m)]), v_opt=10.0, g=q, h=1 - q, alpha_opt=ALPHA / 2, is_one_sided=False
            )
            for c, q in ((mean, m), (1 - mean, 1 - m))
        ]
        return float(np.logaddexp(*(float(one[0]) for one in logs))) - math.log(2.0)

    ends = []
    for outer in (1e-9, 1.0 - 1e-9):
        inside, outside = min(max(mean, 1e-9), 1 - 1e-9), outer
        if wealth(outside) > math.log(1.0 / ALPHA):
            for _ in range(60):
                middle = 0.5 * (inside + outside)
                inside, outside = (inside, middle) if wealth(middle) > math.log(1.0 / ALPHA) else (middle, outside)
        ends.append(outside)
    found["beta-binomial"] = ends[1] - ends[0]
    return found


def compare_widths() -> None:
    from confseq.betting import betting_cs

    ratios, bets = [], []
    for law, values in laws().items():
        for n in LENGTHS:
            x = values[:n]
            mine, others = ours(x), theirs(x)
            best = min(others, key=others.__getitem__)
            ratios.append(mine / others[best])
            listed = ", ".join(f"{name} {width:.5f}" for name, width in others.items())
            print(f"{law:15} n = {n:>9,}: ours {mine:.5f}, {listed}: {ratios[-1]:.3f} of {best}", flush=True)
            if n <= 10_000:
                betting = bk.Betting(alpha=ALPHA)
                betting.run(x)
                low, high = betting.interval()
                if n <= 1000:
                    below, above = betting_cs(x, alpha=ALPHA, running_intersection=True)
                    width = float(above[-1] - below[-1])
                else:
                    width = _betting_at_end(x)
                bets.append((high - low) / width)
                print(f"{'':15} betting: ours {high - low:.4f}, theirs {width:.4f}: {bets[-1]:.3f}", flush=True)
    print(f"closed form / best untuned closed form: geometric mean {_geometric(ratios):.3f}, worst {max(ratios):.3f}")
    print(f"betting / their betting, n up to 10,000: geometric mean {_geometric(bets):.3f}, worst {max(bets):.3f}")


def _betting_at_end(x: np.ndarray) -> float:
    """confseq's betting with its running intersection, candidate by candidate: its own matrix of all moments would not fit."""
    from confseq.betting import diversified_betting_mart

    kept = []
    for m in np.arange(0, 1.0005, 0.001):
        wealth = diversified_betting_mart(x, m, lambdas_fns_positive=[None], alpha=ALPHA)
        kept.append(bool((wealth <= 1.0 / ALPHA).all()))
    alive = np.flatnonzero(kept)
    return float(min(1.0, (alive[-1] + 1) / 1000) - max(0.0, (alive[0] - 1) / 1000))


def error_rate(repeat: int, n: int = 1000) -> None:
    """How often an interval ever misses the mean, watched after every value: the mixture at the mean reaches 2/alpha on a side."""
    from burkholder.confidence import wealth

    limit = math.log(2.0 / ALPHA)
    for law, mean, draw in SAMPLED:
        rng, wrong = np.random.default_rng(1), np.zeros(repeat, bool)
        for some in np.array_split(np.arange(repeat), max(1, repeat // 1000)):
            total, guesses, logs = np.zeros(len(some)), np.zeros(len(some)), np.zeros((2, wealth.ATOMS, len(some)))
            for t in range(n):
                x = draw(rng, len(some))
                guess = (0.5 + total) / (t + 1)
                logs += wealth.bets(x, guess)
                total += x
                guesses += guess
                for side, way in ((0, 1.0), (1, -1.0)):
                    far = way * wealth.RATES[:, None] * (mean - guesses / (t + 1))
                    exponents = wealth.LOG_MASSES[:, None] + logs[side] - (t + 1) * np.log1p(far)
                    wrong[some] |= np.exp(exponents).sum(axis=0) >= math.exp(limit)
        print(f"{law}, {n:,} values, {repeat:,} repetitions: ever wrong in {wrong.mean():.4f}, allowed {ALPHA}", flush=True)
    for law, mean, draw in SAMPLED:
        rng, missed = np.random.default_rng(1), 0
        for _ in range(repeat):
            betting = bk.Betting(alpha=ALPHA, grid=GRID)
            betting.run(draw(rng, n))
            low, high = betting.interval()  # what is struck out stays out: the end tells of every moment
            missed += not low <= mean <= high
        print(f"betting, {law}, {n:,} values, {repeat:,} repetitions: ever wrong in {missed / repeat:.4f}, allowed {ALPHA}", flush=True)


def cost() -> None:
    """Processor time a value, with the interval after every value."""
    from confseq.betting import betting_cs

    x = (np.random.default_rng(2).random(1000) < 0.5) * 1.0
    spent = {}
    for name, work in {
        "confseq betting": lambda: betting_cs(x, alpha=ALPHA, running_intersection=True),
        "betting": lambda: bk.Betting(alpha=ALPHA).run(x),
        "closed form, one run": lambda: bk.Confidence(alpha=ALPHA).run(x),
    }.items():
        work()
        began = time.process_time()
        work()
        spent[name] = (time.process_time() - began) / len(x) * 1e6
    told = ", ".join(f"{name} {us:.2f} µs ({us / spent['confseq betting']:.3f})" for name, us in spent.items())
    print(f"a value costs: {told}")


def _geometric(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))
