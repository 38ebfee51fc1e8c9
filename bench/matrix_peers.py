"""Peers for a stream of ratings: running mean, biases, online item-kNN, SGD matrix factorisation, river's
BiasedMF.

All predict before they learn. Labels and predictions lie in [−1, 1]. "in hindsight" means that the best of
the grid on the whole stream is reported; river's is chosen on the first fifth.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np

from burkholder.machine.compiling import compiled


@compiled
def running_mean(y):  # type: ignore[no-untyped-def]
    out, total = np.zeros(y.size), 0.0
    for t in range(y.size):
        out[t] = total / t if t else 0.0
        total += y[t]
    return out


@compiled
def biases(u, i, y, users, items, rate, ridge):  # type: ignore[no-untyped-def]
    """μ + b_u + c_i by SGD with weight decay."""
    b, c, out, total = np.zeros(users), np.zeros(items), np.zeros(y.size), 0.0
    for t in range(y.size):
        mean = total / t if t else 0.0
        out[t] = min(max(mean + b[u[t]] + c[i[t]], -1.0), 1.0)
        error = y[t] - (mean + b[u[t]] + c[i[t]])
        b[u[t]] += rate * (error - ridge * b[u[t]])
        c[i[t]] += rate * (error - ridge * c[i[t]])
        total += y[t]
    return out


@compiled
def averaged_biases(u, i, y, users, items, forget, prior):  # type: ignore[no-untyped-def]
    """μ + b_u + c_i, each offset moved by error·max(forget, 1/(n + prior))."""
    b, c, out, total = np.zeros(users), np.zeros(items), np.zeros(y.size), 0.0
    n, m = np.zeros(users), np.zeros(items)
    for t in range(y.size):
        mean = total / t if t else 0.0
        score = mean + b[u[t]] + c[i[t]]
        out[t] = min(max(score, -1.0), 1.0)
        n[u[t]] += 1.0
        m[i[t]] += 1.0
        b[u[t]] += (y[t] - score) * max(forget, 1.0 / (n[u[t]] + prior))
        c[i[t]] += (y[t] - score) * max(forget, 1.0 / (m[i[t]] + prior))
        total += y[t]
    return out


@compiled
def factors(u, i, y, base, start_u, start_i, rate, ridge):  # type: ignore[no-untyped-def]
    """base + ⟨p_u, q_i⟩ by SGD with weight decay."""
    p, q, out = start_u.copy(), start_i.copy(), np.zeros(y.size)
    for t in range(y.size):
        score = base[t]
        for f in range(p.shape[1]):
            score += p[u[t], f] * q[i[t], f]
        out[t] = min(max(score, -1.0), 1.0)
        error = y[t] - score
        for f in range(p.shape[1]):
            pf, qf = p[u[t], f], q[i[t], f]
            p[u[t], f] += rate * (error * qf - ridge * pf)
            q[i[t], f] += rate * (error * pf - ridge * qf)
    return out


@compiled
def item_knn(u, i, y, base, users, items, count, shrink, ridge):  # type: ignore[no-untyped-def]
    """base + weighted residuals of the user's `count` most similar items; similarities from residuals seen so
    far.
    """
    most = 0
    rated = np.zeros(users, np.int64)
    for t in range(y.size):
        rated[u[t]] += 1
        most = max(most, rated[u[t]])
    rated[:] = 0
    history, residual = np.zeros((users, most), np.int64), np.zeros((users, most))
    product, both = np.zeros((items, items), np.float32), np.zeros((items, items), np.float32)
    left, right = np.zeros((items, items), np.float32), np.zeros((items, items), np.float32)
    out = np.zeros(y.size)
    for t in range(y.size):
        a, b, n = u[t], i[t], rated[u[t]]
        similarity = np.zeros(n)
        for k in range(n):
            j = history[a, k]
            if both[b, j] > 0:
                scale = np.sqrt(left[b, j] * right[b, j]) + 1e-9
                similarity[k] = product[b, j] / scale * both[b, j] / (both[b, j] + shrink)
        size = np.abs(similarity)
        floor = np.sort(size)[n - count] if n > count else 0.0
        top = bottom = 0.0
        for k in range(n):
            if size[k] >= floor:
                top += similarity[k] * residual[a, k]
                bottom += size[k]
        out[t] = min(max(base[t] + top / (bottom + ridge), -1.0), 1.0)
        error = y[t] - base[t]
        for k in range(n):
            j, e = history[a, k], residual[a, k]
            product[b, j] += error * e
            product[j, b] += error * e
            both[b, j] += 1
            both[j, b] += 1
            left[b, j] += error * error
            right[b, j] += e * e
            left[j, b] += e * e
            right[j, b] += error * error
        history[a, n], residual[a, n] = b, error
        rated[a] += 1
    return out


def _best(y: Any, grid: Any, play: Any) -> tuple[Any, Any, float]:
    """(predictions, setting, seconds of one run) of least squared error."""
    found = None
    for setting in grid:
        begun = time.process_time()
        out = play(*setting)
        seconds = time.process_time() - begun
        error = float(np.mean((out - y) ** 2)) if np.isfinite(out).all() else np.inf
        if found is None or error < found[0]:
            found = (error, out, setting, seconds)
    assert found is not None
    return found[1], found[2], found[3]


def river_biased_mf(u: Any, i: Any, y: Any) -> tuple[Any, Any, float]:
    """river.reco.BiasedMF, tuned on the first fifth of the stream."""
    from river import optim, reco

    def play(rounds: int, size: int, rate: float, ridge: float) -> Any:
        model = reco.BiasedMF(
            n_factors=size, bias_optimizer=optim.SGD(rate), latent_optimizer=optim.SGD(rate),
            weight_initializer=optim.initializers.Zeros(), l2_bias=ridge, l2_latent=ridge, seed=0,
            latent_initializer=optim.initializers.Normal(mu=0.0, sigma=0.1, seed=0),
        )  # fmt: skip
        out = np.zeros(rounds)
        for t in range(rounds):
            user, item = int(u[t]), int(i[t])
            out[t] = min(max(model.predict_one(user, item), -1.0), 1.0)
            model.learn_one(user, item, y=float(y[t]))
        return out

    grid = list(itertools.product((5, 10), (0.01, 0.025, 0.05), (0.0, 0.02)))
    fifth = len(y) // 5
    _, setting, _ = _best(y[:fifth], grid, lambda *s: play(fifth, *s))
    begun = time.process_time()
    out = play(len(y), *setting)
    return out, setting, time.process_time() - begun


def table(u: Any, i: Any, y: Any, bias: Any, with_river: bool = True) -> list[dict[str, Any]]:
    """Every peer on this stream: name, predictions, setting, seconds; `bias` holds our bias predictions."""
    users, items = int(u.max()) + 1, int(i.max()) + 1
    rows: list[dict[str, Any]] = []

    def add(name: str, out: Any, setting: Any, seconds: float) -> None:
        rows.append({"name": name, "predictions": out, "setting": setting, "seconds": seconds})

    add("global mean", *_best(y, [()], lambda: running_mean(y)))
    grid = list(itertools.product((0.01, 0.02, 0.04, 0.06, 0.1, 0.15), (0.0, 0.02, 0.05, 0.1)))
    add("user/item biases by SGD, in hindsight", *_best(y, grid, lambda *s: biases(u, i, y, users, items, *s)))
    grid = list(itertools.product((0.0, 0.01, 0.02, 0.04, 0.08), (1.0, 3.0, 6.0, 12.0, 25.0)))
    out = _best(y, grid, lambda *s: averaged_biases(u, i, y, users, items, *s))
    add("user/item biases by averages, in hindsight", *out)
    if with_river:
        add("river BiasedMF, tuned on 20 %", *river_biased_mf(u, i, y))
    rng = np.random.default_rng(0)
    starts = {k: (rng.normal(size=(users, k)), rng.normal(size=(items, k))) for k in (10, 20, 40, 80)}
    grid = list(itertools.product(
        starts, (0.01, 0.03, 0.1), (0.04, 0.08, 0.16, 0.32, 0.64), (0.0, 0.003, 0.01, 0.03)
    ))  # fmt: skip

    def factorise(k: int, spread: float, rate: float, ridge: float) -> Any:
        return factors(u, i, y, bias, spread * starts[k][0], spread * starts[k][1], rate, ridge)

    out = _best(y, grid, factorise)
    add("SGD factorisation on our bias, in hindsight", *out)
    grid = list(itertools.product((20, 60, 200), (50.0, 200.0, 800.0), (0.1, 0.2, 0.5, 1.0)))
    out = _best(y, grid, lambda *s: item_knn(u, i, y, bias, users, items, *s))
    add("item-kNN on our bias, in hindsight", *out)
    return rows
