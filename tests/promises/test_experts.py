"""regret ≤ realised ≤ corrected ≤ bound in exact arithmetic, with no tolerance: every method, every loss, every delivery.

`LEARNERS` lists what is tested: a name and a factory from (loss, options) to a learner; `STREAMS` what it meets.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from exact import REFERENCE, loss_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from burkholder import losses
from burkholder.experts import METHODS, Experts, ModelExperts
from burkholder.experts.beside import LANES

LOSSES = [
    ("absolute", {}),
    ("squared", {}),
    ("huber", {"threshold": 0.3}),
    ("pinball", {"quantile": 0.9}),
    ("epsilon-insensitive", {"epsilon": 0.1}),
    ("hinge", {}),
    ("logistic", {}),
]


def aggregate(method, **settings):
    """The factory of an aggregator."""
    return lambda loss, options: Experts(loss, method=method, **settings, **options)


LEARNERS = {method: aggregate(method, **({"rate": 0.3} if method == "ewa" else {})) for method in METHODS}
LEARNERS |= {f"{method} from losses": aggregate(method, linear=False, **more) for method, more in (("ewa", {"rate": 0.3}), ("ml-poly", {}))}


# a rule and a loss are machine code of their own: the default meets every loss, the others two each, dealt out in turn
PAIRS = [
    (kind, *LOSSES[k])
    for place, kind in enumerate(LEARNERS)
    for k in range(len(LOSSES))
    if kind == "huber-root" or k in (place % len(LOSSES), (place + 3) % len(LOSSES))
]
each_pair = pytest.mark.parametrize("kind, loss, options", PAIRS, ids=[f"{kind}-{loss}" for kind, loss, _ in PAIRS])


class Watch:
    """Plays a learner and keeps what it played, exactly: (ŷ, forecasts with ŷ for those asleep, y, weight)."""

    def __init__(self, learner):
        self.learner, self.rounds = learner, []

    def book(self, yhat, full, y, weight):
        row = {name: yhat if math.isnan(x) else x for name, x in full.items()}
        label = losses.label(self.learner.loss, y)
        self.rounds.append((Fraction(yhat), {key: Fraction(x) for key, x in row.items()}, Fraction(label), Fraction(weight)))

    def regret(self, w):
        """Σ weight·(ℓ(ŷ) − ℓ(⟨w, x⟩)) for w, normalised."""
        shares = {name: Fraction(share) for name, share in w.items()}
        loss, total, sum_ = self.learner.loss, sum(shares.values()), Fraction(0)
        for yhat, x, y, weight in self.rounds:
            mix = sum((share * x.get(name, yhat) for name, share in shares.items()), Fraction(0)) / total
            if weight:
                sum_ += weight * (loss_of(loss, yhat, y) - loss_of(loss, mix, y) - REFERENCE)
        return sum_

    def affine(self, w, constant):
        """Σ weight·(ℓ(ŷ) − ℓ(Σw_jx_j + constant)), whatever w sums to."""
        shares, loss, sum_ = {name: Fraction(share) for name, share in w.items()}, self.learner.loss, Fraction(0)
        for yhat, x, y, weight in self.rounds:
            mix = sum((share * x.get(name, yhat) for name, share in shares.items()), Fraction(constant))
            if weight:
                sum_ += weight * (loss_of(loss, yhat, y) - loss_of(loss, mix, y) - REFERENCE)
        return sum_

    def lost(self, name, w, constant=0.0):
        """Σ weight·(ℓ(x_name) − ℓ(Σw_jx_j + constant)), w of fractions."""
        loss, sum_ = self.learner.loss, Fraction(0)
        for yhat, x, y, weight in self.rounds:
            mix = sum((share * x.get(other, yhat) for other, share in w.items()), Fraction(constant))
            if weight:
                sum_ += weight * (loss_of(loss, x.get(name, yhat), y) - loss_of(loss, mix, y) - REFERENCE)
        return sum_

    def check_ways(self, certificate, mixtures):
        """What an expert made lost to others is never more than is added to what was promised to it."""
        names, made = certificate.names, len(certificate.ways)
        for i in {0, made - 1} if made else ():
            for w in mixtures:
                total = sum(map(Fraction, w.values()))
                whom = certificate.distribution(w)
                lost = self.lost(names[i - made], {name: Fraction(share) / total for name, share in w.items()})
                assert lost <= Fraction(min(certificate._beyond(i, 0.0, whom), 1e308)), (i, w)

    def check(self):
        """The order, for single experts, for mixtures and for the worst of all."""
        certificate = self.learner.certificate()
        names = certificate.names
        alone = [{name: 1.0} for name in names]
        mixed = [dict.fromkeys(names, 1.0 / len(names)), {names[0]: 0.1, names[-1]: 0.9}] if len(names) > 1 else []
        for w in alone + mixed:
            regret = self.regret(w)
            numbers = [certificate.realised(w), certificate.corrected(w), certificate.bound(w, nominal=certificate.valid)]
            for before, after in zip([regret, *numbers], numbers):
                assert math.isinf(after) or Fraction(before) <= Fraction(after), (w, float(regret), numbers)
            assert numbers[0] < math.inf
            if all(certificate.met[names.index(name)] for name in w) and (certificate.alone is None or len(w) == 1):
                worst = [certificate.realised(), certificate.corrected(), certificate.bound()]
                assert all(math.isinf(after) or regret <= after for after in worst), (w, float(regret), worst)
        for w, constant in (({names[0]: 1.5, names[-1]: -0.7}, 0.3), ({names[-1]: -1.0}, -2.0), ({}, 0.1), ({names[0]: 1.0}, 1e9)):
            assert self.affine(w, constant) <= Fraction(min(certificate.affine(w, constant), 1e308)), (w, constant)
            assert certificate.affine(w, constant) <= certificate.affine_bound(w, constant)
        self.check_ways(certificate, [*mixed, alone[0], alone[-1]])
        return certificate


NUMBERS = st.one_of(
    st.floats(-3, 3), st.sampled_from([0.0, 0.1, -0.1, 1.0, 0.30000000000000004, 1e14, -1e14, 1e17, 1e-17, 2.0**-60, 1e-200])
)
WEIGHTS = st.sampled_from([1.0, 1.0, 1.0, 0.0, 0.1, 3.7, 1e17, 1e-17])
ROUND = st.tuples(st.lists(st.one_of(NUMBERS, st.just(math.nan)), min_size=3, max_size=3), NUMBERS, WEIGHTS, st.booleans())
STREAM = st.lists(ROUND, min_size=1, max_size=12)


def targets(learner, numbers):
    return [1.0 if y > 0 else -1.0 for y in numbers] if losses.is_classification(learner.loss) else list(numbers)


def widened(learner, ticket):
    """The experts outside the hull too, as they were played."""
    full, _ = learner._tickets.look(ticket.id).memo
    return dict(zip((*learner.columns[len(learner.names) :], "a", "b", "c"), full.tolist()))


@each_pair
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(STREAM)
def test_no_number_is_below_the_true_regret(kind, loss, options, stream):
    """Weights, sleeping, late labels, saved and loaded midway, values from 1e-200 to 1e17 beside each other."""
    learner = LEARNERS[kind](loss, options)
    learner.admit(("a", "b", "c"))
    watch, waiting = Watch(learner), []
    for t, ((x, _, weight, late), label) in enumerate(zip(stream, targets(learner, [round[1] for round in stream]))):
        ticket = learner.play(dict(zip("abc", x)))
        full = widened(learner, ticket)
        if late:
            waiting.append((ticket, full, label, weight))
            continue
        learner.reveal(ticket.id, label, weight)
        watch.book(ticket.prediction, full, label, weight)
        if t == len(stream) // 2 and not waiting:
            header, arrays = learner.state_dict()
            learner = watch.learner = Experts.from_state(json.loads(json.dumps(header)), arrays)
    for ticket, full, label, weight in waiting:
        learner.reveal(ticket.id, label, weight)
        watch.book(ticket.prediction, full, label, weight)
    watch.check()


ATTACKS = {
    "one huge forecast, then light rounds": ([([1e17, 0.0, 0.3], 0.0, 1.0)] + [([0.7, -0.2, 0.3], 0.1, 1.0)] * 60),
    "one heavy round, then light ones": ([([0.7, -0.2, 0.3], 0.9, 1e17)] + [([0.7, -0.2, 0.3], 0.1, 1.0)] * 60),
    "a large expert beside small ones": ([([1e14, 1.0, 0.3 + t], 1.0 - t % 2, 1.0) for t in range(60)]),
    "tenths": ([([0.1, 0.2, 0.3], 10.0, 0.1)] * 60),
    "at the kink": ([([0.1 + t, 0.2 + t, t - 0.1], t * 1.0, 1.0) for t in range(40)]),
    "subnormal": ([([1e-310, -1e-310, 5e-324], 1e-310, 1.0)] * 20),
    "far from zero": ([([1e17, 1e17 + 16, 1e17 + 48], 1e17 + 16 * (t % 5), 1.0) for t in range(40)]),
}


@each_pair
@pytest.mark.parametrize("attack", ATTACKS)
def test_cancellation_is_survived(kind, attack, loss, options):
    learner = LEARNERS[kind](loss, {**options, **({"outside": ()} if loss == "pinball" else {})})
    watch, rounds = Watch(learner), ATTACKS[attack]
    y = targets(learner, [round[1] for round in rounds])
    x = np.array([round[0] for round in rounds])
    weight = np.array([round[2] for round in rounds])
    run = learner.run(x, y, weight, trace=7)
    said = np.hstack([run.details["forecasts"], run.details["lanes"]])
    for t in range(len(y)):
        watch.book(float(run.predictions[t]), dict(zip(learner.columns, said[t].tolist())), y[t], weight[t])
    certificate = watch.check()
    assert run.trace["realised"][-1] == certificate.realised() == run.certificate.realised()
    assert run.mean_loss == pytest.approx(certificate.mean_loss, rel=1e-14, abs=0.0)


def test_squared_regret_is_known_to_the_last_digits():
    """With what curvature gives back the realised regret is the true one, to mixtures as to affine combinations."""
    rng = np.random.default_rng(8)
    y = rng.normal(size=400)
    x = 2.0 + y[:, None] + rng.normal(size=(400, 3))
    run = Experts("squared").run(x, y)
    paid = run.losses.sum()
    for w, constant in (([0.2, 1.3, -0.9], 0.4), ([0.0, 0.0, 0.0], -1.0), ([0.25, 0.25, 0.5], 0.0)):
        exact = paid - np.sum((x @ np.array(w) + constant - y) ** 2)
        assert 0.0 <= run.certificate.affine(w, constant) - exact <= 1e-9 * paid
    assert run.certificate.affine("0") == pytest.approx(run.certificate.realised("0"), rel=1e-12)
    assert run.certificate.realised([0.2, 0.5, 0.3]) == pytest.approx(paid - np.sum((x @ [0.2, 0.5, 0.3] - y) ** 2), rel=1e-9)


def test_a_promise_may_go_by_way_of_an_expert_made_from_the_others():
    """Forecasts that share a bias: the mean debiased is near, and what is promised to it is little; recomputed from the stream."""
    rng = np.random.default_rng(4)
    y = rng.normal(size=500).cumsum()
    x = 20.0 + y[:, None] + 4.0 * rng.normal(size=(500, 5))
    for loss, pay in (("absolute", np.abs), ("squared", np.square)):
        run = Experts(loss).run(x, y)
        x = run.details["forecasts"]  # as they were played
        certificate, w = run.certificate, np.full(5, 0.2)
        whom = certificate.distribution(w)
        straight = certificate.promise.promised(whom) - certificate._back(whom)
        assert certificate.bound(w) < 0.5 * straight
        assert certificate.bound() < certificate.promise.promised(None)
        shifted = certificate.affine_bound(w, -20.0)
        assert run.losses.sum() - pay(x @ w - 20.0 - y).sum() <= certificate.affine(w, -20.0) <= shifted < 0.55 * run.losses.sum()
        for i, lane in enumerate(run.details["lanes"].T):
            awake = np.where(np.isnan(lane), run.predictions, lane)
            lost = pay(awake - y).sum() - pay(x @ w - y).sum()
            slack = certificate._beyond(i, 0.0, whom) - lost
            assert slack >= 0.0 and (loss == "absolute" or slack <= 1e-9 * pay(x - y[:, None]).sum())
    assert math.isinf(Experts("absolute", lanes=False).run(x, y).certificate.affine_bound(w))


def test_without_curvature_it_is_the_linearised_one():
    rng = np.random.default_rng(8)
    y = rng.normal(size=400)
    x = 2.0 + y[:, None] + rng.normal(size=(400, 3))
    run = Experts("absolute").run(x, y)
    delta = np.sign(run.predictions - y)
    for w, constant in (([0.2, 1.3, -0.9], 0.4), ([0.0, 0.0, 0.0], -1.0), ([0.25, 0.25, 0.5], 0.0)):
        exact = math.fsum(delta * (run.predictions - x @ np.array(w) - constant))
        assert 0.0 <= run.certificate.affine(w, constant) - exact <= 1e-10 * math.fsum(np.abs(delta))
    shifted = next(line for line in run.certificate.others if line.name == "realised to a shifted mean")
    error = np.abs(x.mean(axis=1) - y).mean()
    third = np.full(3, 1 / 3)
    assert shifted.value == pytest.approx(max(run.certificate.affine(third, c) for c in (error, -error)), rel=1e-9)
    for w, constant in (([math.nan], 0.0), ("0", math.inf), ("nobody", 0.0), ([1.0] * 99, 0.0)):
        with pytest.raises(ValueError):
            run.certificate.affine(w, constant)


def test_rounding_is_negligible_on_a_long_stream():
    """10⁷ rounds in the tally's own terms: what is charged stays below 1e-9 of the losses."""
    rng = np.random.default_rng(3)
    n = 20_000
    y = rng.normal(size=n)
    x = y[:, None] + rng.normal(size=(n, 3))
    for method in ("huber-root", "ewa"):
        learner = LEARNERS[method]("absolute", {})
        run = learner.run(x, y, trace=0)
        delta = np.sign(run.predictions - y)
        for j in range(3):
            gain = math.fsum(delta * (run.predictions - x[:, j]))
            assert 0.0 <= learner.certificate().realised(str(j)) - gain < 1e-13 * run.losses.sum()
        learner._tally.totals[0] = 1e7  # the charge for that many rounds
        assert learner.certificate().realised("0") - math.fsum(delta * (run.predictions - x[:, 0])) < 1e-9 * run.losses.sum()


