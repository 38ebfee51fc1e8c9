"""The smallest smooth majorant of a norm's square: known constants, the dual, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput


def power(p):
    return lambda x: np.linalg.norm(np.asarray(x, float), ord=p, axis=-1)


# in the plane ‖f‖_p² has martingale type 2 with d^{1−2/p} for p ≥ 2, reached by a multiple of the Euclidean norm; for 1 the dual figure
KNOWN = {2.0: 1.0, 3.0: 2 ** (1 / 3), 4.0: 2**0.5, np.inf: 2.0, 1.0: 2.0}


@pytest.mark.parametrize("p", KNOWN)
def test_the_least_constant_of_l_p_in_the_plane(p):
    found = bk.smoothest(power(p))
    assert found.constant == pytest.approx(KNOWN[p], rel=2e-3)
    assert found.excess() < 5e-3
    x = np.random.default_rng(0).standard_normal((500, 2))
    assert np.all(found.value(x) >= np.square(power(p)(x)) * (1 - 2e-3))


def test_at_the_one_step_constant_the_norm_is_its_own():
    found = bk.smoothest(power(4.0), constant=3.0)
    x = np.random.default_rng(1).standard_normal((500, 2))
    assert np.max(found.value(x) / np.square(power(4.0)(x))) < 1.03
    assert bk.smoothest(power(4.0)).value([[1.0, 1.0]])[0] > 1.3 * power(4.0)([1.0, 1.0]) ** 2  # at the least constant it is not


def test_the_dual_is_a_regulariser_that_is_strongly_convex():
    found = bk.smoothest(power(4.0))
    rng = np.random.default_rng(2)
    w, v = rng.standard_normal((2, 2000, 2))
    middle = (found.regulariser(w + v) + found.regulariser(w - v)) / 2 - found.regulariser(w)
    dual = np.square(power(4.0 / 3.0)(v))
    assert np.min(middle * 4 * found.constant / dual) > 0.98  # U* is 1/(2C)-strongly convex: the mean rises by ‖v‖_*²/(4C)
    x = rng.standard_normal((300, 2))
    assert np.all((w[:300] * x).sum(-1) <= found.value(x) + found.regulariser(w[:300]) * (1 + 1e-3) + 1e-9)


def test_a_norm_of_ones_own():
    tilted = bk.smoothest(lambda x: np.sqrt(4 * x[..., 0] ** 2 + x[..., 1] ** 2))
    assert tilted.constant == pytest.approx(1.0, rel=5e-3)


@pytest.mark.parametrize("norm", [lambda x: x[..., 0], lambda x: np.square(x).sum(-1), lambda x: np.zeros(len(x))])
def test_what_is_no_norm_is_refused(norm):
    with pytest.raises(BadInput):
        bk.smoothest(norm)
    with pytest.raises(BadInput, match="least constant"):
        bk.smoothest(power(4.0), constant=1.2)
