"""The Krylov kernels and engines against dense eigenvalues, on whole trajectories."""

from __future__ import annotations

import numpy as np
import pytest

from burkholder.matrix import graph, lanczos, norms, tangent, trace
from burkholder.matrix.entries import SignFlipEntries
from burkholder.matrix.gradient import from_graph
from burkholder.matrix.sign_flip import TIE
from burkholder.matrix.workspace import Workspace
from burkholder.potentials import spectral as potential
from burkholder.potentials import spectral_mixture

RULES = [0.2, "lowering", "doubling", "mixture"]


def entries(seed, d1, d2, rounds, noise=0.2):
    """A stream of entries of a rank-2 matrix with a popular head, labels in [−1, 1], weights ±."""
    rng = np.random.default_rng(seed)
    i = np.minimum(rng.geometric(min(1.0, 3.0 / d1), rounds) - 1, d1 - 1)
    j = d1 + rng.integers(0, d2, rounds)
    W = rng.normal(size=(d1, 2)) @ rng.normal(size=(2, d2))
    y = np.clip(0.5 * W[i, j - d1] + noise * rng.normal(size=rounds), -1, 1)
    return i.astype(np.int64), j.astype(np.int64), y


def exact_trajectory(rate, radius, shape, i, j, y, weight, rates=None, masses=None):
    """The paper's strategy by two eigendecompositions a round, with its own doubling of Λ."""
    d1, d2 = shape
    D = d1 + d2
    H, M, ceiling, out = np.zeros((D, D)), np.zeros((D, D)), 0.0, []
    eta = rate if not isinstance(rate, str) else None
    for t in range(len(y)):
        X = np.zeros(shape)
        X[i[t], j[t] - d1] = weight[t]
        if rate in ("lowering", "doubling"):
            ceiling = ceiling or weight[t] ** 2
            before, most = ceiling, potential.largest(M + potential.square(X))
            while most > ceiling:
                ceiling *= 2.0
            if rate == "doubling" and ceiling > before:
                H, M = np.zeros((D, D)), np.zeros((D, D))
            eta = np.sqrt(2 * np.log(D) / ceiling)
        if rate == "mixture":
            yhat = float(spectral_mixture.sign_flip(H, M, X, rates, masses, 1.0, 1.0, 1.0))
        else:
            yhat = float(potential.sign_flip(H, M, X, eta, radius, 1.0, 1.0))
        delta = np.sign(yhat - y[t]) if abs(yhat - y[t]) >= TIE else 0.0
        H, M = H + delta * potential.hermitian(X), M + potential.square(X)
        out.append(yhat)
    return np.array(out), H, M


@pytest.mark.parametrize("rate", RULES)
@pytest.mark.parametrize("shape", [(1, 1), (2, 9), (12, 7)])
def test_whole_trajectories_agree_with_eigenvalues(rate, shape):
    i, j, y = entries(1, *shape, 150)
    weight = np.random.default_rng(2).choice([1.0, -0.5, 0.25], 150)
    engine = SignFlipEntries(rate, radius=2.0 * sum(shape), nodes=sum(shape), tol=1e-8)
    out = engine.rounds(i, j, y, weight)
    want, H, M = exact_trajectory(rate, 2.0 * sum(shape), shape, i, j, y, weight, engine.rates, engine.masses)
    assert np.abs(out[:, 0] - want).max() <= 1e-6
    got_H, diagonal = graph.to_dense(engine.graph)
    np.testing.assert_allclose(got_H, H, atol=1e-12)
    np.testing.assert_allclose(diagonal, np.diag(M), atol=1e-12)
    # U never rises, and never passes 0
    assert out[:, 2].max() <= 1e-6
    if rate != "doubling":
        assert np.diff(out[:, 2]).max(initial=-1.0) <= 1e-6


@pytest.mark.parametrize("rate", RULES)
def test_regret_is_within_the_bound_that_the_ledger_prints(rate):
    """Brute force: regret against the best W of the ball is at most Σδŷ + r‖ΣδX‖ ≤ bound."""
    i, j, y = entries(3, 9, 11, 400)
    radius = 12.0
    engine = SignFlipEntries(rate, radius=radius, nodes=20, tol=1e-9)
    out = engine.rounds(i, j, y)
    rng = np.random.default_rng(0)
    loss = np.abs(out[:, 0] - y).sum()
    for _ in range(30):
        W = rng.normal(size=(9, 1)) @ rng.normal(size=(1, 11))
        W *= radius * rng.uniform() / np.linalg.norm(W, "nuc")
        nuclear = float(np.linalg.norm(W, "nuc"))
        regret = loss - np.abs(W[i, j - 9] - y).sum()
        assert regret <= engine.bound(nuclear) + 1e-6
    if rate not in ("doubling", "mixture"):
        G = graph.to_dense(engine.graph)[0]
        realised = engine.scalars[2] + radius * potential.largest(G)
        assert realised <= engine.bound() + 1e-6
        # the ledger's bound is the closed one: here D is fixed from the start
        eta = engine.rates[0]
        closed = potential.bound(np.diag(engine.graph.diagonal[:20]), eta, radius, 1.0)
        if rate == 0.2:
            assert engine.bound() == pytest.approx(float(closed), rel=1e-9)
        else:
            limit = potential.lowering_bound(engine.scalars[0], 20, radius, 1.0)
            assert engine.bound() <= float(limit) + 1e-9


