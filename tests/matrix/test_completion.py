"""MatrixCompletion: certificate by brute force, loop = run, saving, ids, bad input, files and the command."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder.errors import BadInput, BadLine
from burkholder.matrix import bet, graph, rows
from burkholder.matrix.completion import MatrixCompletion
from burkholder.matrix.ratings import read_ratings
from burkholder.matrix.ratings_certificate import bet_bound, direction_bound

VARIANTS = {
    "default": {},
    "fast": {"fast": True},
    "sign-flip": {"strategy": "sign-flip", "radius": 40.0},
    "doubling": {"strategy": "sign-flip", "radius": 40.0, "rate": "doubling"},
    "fixed": {"strategy": "sign-flip", "radius": 40.0, "rate": 0.3},
    "mixture": {"strategy": "sign-flip", "rate": "mixture"},
}


def ratings(seed=0, users=15, items=20, rounds=300, low=1.0, high=5.0):
    rng = np.random.default_rng(seed)
    taste, kind = rng.normal(size=(users, 2)), rng.normal(size=(items, 2))
    u, i = rng.integers(0, users, rounds), rng.integers(0, items, rounds)
    raw = 3.5 + 0.8 * (taste[u] * kind[i]).sum(1) + 0.3 * rng.normal(size=rounds)
    y = np.clip(np.round(raw), 1, 5)
    return [f"u{k}" for k in u], i.tolist(), (low + (y - 1) / 4 * (high - low)).tolist()


@pytest.mark.parametrize("variant", VARIANTS)
def test_run_is_the_loop_and_a_saved_learner_resumes_bit_for_bit(variant):
    users, items, y = ratings(rounds=120)
    whole = MatrixCompletion(**VARIANTS[variant])
    run = whole.run(users, items, y)
    loop = MatrixCompletion(**VARIANTS[variant])
    for t in range(120):
        before = loop.predict(users[t], items[t])
        assert loop.update(users[t], items[t], y[t]) is None
        assert before == run.predictions[t]
        if t == 60:
            header, arrays = loop.state_dict()
            loop = MatrixCompletion.from_state(json.loads(json.dumps(header)), arrays)
    assert loop.certificate().to_dict() == whole.certificate().to_dict()
    assert loop.mae == whole.mae == pytest.approx(np.abs(run.predictions - y).mean(), rel=1e-12)
    assert loop.rmse == pytest.approx(np.sqrt(np.mean((run.predictions - np.array(y)) ** 2)), rel=1e-12)
    assert run.predictions.min() >= 1.0 and run.predictions.max() <= 5.0


@pytest.mark.parametrize("scale", [(1.0, 5.0), (-10.0, 10.0)])
def test_the_scale_of_ratings_does_not_matter(scale):
    users, items, y = ratings(rounds=100)
    plain = MatrixCompletion(1, 5).run(users, items, y).predictions
    scaled = MatrixCompletion(*scale).run(*ratings(rounds=100, low=scale[0], high=scale[1])).predictions
    np.testing.assert_allclose((scaled - scale[0]) / (scale[1] - scale[0]), (plain - 1) / 4, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_certificate_against_brute_force(seed):
    """Never more than κ worse than the bias model; within bound(ρ) of bias + W for every W tried, adversaries
    too.
    """
    rng = np.random.default_rng(seed)
    users, items, y = ratings(seed, rounds=400)
    if seed == 3:  # labels from a coin: nothing to learn, everything to lose
        y = rng.choice([1.0, 5.0], 400).tolist()
    learner = MatrixCompletion()
    run = learner.run(users, items, y)
    c = learner.certificate()
    yhat, b, target = run.predictions, run.details["bias"], np.array(y)
    lost = lambda p: np.sum((p - target) ** 2)  # noqa: E731
    delta = (yhat - target) / 2.0  # on labels, of ½(ŷ−y)²
    never, wealth, followed = c.others
    assert {str(other.comparators) for other in c.others} == {"b (the bias model)"}
    assert lost(yhat) - lost(b) <= followed.value == c.realised(radius=0.0)
    assert followed.value == pytest.approx(float(2.0 * (yhat - target) @ (yhat - b)), abs=1e-9)
    assert followed.value <= wealth.value <= never.value == 8.0
    assert wealth.value == pytest.approx(8.0 * (1.0 - np.mean(np.exp(learner.engine.log_wealth))), abs=1e-9)
    rows, columns = sorted(set(users)), sorted(set(items))
    at = (np.array([rows.index(u) for u in users]), np.array([columns.index(i) for i in items]))
    G = np.zeros((len(rows), len(columns)))
    np.add.at(G, at, delta)
    assert np.linalg.norm(G, 2) * (1 - 1e-14) <= c.largest <= np.linalg.norm(G, 2) * (1 + 1e-9)
    U, _, Vt = np.linalg.svd(G)
    for nuclear in (0.0, 0.5, 5.0, 50.0, 500.0):
        worst = -nuclear * np.outer(U[:, 0], Vt[0])  # the comparator that hurts most in linearised loss
        d1, d2 = G.shape
        tries = [worst] + [rng.normal(size=(d1, 1)) @ rng.normal(size=(1, d2)) for _ in range(20)]
        for W in tries:
            norm = np.linalg.norm(W, "nuc")
            W = W * (nuclear / norm) if norm > 0 else W
            entries = {(row, column): W[i, j] for i, row in enumerate(rows) for j, column in enumerate(columns)}
            regret = lost(yhat) - lost(b + 2.0 * W[at])
            assert regret <= c.realised(entries) <= c.realised(radius=nuclear * (1 + 1e-12)) + 1e-9
        assert c.realised(radius=nuclear) <= c.corrected(radius=nuclear) <= c.bound(radius=nuclear)
        # the order is not only by construction
        assert c._realised((None, nuclear)) <= c._corrected((None, nuclear)) + 1e-6 <= c._promised((None, nuclear)) + 2e-6
    assert c.along + c.largest <= c.promised
    assert c.potential <= 1e-9 and c.valid
    assert c.comparators.to_dict() == {"space": "b + 2·⟨W, X⟩ (b: the bias model)", "norm": "‖W‖_Σ", "radius": 1.0}


@pytest.mark.parametrize("seed", range(3))
def test_the_closed_form_of_the_direction_bound(seed):
    """A₁ = 4 log D + 3.13 sqrt((V+4) log D) is above the ledger when all rows and columns come first."""
    rng = np.random.default_rng(seed)
    learner = MatrixCompletion()
    ids = 12
    for k in range(ids):  # all join in the first rounds, in one rating each
        learner.update(k, k, 3)
    for _ in range(600):
        u, i = int(rng.geometric(0.4) - 1) % ids, int(rng.integers(ids))
        learner.update(u, i, float(rng.choice([1, 5])))
    V = float(learner.engine.graph.diagonal[: 2 * ids].max())
    c = learner.certificate()
    assert learner.engine.scalars[2] >= 8 * 4.0  # the ceiling has doubled several times
    assert c.along + c.largest <= c.promised <= direction_bound(V, 2 * ids)
    assert c.promised > 0.5 * direction_bound(V, 2 * ids)


def test_bet_bound_is_the_conjugate_it_says():
    rho, squares, widest = 40.0, 0.02, 0.01
    s = np.linspace(-400, 40, 400_001)
    best = math.inf
    for k in range(25):
        beta = 2.0**k
        if beta * widest <= 0.25:
            power = np.minimum(beta * s - beta**2 * squares, 700.0)
            best = min(best, np.max(rho * s - np.exp(power) / bet.MULTIPLIERS))
    assert bet_bound(rho, squares, widest) == pytest.approx(1.0 + best, rel=1e-4)
    assert bet_bound(0.0, squares, widest) == 1.0


def test_fast_stays_close_and_says_its_error():
    users, items, y = ratings(rounds=600)
    slow, fast = MatrixCompletion().run(users, items, y), MatrixCompletion(fast=True).run(users, items, y)
    assert fast.details["steps"].max() <= 4 < slow.details["steps"].max()
    assert np.abs(fast.predictions - slow.predictions).max() < 0.1
    assert fast.details["errors"].max() > 0.0 and "Krylov error" in fast.certificate.notes[1]


def test_it_learns_more_than_biases():
    users, items, y = ratings(5, users=30, items=30, rounds=3000)
    run = MatrixCompletion(fast=True).run(users, items, y)
    tail = slice(1500, None)
    error = np.mean((run.predictions[tail] - np.array(y)[tail]) ** 2)
    biases = np.mean((run.details["bias"][tail] - np.array(y)[tail]) ** 2)
    assert error < 0.8 * biases


def test_unknown_ids_answer_with_the_bias():
    learner = MatrixCompletion(1, 5)
    assert learner.predict("nobody", "nothing") == 3.0
    users, items, y = ratings(rounds=200)
    learner.run(users, items, y)
    assert learner.predict("nobody", 10**6) == pytest.approx(np.mean(y), abs=0.5)


@pytest.mark.parametrize("first, other", [(7, "7"), ("7", 7), ("-3", -3)])
def test_a_number_and_its_digits_are_not_taken_for_two_ids(first, other):
    """Whoever learned from a file and asks with numbers (or the other way round) is told, and nothing changes."""
    learner = MatrixCompletion(1, 5)
    learner.update(first, first, 5)
    before = learner.state_dict()
    for asked in (
        lambda: learner.predict(other, first),
        lambda: learner.predict(first, other),
        lambda: learner.update(other, "x", 4),
        lambda: learner.play(first, other),
        lambda: learner.predict_many([("x", first), (other, first)]),
        lambda: learner.run(["a", "b"], [first, other], [1, 2]),
        lambda: MatrixCompletion(1, 5).run([first, other], ["a", "b"], [1, 2]),
        lambda: learner.top(other),
    ):
        with pytest.raises(BadInput, match="keep to one kind"):
            asked()
    assert str(learner.state_dict()) == str(before)
    assert learner.spelled_pairs([other], [other]) == ([first], [first])
    learner.update("07", "007", 3)  # other digits are other ids
    assert learner.rows == 2


def test_top_matches_predict_and_leaves_out_what_was_rated():
    users, items, y = ratings(rounds=150)
    learner = MatrixCompletion()
    learner.run(users, items, y)
    best = learner.top("u3", 5)
    assert [score for _, score in best] == sorted((score for _, score in best), reverse=True)
    assert not {item for item, _ in best} & {i for u, i in zip(users, items) if u == "u3"}
    for item, score in learner.top("u3", 30, seen=True):
        assert learner.predict("u3", item) == pytest.approx(score, abs=1e-4)
    assert len(learner.top("stranger", 3)) == 3


@pytest.mark.parametrize("node", [0, 3])
def test_a_row_of_the_exponential_is_that_of_the_whole(node):
    import scipy.linalg

    users, items, y = ratings(rounds=300)
    learner = MatrixCompletion()
    learner.run(users, items, y)
    H, M = graph.to_dense(learner.engine.graph)
    for rate in (0.05, 0.25, 1.5):
        whole = scipy.linalg.expm(rate * H - rate**2 * np.diag(M))
        np.testing.assert_allclose(rows.exponential(learner.engine.graph, rate, rate**2, node), whole[node], atol=1e-8 * whole[node].max())


def test_many_rows_are_ranked_as_each_alone():
    users, items, y = ratings(rounds=150)
    learner = MatrixCompletion()
    learner.run(users, items, y)
    asked = ["u3", "stranger", "u1"]
    assert learner.top_many(asked, 4) == {row: learner.top(row, 4) for row in asked}
    with pytest.raises(ValueError, match=r"rows\[1\]"):
        learner.top_many(["u3", 1.5])


def test_a_pair_and_two_ids_say_the_same():
    users, items, y = ratings(rounds=40)
    pairs = list(zip(users, items))
    first, *others = (MatrixCompletion() for _ in range(5))
    first.run(users, items, y)
    others[0].run(pairs, y)
    others[1].run((users, items), y)
    others[2].run(np.array(list(zip(range(40), items))), y)  # an array of two columns
    for (user, item), rating in zip(pairs, y):
        others[3].update((user, item), rating)
    for other in (others[0], others[1], others[3]):
        assert other.certificate().to_dict() == first.certificate().to_dict()
    assert others[2].rows == 40
    assert first.predict(("u1", 3)) == first.predict("u1", 3) == first.play(("u1", 3)).prediction
    assert first.predict_many(users, items).tolist() == first.predict_many(pairs).tolist()
    assert first.predict_many([]).shape == (0,) and first.predict("nobody", 3) == first.predict_many([("nobody", 3)])[0]


def test_an_interrupted_run_is_undone():
    learner = MatrixCompletion()
    learner.run(*ratings(rounds=30))
    before = learner.state_dict()

    def stop(count, words):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learner.run(["new"] * 10, list(range(100, 110)), [3] * 10, progress=stop)
    after = learner.state_dict()
    assert before[0] == after[0] and all((before[1][name] == after[1][name]).all() for name in before[1])


def test_bad_ratings_are_named_by_their_row():
    learner = MatrixCompletion()
    for call, place in (
        (lambda: learner.run(["a"] * 5, ["b"] * 5, [3, 3, 3, 9, 3], trace=5), r"ratings\[3\]"),
        (lambda: learner.run(["a"] * 5, ["b", "b", 1.5, "b", "b"], [3] * 5), r"columns\[2\]"),
        (lambda: learner.run([("a", "b")] * 4, [3] * 4, weight=[1, 1, 1, 2], trace=4), r"weight\[3\]"),
    ):
        with pytest.raises(BadInput, match=place):
            call()
    assert learner.rounds == learner.rows == 0


BAD = [
    lambda m: m.update("a", "b", 6.0), lambda m: m.update("a", "b", math.nan),
    lambda m: m.update("a", "b", None),
    lambda m: m.update(1.5, "b", 3), lambda m: m.update("a", None, 3), lambda m: m.predict(["x"], "b"),
    lambda m: m.run(["a"], ["b"], [3, 4]), lambda m: m.run(["a", "n"], ["b", "n"], [3, math.inf]),
    lambda m: m.top("a", 0), lambda m: m.update(("a", "b"), 3, 2.0), lambda m: m.update("a", "b", 3, weight=0.5),
    lambda m: m.update("a", "b"), lambda m: m.update(("a", ("b", "c")), 3), lambda m: m.predict(("a", "b"), "c"),
    lambda m: m.predict("ab"), lambda m: m.run([("a", "b"), "cd"], [3, 3]), lambda m: m.run([("n", "b")] * 3, [3, 3, 9]),
    lambda m: m.run([("n", "b")] * 2, [3, 3], weight=[1.0, 2.0]), lambda m: m.run(("n", "b"), [3]), lambda m: m.reveal(5, 3),
    lambda m: m.reveal(m.play("u1", 1).id, 9) if m.pending < 1 else None,
]  # fmt: skip


@pytest.mark.parametrize("bad", range(len(BAD)))
def test_bad_input_changes_nothing(bad):
    learner = MatrixCompletion()
    learner.run(*ratings(rounds=20))
    header, arrays = learner.state_dict()
    with pytest.raises(BadInput):
        BAD[bad](learner)
    after = learner.state_dict()
    assert {**header, "issued": 0, "pending": []} == {**after[0], "issued": 0, "pending": []}
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, after[1][name])


@pytest.mark.parametrize("options", [
    {"low": 5, "high": 1}, {"low": math.nan}, {"tol": 0.0}, {"low": -1e308, "high": 1e308}, {"low": 1.0, "high": 1.0}, {"max_pending": 0},
    {"strategy": "magic"},
    {"radius": 3.0}, {"strategy": "sign-flip"}, {"strategy": "sign-flip", "radius": 1.0, "rate": "slow"},
    {"strategy": "sign-flip", "radius": -1.0}, {"strategy": "sign-flip", "radius": 1.0, "loss": "sqared"},
    {"strategy": "sign-flip", "radius": 1.0, "fast": True}, {"strategy": "sign-flip", "radius": 1.0, "loss": "huber"},
])  # fmt: skip
def test_bad_options(options):
    with pytest.raises(BadInput):
        MatrixCompletion(**options)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(0, 1)), max_size=40))
def test_any_stream_is_survived(stream):
    learner = MatrixCompletion(0, 1)
    for u, i, y in stream:
        assert 0.0 <= learner.predict(u, i) <= 1.0
        learner.update(u, i, y)
    c = learner.certificate()
    assert c.valid and c.others[2].value <= c.others[0].value == 0.5
    assert c.rounds == len(stream) and (c.mae is None) == (not stream)


FILES = {
    "csv": "userId,movieId,rating,timestamp\na,x,4,3\nb,y,1.5,1\na,y,2,2\n",
    "tsv": "a\tx\t4\t3\nb\ty\t1.5\t1\na\ty\t2\t2\n",
    "movielens": "a::x::4::3\nb::y::1.5::1\na::y::2::2\n",
    "spaces": "a x 4 3\n\nb y 1.5 1\na y 2 2\n",
    "reordered": "rating;item;user;date\n4;x;a;2020-01-03\n1.5;y;b;2020-01-01T10:00\n2;y;a;2020-01-02\n",
}


@pytest.mark.parametrize("kind", FILES)
def test_files_are_read_in_time_order(kind, tmp_path):
    path = tmp_path / "r.txt"
    path.write_text(FILES[kind])
    data = read_ratings(path)
    assert data.timed
    assert list(zip(*data[:3])) == [("b", "y", 1.5), ("a", "y", 2.0), ("a", "x", 4.0)]
    assert read_ratings(path, time_order=False).ratings == [4.0, 1.5, 2.0]


def test_bad_files(tmp_path):
    path = tmp_path / "r.csv"
    for text in ("", "user,item,rating\n"):
        path.write_text(text)
        with pytest.raises(BadInput, match="no ratings"):
            read_ratings(path)
    path.write_text("a,x,4\nb,y,five\n")
    with pytest.raises(BadLine, match=r"line 2.*'five'"):
        read_ratings(path)
    path.write_text("a,x,4\nb,y\n")
    with pytest.raises(BadLine, match="line 2"):
        read_ratings(path)
    with pytest.raises(BadInput, match="no such file"):
        read_ratings(tmp_path / "absent.csv")


def test_the_command(tmp_path, capsys):
    from burkholder.cli.complete import complete

    path = tmp_path / "r.csv"
    users, items, y = ratings(rounds=60)
    path.write_text("".join(f"{u},{i},{r}\n" for u, i, r in zip(users, items, y)))
    complete(str(path), json=True, predictions=str(tmp_path / "p.csv"))
    got = json.loads(capsys.readouterr().out)
    want = MatrixCompletion(min(y), max(y)).run(users, [str(i) for i in items], y)
    assert got["mae"] == pytest.approx(want.certificate.mae) and got["rounds"] == 60
    keys = "data rounds features loss learner mean_loss bound realised_regret_bound potential assumptions"
    for key in (keys + " seconds rounds_per_second rows columns mae rmse").split():
        assert key in got
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 61
    complete(str(path), strategy="sign-flip", radius=20.0, rate="0.3", quiet=True, details=True)
    assert "against 3 + 2·⟨W, X⟩ with ‖W‖_Σ ≤ 20:" in capsys.readouterr().out