@pytest.mark.parametrize("kind", LEARNERS)
def test_loop_run_and_reveal_give_the_same_bits(kind):
    rng = np.random.default_rng(5)
    x, y, weight = rng.normal(size=(60, 3)), rng.normal(size=60), rng.uniform(0, 3, size=60)
    x[rng.random((60, 3)) < 0.2] = np.nan
    whole, loop, late = (LEARNERS[kind]("squared", {}) for _ in range(3))
    run = whole.run(x, y, weight, trace=11)
    for t in range(60):
        assert loop.predict(x[t]) == run.predictions[t]
        loop.update(x[t], y[t], weight[t])
        row = x[t].copy()
        ticket = late.play(row)
        row[:] = 1e6  # what was played is what is learned
        late.reveal(ticket.id, y[t], weight[t])
    states = [learner.state_dict()[1] for learner in (whole, loop, late)]
    for arrays in states[1:]:
        assert arrays.keys() == states[0].keys() and all(np.array_equal(arrays[key], states[0][key]) for key in arrays)
    np.testing.assert_array_equal(whole.predict_many(x[:20]), [loop.predict(row) for row in x[:20]])
    assert whole.certificate().mean_loss == pytest.approx(run.mean_loss, rel=1e-14)
    assert run.mean_loss == pytest.approx(float(np.average(run.losses, weights=weight)), rel=1e-14)


