"""Records compare by class and fields, and are still what numba specialises compiled loops by."""

from __future__ import annotations

import itertools
import operator
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from burkholder import geometries, losses, potentials
from burkholder.losses import dispatch as loss_formulas
from burkholder.losses.batch import values
from burkholder.machine.compiling import typeof, types
from burkholder.potentials import dispatch as potential_formulas
from burkholder.rounds import layout as rounds

LOSSES = [losses.get(name) for name in losses.LOSSES]
POTENTIALS = [kind() for kind in potentials.POTENTIALS]
GEOMETRIES = [kind() for kind in (geometries.Coordinates, geometries.Euclidean, geometries.PNorm, geometries.Supremum)]
CLOCKS = [*rounds.CLOCKS.values(), rounds.Remembering()]
CUSTOM = losses.Custom(abs, abs, 1.0)
GROUPS = [*GEOMETRIES, geometries.Group(((0,), (1,))), geometries.Schatten((2, 2)), rounds.Power(3.0, 3, 0)]
RECORDS = [*LOSSES, CUSTOM, *POTENTIALS, *GROUPS, *CLOCKS]


def test_every_registered_formula_is_covered():
    assert {type(record) for record in [*LOSSES, CUSTOM]} == set(loss_formulas._VALUES)
    assert {type(record) for record in POTENTIALS} == set(potential_formulas._VALUES)


def test_records_of_different_classes_differ():
    for one, other in itertools.combinations(RECORDS, 2):
        assert operator.ne(one, other) and not operator.eq(one, other), (one, other)
        assert len({one, other}) == 2, (one, other)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_equals_its_twin_and_no_tuple(record):
    twin = record._replace() if isinstance(record, tuple) else pickle.loads(pickle.dumps(record))
    assert operator.eq(twin, record) and not operator.ne(twin, record) and hash(twin) == hash(record)
    if isinstance(record, tuple):
        assert record != tuple(record) and tuple(record) != record
        for field, number in record._asdict().items():
            if isinstance(number, float):
                assert record._replace(**{field: number + 1.0}) != record


@pytest.mark.parametrize("record", [*LOSSES, *POTENTIALS, *GEOMETRIES, *CLOCKS], ids=lambda record: type(record).__name__)
def test_numba_sees_a_named_tuple_of_that_class(record):
    seen = typeof(record)
    assert isinstance(seen, types.BaseNamedTuple) and seen.instance_class is type(record)
    assert typeof(pickle.loads(pickle.dumps(record))) == seen


def test_compiled_loops_tell_losses_without_parameters_apart():
    yhat, y = np.array([-2.0, 0.3, 5.0]), np.array([1.0, -1.0, 1.0])
    for loss in LOSSES:
        assert values(loss, yhat, y).tolist() == pytest.approx([losses.value(loss, p, t) for p, t in zip(yhat, y)], rel=1e-15)


def test_machine_code_is_found_again_on_disk(tmp_path):
    code = (
        "import numpy as np; from burkholder import losses; from burkholder.losses import batch\n"
        "for loss in (losses.Hinge(), losses.Logistic()): print(batch.values(loss, np.ones(1), -np.ones(1))[0])\n"
        "print(sum(batch._values.stats.cache_hits.values()), sum(batch._values.stats.cache_misses.values()))"
    )
    environment = {**os.environ, "BURKHOLDER_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout for _ in range(2)
    ]
    (*first, cold), (*second, warm) = (text.splitlines() for text in said)
    assert first == second and float(first[0]) == 2.0 and float(first[1]) == pytest.approx(np.log1p(np.e), rel=1e-15)
    assert cold == "0 2" and warm == "2 0"
