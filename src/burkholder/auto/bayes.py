"""Bayes' rule over ways to give probabilities to several classes: what they say is mixed, by how much each has lost.

`ways` has a row a way and a column a class (the classes are 1, …, known), and one row more for what they say together; `lost` are their
cumulative losses, then what rounding took from each (see `sums`).
"""

from __future__ import annotations

import math

from burkholder.auto.sums import add
from burkholder.machine.compiling import inlined

LEAST = 1e-13  # no class is given less


@inlined
def normalise(ways, way, known):
    """Scores into probabilities."""
    top = -math.inf
    for c in range(1, known + 1):
        top = max(top, ways[way, c])
    for c in range(1, known + 1):
        ways[way, c] = math.exp(ways[way, c] - top)
    level(ways, way, known)


@inlined
def level(ways, way, known):
    """Sizes into probabilities, none below LEAST."""
    total, again = 0.0, 0.0
    for c in range(1, known + 1):
        total += ways[way, c]
    for c in range(1, known + 1):
        ways[way, c] = max(ways[way, c] / total, LEAST)
        again += ways[way, c]
    for c in range(1, known + 1):
        ways[way, c] /= again


@inlined
def mix(prior, lost, shares, ways, known):
    """What the ways say together, into the last row; the likeliest class."""
    count, best, total, likeliest = shares.shape[0], 0, 0.0, 1
    for way in range(count):
        if lost[way] < lost[best]:
            best = way
    for way in range(count):  # differences are taken before anything is rounded away
        shares[way] = prior[way] * math.exp((lost[best] - lost[way]) + (lost[count + best] - lost[count + way]))
        total += shares[way]
    for way in range(count):
        shares[way] /= total
    for c in range(1, known + 1):
        p = 0.0
        for way in range(count):
            p += shares[way] * ways[way, c]
        ways[count, c] = p
        if p > ways[count, likeliest]:
            likeliest = c
    return likeliest


@inlined
def charge(lost, ways, label, weight):
    """Every way pays for what it said of the class that came."""
    count = lost.shape[0] // 2
    for way in range(count):
        add(lost, way, lost, count + way, -weight * math.log(ways[way, label]))
