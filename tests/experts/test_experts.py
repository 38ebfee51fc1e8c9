"""The Experts class: loop and run agree, sleeping, new names, bad input, resuming, and every method."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.experts import METHODS, Experts, best_mixture, filled, plot_weights
from burkholder.experts.beside import LANES

OPTIONS = {"ewa": {"rate": 0.3}}


def make(method="huber-root", loss="absolute", **more):
    return Experts(loss, method=method, **OPTIONS.get(method, {}), **more)


def data(seed=0, n=120, d=3, asleep=0.2):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    x = y[:, None] + rng.normal(size=(n, d)) * np.linspace(0.3, 2, d)
    x[rng.random((n, d)) < asleep] = np.nan
    return x, y


def same(a, b):
    (head_a, arrays_a), (head_b, arrays_b) = a.state_dict(), b.state_dict()
    return (
        head_a == head_b
        and arrays_a.keys() == arrays_b.keys()
        and all(np.array_equal(arrays_a[key], arrays_b[key], equal_nan=True) for key in arrays_a)
    )


@pytest.mark.parametrize(
    "method, loss, options",
    [*((method, "squared", {}) for method in METHODS), ("huber-root", "absolute", {}), ("huber-root", "pinball", {"quantile": 0.9})],
)
def test_run_equals_the_loop_bit_for_bit_and_resumes_from_saved_state(method, loss, options):
    x, y = data()
    whole = make(method, loss, **options)
    run = whole.run(x, y)
    loop = make(method, loss, **options)
    for t in range(60):
        assert loop.predict(x[t]) == run.predictions[t]
        np.testing.assert_array_equal(list(loop.weights(x[t]).values()), run.details["weights"][t])
        loop.update(x[t], y[t])
    header, arrays = loop.state_dict()
    resumed = Experts.from_state(json.loads(json.dumps(header)), {k: v.copy() for k, v in arrays.items()})
    for t in range(60, len(y)):
        assert resumed.predict(x[t]) == run.predictions[t]
        resumed.update(x[t], y[t])
    assert same(whole, resumed)
    assert run.mean_loss == pytest.approx(whole.certificate().mean_loss)
    awake = ~np.isnan(x).all(axis=1)
    np.testing.assert_allclose(run.details["weights"][awake].sum(axis=1), 1.0)
    assert (run.details["weights"] >= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_predicting_changes_nothing_and_copies_do_not_move(method):
    x, y = data()
    experts = make(method)
    experts.run(x, y)
    header, arrays = experts.state_dict()
    certificate = experts.certificate()
    before = certificate.realised("0"), certificate.bound("0")
    experts.predict(x[0])
    experts.predict({"0": 1.0, "new": 2.0})
    experts.weights()
    assert same(experts, Experts.from_state(header, arrays))
    experts.update(x[0], 3.0)
    assert (certificate.realised("0"), certificate.bound("0")) == before


BAD = [
    ({"0": "high"}, 1.0, "x['0']"),
    ({"0": math.inf}, 1.0, "x['0']"),
    ({"0": 1e200}, 1.0, "x['0']"),
    ([1.0, 2.0], 1.0, "x"),
    (3.0, 1.0, "x"),
    ("abc", 1.0, "x"),
    ([1.0, 2.0, 3.0], math.nan, "y"),
    ([1.0, 2.0, 3.0], "one", "y"),
    ([1.0, 2.0, 3.0], None, "y"),
    ([1.0, 2.0, 3.0], 1e200, "y"),
    ({"0": 1.0, "new": 2.0}, math.inf, "y"),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("x, y, argument", BAD)
def test_bad_input_names_the_argument_and_leaves_the_state(method, x, y, argument):
    experts = make(method, "squared")
    experts.run(*data())
    header, arrays = experts.state_dict()
    with pytest.raises(BadInput) as error:
        experts.update(x, y)
    assert error.value.argument == argument
    assert same(experts, Experts.from_state(header, arrays))


def test_bad_arrays_leave_the_state():
    x, y = data()
    experts = make()
    experts.run(x, y)
    header, arrays = experts.state_dict()
    wrong = x.copy()
    wrong[77, 1] = np.inf
    for F, targets in (
        (wrong, y),
        (x, y[:-1]),
        (x[:, :2], y),
        (x[0], y[:1]),
        (x, np.where(y > 2, np.nan, y)),
        ([["a"] * 3], [1.0]),
        (x, y + np.inf),
    ):
        with pytest.raises(BadInput):
            experts.run(F, targets)
    assert same(experts, Experts.from_state(header, arrays))
    with pytest.raises(BadInput, match=r"X\[77\]\[1\]"):
        experts.run(wrong, y)


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "huber"},
        {"loss": "sqared"},
        {"bound": -1.0},
        {"lipschitz": math.inf},
        {"rate": 0.1},
        {"method": "ewa"},
        {"shares": (0.1,)},
        {"shares": (0.0, 1.0)},
        {"rates": 0},
        {"outside": (math.nan,)},
        {"quantile": 0.5},
        {"loss": "pinball", "quantile": 1.5},
    ],
)
def test_bad_settings_are_refused(wrong):
    with pytest.raises(BadInput):
        Experts(**wrong)


@pytest.mark.parametrize("method", METHODS)
def test_an_expert_that_never_wakes_changes_nothing(method):
    x, y = data()
    padded = np.column_stack([x, np.full(len(y), np.nan)])
    np.testing.assert_array_equal(make(method).run(padded, y).predictions, make(method).run(x, y).predictions)


@pytest.mark.parametrize("method", METHODS)
def test_names_may_appear_at_any_time(method):
    """A name first met in round 40 is an expert that was asleep till then."""
    x, y = data(asleep=0.0)
    late = x.copy()
    late[:40, 2] = np.nan
    names = ("gfs", "ecmwf", "icon")
    experts = make(method)
    played = []
    for t in range(len(y)):
        line = {name: late[t, j] for j, name in enumerate(names) if not math.isnan(late[t, j])}
        played.append(experts.predict(line))
        experts.update(line, y[t])
    run = make(method).run({name: late[:, j] for j, name in enumerate(names)}, y)
    assert experts.names == names
    np.testing.assert_allclose(played, run.predictions, rtol=1e-12, atol=1e-12)
    assert experts.expert_losses()["icon"] == pytest.approx(
        np.mean(np.where(np.isnan(late[:, 2]), np.abs(played - y), np.abs(late[:, 2] - y)))
    )


def test_sleeping_regret_counts_awake_rounds_only_and_is_bounded():
    x, y = data(n=400, asleep=0.5)
    run = make(loss="squared").run(x, y)
    whole = filled(run)
    for w in ([1, 0, 0], [0, 0, 1], [0.5, 0.25, 0.25]):
        regret = run.losses.sum() - ((whole @ w - y) ** 2).sum()
        assert regret <= run.certificate.realised(w) + 1e-9 * abs(regret)
        assert run.certificate.realised(w) <= run.certificate.bound(w)
    direct = np.nansum((run.predictions - y) ** 2 - (x[:, 0] - y) ** 2)  # squared loss gives all its curvature back
    assert run.certificate.realised("0") == pytest.approx(direct)
    best = best_mixture(run)
    assert best.loss <= min(((whole[:, j] - y) ** 2).mean() for j in range(3)) + 1e-12


def test_rounds_without_any_expert_repeat_the_last_prediction():
    experts = make()
    assert experts.predict({}) == 0.0
    experts.update({"a": 2.0, "b": 4.0}, 3.0)
    assert experts.predict({}) == experts.predict({"a": None, "b": math.nan}) == 3.0
    experts.update({}, 5.0)
    certificate = experts.certificate()
    assert certificate.cumulative_loss == 2.0 and 0.0 <= certificate.realised("a") < 1e-15
    assert any("asleep" in note for note in certificate.notes)


def test_bound_given_keeps_predictions_inside_and_known_slopes_are_watched():
    x, y = data(asleep=0.0)
    y = np.clip(y, -1, 1)
    run = Experts("squared", bound=1.0).run(3 * x, y)
    assert np.abs(run.predictions).max() == 1.0
    assert run.certificate.valid and run.certificate.potential <= 1e-12
    with pytest.raises(BadInput):
        Experts("squared", bound=1.0).run(x, y * 3)
    steep = Experts("squared", lipschitz=0.5).run(x, y).certificate
    assert steep.valid and any("slopes were beyond 0.5" in note for note in steep.notes)
    best = Experts("squared", lipschitz=0.5).run(x, y)
    for j in range(3):
        regret = best.losses.sum() - ((x[:, j] - y) ** 2).sum()
        assert regret <= steep.bound(str(j))


def test_pinball_reaches_beyond_the_hull():
    rng = np.random.default_rng(4)
    y = rng.normal(size=3000)
    x = np.tile([0.0, 0.1], (3000, 1))
    run = Experts("pinball", quantile=0.9).run(x, y)
    inside = Experts("pinball", quantile=0.9, outside=()).run(x, y)
    best = np.mean([losses.value(losses.get("pinball", quantile=0.9), 1.2816, t) for t in y])
    assert run.mean_loss < 1.05 * best < 0.8 * inside.mean_loss
    assert abs(np.mean(y[1000:] <= run.predictions[1000:]) - 0.9) < 0.02
    assert run.certificate.names[2:] == ("mean-2·mae", "mean-1·mae", "mean-0.5·mae", "mean+0.5·mae", "mean+1·mae", "mean+2·mae")


def test_methods_find_the_good_expert_and_beat_the_average():
    x, y = data(n=1500, asleep=0.0)
    for method in METHODS:
        experts = make(method)
        run = experts.run(x, y)
        assert run.mean_loss < 0.6 * experts.average_loss, method
        assert run.mean_loss < 1.15 * experts.expert_losses()["0"], method
        assert max(experts.names, key=experts.weights().get) == "0"


def test_a_loss_of_ones_own_and_classes():
    x, y = data(asleep=0.0)
    custom = losses.Custom(lambda p, t: abs(p - t), lambda p, t: float(np.sign(p - t)), 1.0)
    named = Experts("absolute").run(x, y)
    np.testing.assert_array_equal(Experts(custom).run(x, y).predictions, named.predictions)
    with pytest.raises(BadInput):
        Experts(custom).state_dict()
    breaks = Experts(custom._replace(slope=lambda p, t: math.inf if t > 1.5 else 0.0))
    with pytest.raises(BadInput):
        breaks.run(x, y)
    assert breaks.names == () and breaks.certificate().rounds == 0
    labels = y > 0
    experts = Experts("logistic")
    run = experts.run(np.column_stack([4 * y, -y]), labels)
    assert run.mean_loss < 0.45
    assert experts.certificate().bound("0") >= experts.certificate().realised("0")


def test_outlier_of_a_million_millions_does_not_end_learning():
    x, y = data(n=2000, asleep=0.0)
    y[500] = 1e12
    run = Experts("squared").run(x, y)
    assert np.isfinite(run.predictions).all()
    y[500] = 0.0
    calm = Experts("squared").run(x, y)
    assert run.losses[600:].mean() < 1.1 * calm.losses[600:].mean()


def test_the_plot_and_the_certificate_can_be_read(tmp_path):
    pytest.importorskip("matplotlib")
    x, y = data()
    run = make().run(x, y)
    figure = plot_weights(run, str(tmp_path / "weights.png"))
    assert (tmp_path / "weights.png").stat().st_size > 1000 and len(figure.axes) == 2
    text, plain = str(run.certificate), run.certificate.to_dict()
    assert "huber-root" in text and "against mixtures of the experts" in text and "against the best expert" in text
    assert json.loads(json.dumps(plain))["rounds"] == len(y)
    assert run.certificate.per_expert().keys() == {"0", "1", "2", *LANES}
    for w in ("nobody", [0.5, 0.4, 0.0], [2.0, -1.0, 0.0], [1.0] * 9):
        with pytest.raises(BadInput):
            run.certificate.bound(w)
