"""Loops are written in fewer instructions than numba writes: they give what Python gives, wherever they begin and whichever way they go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from burkholder.machine.compiling import compiled, register_jitable


class Pair(NamedTuple):
    """A record handed over by value."""

    cube: np.ndarray
    row: np.ndarray
    factor: float


def counted(start, stop, step):
    """What three kinds of ranges count."""
    out = np.zeros(4)
    for k in range(stop):
        out[0] += k + 1.0
    for k in range(start, stop):
        out[1] += k
    for k in range(start, stop, step):
        out[2] = out[2] * 3.0 + k
    for k in range(start, stop):
        if k == 3:
            continue
        for j in range(k):
            if j > 2:
                break
            out[3] += j * k
    return out


def places(pair, i, j):
    """Elements and smaller arrays, from the front and from the end; places counted down below zero."""
    cube, row, out = pair.cube, pair.row, np.zeros(8)
    n = row.size
    for k in range(n):
        out[0] += row[k] * row[k - n] * row[n - 1 - k]
        out[1] += row[k - 1]
        out[2] += row[-k]
    out[3] = cube[i, j, -1] + cube[i][j][i] + cube[-1, j][i]
    inner = cube[i]
    inner[j, 0] += 1.0
    line = cube[i, j]
    line[1] *= pair.factor
    out[4] = inner.sum() + line.size + inner.shape[1]
    down = n
    while down > -n:
        down -= 1
        out[5] += down * row[down]
    for block in (cube[0], cube[1]):
        out[6] += block[j, i]
    out[7] = kept(pair, cube[i])[0]
    return out


@register_jitable
def kept(pair, part):
    """A view that outlives the array it was taken from."""
    found = np.zeros((3, 2))
    for k in range(3):
        found[k, 0] = pair.factor + part[0, 0] + k
    line = found[2]
    found = np.zeros((1, 1))
    return line + found[0, 0]


COUNTED, PLACES = compiled(counted), compiled(places)


@pytest.mark.parametrize("start, stop, step", [(0, 5, 1), (-3, 4, 2), (5, -5, -1), (7, 7, 3), (9, 2, 1), (-6, -1, 1), (4, -7, -3)])
def test_ranges_count_what_they_count_in_python(start, stop, step):
    assert COUNTED(start, stop, step).tolist() == counted(start, stop, step).tolist()


def test_a_range_without_a_step_is_refused():
    with pytest.raises(ValueError, match="zero"):
        COUNTED(0, 5, 0)


@pytest.mark.parametrize("i, j", [(0, 0), (1, 2), (-1, -2), (-2, 1)])
def test_elements_and_views_are_those_of_python(i, j):
    def pair():
        cube = np.arange(24.0).reshape(2, 3, 4)
        return Pair(cube, np.array([1.5, -2.0, 3.0, 5.0]), 1.25)

    ours, theirs = pair(), pair()
    assert PLACES(ours, i, j).tolist() == places(theirs, i, j).tolist()
    assert np.array_equal(ours.cube, theirs.cube)