def build(seed, nodes, edges):
    rng = np.random.default_rng(seed)
    g = graph.with_nodes(graph.empty(), nodes)
    g.used[0] = nodes
    half = nodes // 2
    i, j = rng.integers(0, half, edges), rng.integers(half, nodes, edges)
    for a, b in zip(i, j):  # one at a time, so that lists move and the pool is packed again
        g = graph.with_room(g, np.array([a, b]))
        w = rng.normal()
        graph.add_edge(g, a, b, w)
        g.diagonal[a] += w * w
        g.diagonal[b] += w * w
    return g


def test_growing_lists_lose_nothing():
    g = build(4, 30, 900)
    rng = np.random.default_rng(4)
    i, j = rng.integers(0, 15, 900), rng.integers(15, 30, 900)
    want = np.zeros((30, 30))
    for a, b in zip(i, j):
        w = rng.normal()
        want[a, b] += w
        want[b, a] += w
    np.testing.assert_allclose(graph.to_dense(g)[0], want, atol=1e-12)
    sparse = graph.to_sparse(g, 0.3, 0.1).toarray()
    np.testing.assert_allclose(sparse, 0.3 * want - 0.1 * np.diag(g.diagonal[:30]), atol=1e-12)
    # memory stays proportional to the edges
    assert len(g.neighbour) <= 8 * 2 * 900 + 200
    gradient = from_graph(g, np.arange(15))
    np.testing.assert_allclose(gradient.dense((15, 30)), want[:15], atol=1e-12)
    assert norms.spectral(*gradient[:3]) == pytest.approx(np.linalg.eigvalsh(want)[-1], rel=1e-9)


def test_block_lanczos_projects_the_operator():
    """T_m reproduces the moments of A in the start block up to degree 2m − 1."""
    g = build(5, 40, 200)
    A = graph.to_sparse(g, 0.3, 0.09).toarray()
    basis, T, R = Workspace().sized(40)
    lanczos.start(basis, 3, 30, 40)
    kept = lanczos.memory(g, 0.09, 40)
    for k in range(4):
        lanczos.step(g, 0.3, 0.09, basis, T, R, k, 3, 30, 40, kept)
    power, small = np.eye(40), np.eye(8)
    for _ in range(8):
        np.testing.assert_allclose(power[np.ix_([3, 30], [3, 30])], small[:2, :2], atol=1e-10)
        power, small = power @ A, small @ T[:8, :8]


@pytest.mark.parametrize("nodes", [2, 3, 41])
def test_traces_from_scratch(nodes):
    g = build(6, nodes, 4 * nodes)
    A = graph.to_sparse(g, 0.4, 0.16).toarray()
    want = float(potential.log_trace_exp(A))
    room = Workspace().sized(nodes)
    assert trace.exact(g, 0.4, 0.16, 1.0, 1e-10, *room) == pytest.approx(want, abs=1e-8)
    assert trace.stochastic(g, 0.4, 0.16, 1.0, 200, 8, *room) == pytest.approx(want, abs=0.1)


def test_a_wide_spectrum_is_not_taken_for_convergence():
    """A rate so large that the first Krylov spaces see exp(A) ≈ 0: two equal answers are no proof."""
    i, j, y = entries(7, 6, 8, 250)
    engine = SignFlipEntries(3.0, radius=5.0, nodes=14, tol=1e-8)
    out = engine.rounds(i, j, y)
    want, _, _ = exact_trajectory(3.0, 5.0, (6, 8), i, j, y, np.ones(250))
    assert np.abs(out[:, 0] - want).max() <= 1e-6


@pytest.mark.parametrize("seed", [0, 1])
def test_tangent_direction_agrees_with_the_dense_one_and_its_ledger_holds(seed):
    i, j, y = entries(seed, 8, 10, 300)
    D, rng = 18, np.random.default_rng(seed)
    g = graph.with_nodes(graph.empty(), D)
    g = graph.with_room(g, np.concatenate([i, j]))
    scalars, room = tangent.start(), Workspace().sized(D)
    H, M, along = np.zeros((D, D)), np.zeros((D, D)), 0.0
    tangent.join(g, scalars, D - 1)
    for t in range(len(y)):
        m, u, gap = tangent.direction(g, scalars, i[t], j[t], 1e-12, lanczos.DEPTH, *room)
        X = np.zeros((8, 10))
        X[i[t], j[t] - 8] = 1.0
        assert u == pytest.approx(float(potential.tangent(H, M, X, scalars[tangent.RATE], 1.0)), abs=1e-9)
        delta = float(rng.uniform(-2, 2)) if t % 3 else 2.0
        tangent.learn(g, scalars, i[t], j[t], u, gap, delta, m, room[1])
        tangent.lower(g, scalars, i[t], j[t], 1e-11, 0, *room)
        H += delta * potential.hermitian(X)
        M += delta**2 * potential.square(X)
        along += delta * u
        # the promise, on every prefix, against the supremum over the unit ball
        promised = scalars[tangent.PAID] + scalars[tangent.RATE] * g.diagonal[:D].max()
        assert along + float(potential.largest(H)) <= promised + 1e-7
        assert scalars[tangent.CEILING] >= g.diagonal[:D].max() + 4.0 or scalars[tangent.CEILING] == 4.0
    assert scalars[tangent.LOG_TRACE] == pytest.approx(
        float(potential.log_trace_exp(potential.tangent_exponent(H, M, scalars[tangent.RATE]))), abs=1e-8
    )
    assert scalars[tangent.LOWERED] >= 2
