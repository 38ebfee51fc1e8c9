"""The paper's own strategy (S3, `eq:matrix_pred`) on a growing graph, with any rule for the rate η.

A = ηH − ½η²L²M. One η (fixed, restarted or lowered as Λ ≥ ‖ΣM‖ doubles) with a radius r, or a mixture over
a grid of η that needs neither. Entries are X = w·e_i e_jᵀ; ΣM is then diagonal and ‖ΣM‖ is its largest
entry.

Ledger for one rate: Σδŷ + (r/η)·log tr exp(A) never exceeds PAID, what (r/η)·log tr exp(A) gained when rows
and columns joined and when η fell; for the mixture the same with κΣπ_k tr exp(A_k)/D. CLOSED sums the
bounds of finished epochs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burkholder.learning.rounding import add
from burkholder.losses.dispatch import derivative
from burkholder.machine.compiling import compiled, register_jitable, uncounted
from burkholder.matrix import trace
from burkholder.matrix.graph import add_edge
from burkholder.matrix.krylov import probe_signs, trace_change

TIE = 1e-7  # closer than this to y counts as a hit: otherwise rounding noise would choose δ = ±1
# places in the vector of scalars; EPOCH is Σδŷ when the current epoch began, ALONG_LOW the correction of ALONG = Σδŷ
CEILING, PAID, ALONG, CLOSED, LOWERED, EPOCH, ALONG_LOW = range(7)
# what a certificate charges: Σ|δŷ|, Σ|δ|·‖X‖_F, what forming δX may have cost in units of 2⁻⁵³, the loss of hits, late labels
LEANED, MOVED, DRIFT, TIED, LATE = range(7, 12)
SCALARS = 12
FALL = 3.0  # once log tr exp(A) has fallen this far, differences have lost digits: it is computed afresh
FIXED, DOUBLING, LOWERING, MIXTURE = range(4)

_exact = trace.exact


class Rule(NamedTuple):
    """What does not change during a stream."""

    kind: int
    radius: float  # r, or κ for the mixture
    lipschitz: float
    bound: float
    tol: float
    tie: float = 0.0  # closer than this to y counts as a hit; 0 unless the loss has a kink at y


@uncounted
def optimal_rate(rule, ceiling, nodes):
    """η = sqrt(2 log D/(L²Λ))."""
    return np.sqrt(2.0 * np.log(float(max(nodes, 2))) / (ceiling * rule.lipschitz**2))


@uncounted
def potential(rule, rates, masses, log_trace, nodes):
    """U without Σδŷ and without its constant: (r/η)·log tr exp(A), or κΣπ_k tr exp(A_k)/D."""
    if rule.kind != MIXTURE:
        return rule.radius / rates[0] * log_trace[0]
    total = 0.0
    for k in range(rates.size):
        total += masses[k] * np.exp(log_trace[k] - np.log(float(nodes)))
    return rule.radius * total


@uncounted
def value(rule, rates, masses, log_trace, scalars, nodes):
    """U of the current epoch less what the ledger allows: starts at 0 and never rises."""
    return (scalars[ALONG] - scalars[EPOCH]) + (potential(rule, rates, masses, log_trace, nodes) - scalars[PAID])


@uncounted
def join(graph, rule, rates, masses, log_trace, scalars, node):
    """A row or column appears: every trace grows by one."""
    if node < graph.used[0]:
        return
    before = potential(rule, rates, masses, log_trace, graph.used[0]) if graph.used[0] > 0 else 0.0
    for k in range(rates.size):
        log_trace[k] = np.logaddexp(log_trace[k], np.log(float(node + 1 - graph.used[0])))
    graph.used[0] = node + 1
    scalars[PAID] += potential(rule, rates, masses, log_trace, graph.used[0]) - before


@compiled
def prepare(graph, rule, rates, log_trace, scalars, i, j, weight, basis, T, R):
    """Before playing at weight w: double Λ past ‖ΣM + M(X)‖ and restart, or lower η, by the rule."""
    if rule.kind == FIXED or rule.kind == MIXTURE or weight == 0.0:
        return
    nodes = graph.used[0]
    most = max(graph.diagonal[i], graph.diagonal[j]) + weight * weight
    if scalars[CEILING] == 0.0:
        scalars[CEILING] = weight * weight
        scalars[PAID] *= rates[0]
        rates[0] = optimal_rate(rule, scalars[CEILING], nodes)
        scalars[PAID] /= rates[0]
    if most <= scalars[CEILING]:
        return
    old, before = rates[0], log_trace[0]
    top = 0.0
    for r in range(nodes):
        top = max(top, graph.diagonal[r])
    while most > scalars[CEILING]:
        scalars[CEILING] *= 2.0
    scalars[LOWERED] += 1.0
    if rule.kind == DOUBLING:
        scalars[EPOCH] = scalars[ALONG]
        scalars[CLOSED] += scalars[PAID] + 0.5 * old * rule.lipschitz**2 * rule.radius * top
        for r in range(nodes):
            graph.length[r] = 0
            graph.diagonal[r] = 0.0
        rates[0] = optimal_rate(rule, scalars[CEILING], nodes)
        log_trace[0] = np.log(float(nodes))
        scalars[PAID] = rule.radius / rates[0] * log_trace[0]
        return
    new = min(old, optimal_rate(rule, scalars[CEILING], nodes))
    if new < old:
        damping = 0.5 * (new * rule.lipschitz) ** 2
        log_trace[0] = _exact(graph, new, damping, before, min(rule.tol, 1e-9), basis, T[0], R)
        rates[0] = new
        scalars[PAID] += rule.radius * (log_trace[0] / new - before / old)


@compiled
def predict(graph, rule, rates, masses, log_trace, steps, i, j, weight, basis, T, R):
    """(ŷ, error of ŷ); T[k] keeps rate k's Krylov space and steps[k] its block steps.

    A node without ratings makes ŷ exactly 0: turning its axis round swaps the two signs.
    """
    cold = graph.length[i] == 0 or graph.length[j] == 0
    if rule.kind != MIXTURE:
        g = rates[0] * rule.lipschitz * weight
        factor = rule.radius / (2.0 * rule.lipschitz * rates[0])
        m, plus, minus, gap = probe_signs(
            graph,
            i,
            j,
            rates[0],
            0.5 * (rates[0] * rule.lipschitz) ** 2,
            g,
            -0.5 * g * g,
            log_trace[0],
            rule.tol / factor,
            steps[0] - 3,
            basis,
            T[0],
            R,
        )
        steps[0] = m
        yhat = 0.0 if cold else -factor * (plus - minus)
        return min(max(yhat, -rule.bound), rule.bound), factor * gap
    total, error = 0.0, 0.0
    for k in range(rates.size):
        g = rates[k] * rule.lipschitz * weight
        # κπ_k tr exp(A_k)/D stays below what U allows on any path, so nothing here is large
        share = rule.radius * masses[k] * np.exp(log_trace[k] - np.log(float(graph.used[0])))
        factor = share / (2.0 * rule.lipschitz)
        m, plus, minus, gap = probe_signs(
            graph,
            i,
            j,
            rates[k],
            0.5 * (rates[k] * rule.lipschitz) ** 2,
            g,
            -0.5 * g * g,
            log_trace[k],
            rule.tol / max(rates.size * factor, 1e-3),
            steps[k] - 3,
            basis,
            T[k],
            R,
        )
        steps[k] = m
        total -= factor * (np.exp(plus) - np.exp(minus))
        error += factor * gap
    return (0.0 if cold else min(max(total, -rule.bound), rule.bound)), error


@register_jitable
def slope(rule, loss, yhat, y):
    """δ, and what a hit may cost: with δ = 0 within `tie` of a kink at y, ℓ(ŷ) − ℓ(c) ≤ ℓ(ŷ) ≤ L|ŷ − y| for every c."""
    gap = abs(yhat - y)
    return (derivative(loss, yhat, y), 0.0) if gap >= rule.tie else (0.0, rule.lipschitz * gap)


@register_jitable
def enter(scalars, delta, yhat, size, rounded):
    """One round in the sums of a certificate: ‖X‖_F ≤ size, and forming δX cost at most `rounded`·|δ|·2⁻⁵³."""
    leaned = delta * yhat
    add(scalars, ALONG, ALONG_LOW, leaned)
    scalars[LEANED] += abs(leaned)
    scalars[MOVED] += abs(delta) * size
    scalars[DRIFT] += abs(delta) * rounded


@compiled
def learn(graph, rule, rates, log_trace, anchor, scalars, steps, i, j, weight, yhat, delta, basis, T, R):
    """Take in the slope δ at the point `predict` left T for; `anchor`: highest trace since a fresh one."""
    enter(scalars, delta, yhat, abs(weight), 0.0 if abs(weight) == 1.0 else abs(weight))
    for k in range(rates.size):
        g = rates[k] * rule.lipschitz * weight
        off = rates[k] * delta * weight
        log_trace[k] += trace_change(T[k], steps[k], off, -0.5 * g * g, log_trace[k])
    add_edge(graph, i, j, delta * weight)
    graph.diagonal[i] += weight * weight
    graph.diagonal[j] += weight * weight
    for k in range(rates.size):
        anchor[k] = max(anchor[k], log_trace[k])
        if log_trace[k] < anchor[k] - FALL:
            damping = 0.5 * (rates[k] * rule.lipschitz) ** 2
            log_trace[k] = _exact(graph, rates[k], damping, log_trace[k], 1e-10, basis, T[k], R)
            anchor[k] = log_trace[k]


@compiled
def predict_many(graph, rule, rates, masses, log_trace, scalars, steps, i, j, weight, basis, T, R):
    """ŷ at each pair of nodes, as if it were the next round; 0 where one is unknown (−1). Changes workspace only."""
    out = np.zeros(i.size)
    for t in range(i.size):
        if i[t] < 0 or j[t] < 0 or weight[t] == 0.0:
            continue
        most = max(graph.diagonal[i[t]], graph.diagonal[j[t]]) + weight[t] * weight[t]
        if rule.kind == DOUBLING and most > scalars[CEILING] > 0.0:
            continue  # this round restarts, and a fresh start plays 0
        now, trace_now, scalars_now, steps_now = rates.copy(), log_trace.copy(), scalars.copy(), steps.copy()
        prepare(graph, rule, now, trace_now, scalars_now, i[t], j[t], weight[t], basis, T, R)
        out[t] = predict(graph, rule, now, masses, trace_now, steps_now, i[t], j[t], weight[t], basis, T, R)[0]
    return out


@compiled
def rounds(graph, rule, loss, rates, masses, log_trace, anchor, scalars, steps, i, j, weight, y, basis, T, R):
    """Play and learn every round; rows (ŷ, δw, U, mean block steps, error of ŷ)."""
    out = np.empty((y.size, 5))
    for t in range(y.size):
        join(graph, rule, rates, masses, log_trace, scalars, i[t])
        join(graph, rule, rates, masses, log_trace, scalars, j[t])
        prepare(graph, rule, rates, log_trace, scalars, i[t], j[t], weight[t], basis, T, R)
        yhat, error = predict(graph, rule, rates, masses, log_trace, steps, i[t], j[t], weight[t], basis, T, R)
        delta, hit = slope(rule, loss, yhat, y[t])
        scalars[TIED] += hit
        learn(graph, rule, rates, log_trace, anchor, scalars, steps, i[t], j[t], weight[t], yhat, delta, basis, T, R)
        out[t, 0], out[t, 1], out[t, 4] = yhat, delta * weight[t], error
        out[t, 2] = value(rule, rates, masses, log_trace, scalars, graph.used[0])
        out[t, 3] = steps.mean()
    return out


@compiled
def late(graph, rule, rates, masses, log_trace, anchor, scalars, steps, i, j, weight, yhat, delta, basis, T, R):
    """Learn δ at ŷ, played some rounds ago; the Krylov space is today's, since that is what the trace rests on."""
    join(graph, rule, rates, masses, log_trace, scalars, i)
    join(graph, rule, rates, masses, log_trace, scalars, j)
    prepare(graph, rule, rates, log_trace, scalars, i, j, weight, basis, T, R)
    predict(graph, rule, rates, masses, log_trace, steps, i, j, weight, basis, T, R)
    scalars[LATE] += 1.0
    learn(graph, rule, rates, log_trace, anchor, scalars, steps, i, j, weight, yhat, delta, basis, T, R)