def test_late_labels_void_the_promise_and_nothing_else():
    rng = np.random.default_rng(6)
    learner = LEARNERS["huber-root"]("absolute", {})
    learner.admit(("a", "b", "c"))
    watch = Watch(learner)
    rows = rng.normal(size=(30, 3))
    tickets = [learner.play(dict(zip("abc", row))) for row in rows]
    learner.update({"late": 1.0, "a": 0.5}, 2.0)  # an expert met meanwhile was asleep then
    watch.book(learner._tally.totals[3], {"a": 0.5, "b": math.nan, "c": math.nan, "late": 1.0}, 2.0, 1.0)  # lanes: no label yet
    for ticket, row in zip(tickets, rows):
        learner.reveal(ticket.id, 3.0)
        watch.book(ticket.prediction, {**dict(zip("abc", row)), "late": math.nan}, 3.0, 1.0)
    certificate = watch.check()
    assert not certificate.valid and certificate.assumptions[0].violations == 30
    assert certificate.bound("a") == math.inf and certificate.corrected("a") < math.inf
    assert learner.pending == 0 and learner.rounds == 31


@pytest.mark.parametrize("custom", [False, True])
def test_a_bad_row_anywhere_leaves_nothing_half_done(custom):
    def value(p, y):
        if y == 7.0:
            raise ZeroDivisionError
        return abs(p - y)

    loss = losses.Custom(value, lambda p, y: math.inf if y == 6.0 else float(np.sign(p - y)), 1.0) if custom else "absolute"
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(90, 2)), rng.normal(size=90)
    learner = Experts(loss)
    learner.run(x, y)
    before = [array.copy() for record in (learner._state, learner._tally) for array in record if isinstance(array, np.ndarray)]
    cases = [(math.nan, None, r"y\[70\]"), (0.0, -1.0, r"weight\[70\]"), (0.0, 1e308, r"y\[70\]")]
    cases += [(6.0, None, r"y\[70\]"), (7.0, None, None)] if custom else []
    for label, weight, words in cases:
        bad, weights = y.copy(), None if weight is None else np.ones(90)
        bad[70] = label
        if weights is not None:
            weights[70] = weight
        with pytest.raises(ZeroDivisionError if words is None else ValueError, match=words):
            learner.run({"0": x[:, 0] * 1e3, "1": x[:, 1], "new": x[:, 0]}, bad, weights, trace=9)
        with pytest.raises(ZeroDivisionError if words is None else ValueError):
            learner.update({"0": 1e3, "newer": 2.0}, label, 1.0 if weight is None else weight)
        after = [array for record in (learner._state, learner._tally) for array in record if isinstance(array, np.ndarray)]
        assert learner.names == ("0", "1") and all(np.array_equal(a, b) for a, b in zip(before, after))


