"""Sums that certificates rest on, with what rounding took from them kept beside: total + rest is the sum to twice the digits.

After n terms x the error of total + rest is at most 2u·|sum| + n²u²·Σ|x|, u = 2⁻⁵³ (a plain sum: n·u·Σ|x|).
"""

from __future__ import annotations

from burkholder.learning.rounding import two_sum
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import load4, load8, store


@inlined
def add(totals, k, rests, j, x):
    """x to the sum whose total is totals[k], and its rest rests[j]."""
    totals[k], lost = two_sum(totals[k], x)
    rests[j] += lost


@inlined
def add4(totals, rests, x):
    """The same for the four sums of the tangent lanes."""
    total, lost = two_sum(load4(totals, 0), x)
    store(totals, 0, total)
    store(rests, 0, load4(rests, 0) + lost)


@inlined
def add8(totals, rests, k, x):
    """The same for eight sums, from place k on."""
    total, lost = two_sum(load8(totals, k), x)
    store(totals, k, total)
    store(rests, k, load8(rests, k) + lost)