class Fragile:
    """A model that fails to learn one row."""

    def __init__(self):
        self.seen = []

    def predict(self, x):
        return float(len(self.seen))

    def update(self, x, y):
        if x["a"] == 13:
            raise RuntimeError("unlucky")
        self.seen.append(y)


def test_models_are_played_copied_and_put_back():
    models = ModelExperts({"one": Fragile(), "rule": lambda x: float(x["b"][0]), "two": Fragile()}, loss="absolute", careful=True)
    row = {"a": 1, "b": [2.0]}
    ticket = models.play(row)
    row["b"][0] = 50.0
    models.reveal(ticket.id, 2.0)
    rule = models.certificate().realised("rule")
    assert rule >= abs(ticket.prediction - 2.0) > 0.0  # the rule said 2, whatever became of the row
    with pytest.raises(RuntimeError):
        models.update({"a": 13, "b": [1.0]}, 1.0)
    with pytest.raises(RuntimeError):
        models.run([{"a": 5, "b": [1.0]}, {"a": 13, "b": [1.0]}], [1.0, 2.0])
    assert models.rounds == 1 and [len(models.models[name].model.seen) for name in ("one", "two")] == [1, 1]
    with pytest.raises(ValueError, match=r"y\[1\]"):
        models.run([{"a": 5, "b": [1.0]}] * 2, [1.0, math.nan])
    run = models.run([{"a": 5, "b": [1.0]}] * 4, [1.0, 2.0, 3.0, 1.0], weight=[1, 2, 3, 0])
    assert models.rounds == 5 and run.details["forecasts"].shape == (4, 3)
    np.testing.assert_array_equal(models.predict_many([{"a": 5, "b": [1.0]}] * 2), [models.predict({"a": 5, "b": [1.0]})] * 2)


def test_models_answer_for_their_regret_exactly():
    models = ModelExperts({"up": lambda x: x * 0.1, "down": lambda x: -x * 0.3, "asleep": lambda x: None}, loss="squared")
    watch = Watch(models)
    for t in range(25):
        weight = 0.1 + t % 3
        said = {"up": t * 0.1, "down": -t * 0.3, "asleep": math.nan}
        ticket = models.play(float(t))
        full = models._tickets.look(ticket.id).memo[1][0]
        models.reveal(ticket.id, 0.2 * t, weight)
        watch.book(ticket.prediction, {**dict(zip(LANES, full.tolist())), **said}, 0.2 * t, weight)
    watch.check()
