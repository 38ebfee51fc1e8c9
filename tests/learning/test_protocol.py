"""What every learner owes its user, whatever it learns: one list of learners, one suite of attacks.

A new learner is covered by a line in `KINDS`: how to make one, a stream it may meet, what is no row and no label of it.
"""

from __future__ import annotations

import copy
import json
import math
import operator
import pickle
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse

import burkholder as bk
from burkholder import losses
from burkholder.auto import Auto, AutoMulticlass
from burkholder.errors import BadInput
from burkholder.experts import METHODS, Experts, ModelExperts
from burkholder.learning.protocol import OnlineLearner
from burkholder.matrix.completion import MatrixCompletion
from burkholder.matrix.learner import MatrixLearner
from burkholder.merged.learner import Merged
from burkholder.storage import KINDS as SAVED
from burkholder.storage import pack, unpack

N = 24
BAD_WEIGHTS = (-1.0, math.nan, math.inf, "heavy", None)


class Kind(NamedTuple):
    """A learner and what it may meet; `forms` are the ways to write down row t, each a fresh object."""

    make: Callable[..., Any]
    y: list[Any]
    forms: dict[str, Callable[[int], Any]]
    bad_rows: tuple[Any, ...]
    bad_labels: tuple[Any, ...]
    weighted: bool = True
    given: dict[str, Any] = {}  # noqa: RUF012  what no file holds
    careful: tuple[str, ...] = ()  # parts of the state that are not in `state_dict`

    def rows(self, form: str | None = None) -> list[Any]:
        return [self.forms[form or next(iter(self.forms))](t) for t in range(N)]

    @property
    def weights(self) -> np.ndarray | None:
        return np.array([0.5, 1.0, 0.0, 2.0] * (N // 4)) if self.weighted else None


RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, 3)) * RNG.choice([0.0, 0.3, 1.0], (N, 3))
REAL = np.clip(X @ [0.5, -0.3, 0.2] + 0.05 * RNG.normal(size=N), -1, 1).tolist()
SIGNS = [1.0 if y > 0 else -1.0 for y in REAL]
FEATURES: dict[str, Callable[[int], Any]] = {
    "array": lambda t: X[t].copy(),
    "list": lambda t: X[t].tolist(),
    "dict": lambda t: {f"f{i}": v for i, v in enumerate(X[t].tolist())},
    "sparse": lambda t: (np.arange(3), X[t].copy()),
}
BAD_FEATURES = ([1.0, math.nan, 0.0], [1.0, math.inf, 0.0], ["a", 1.0, 2.0], [1.0, 2.0], "row", None)


def linear(make: Callable[..., Any], labels: list[Any] = REAL, bad: tuple[Any, ...] = (math.nan, math.inf, "x", None), **more: Any) -> Kind:
    return Kind(make, labels, FEATURES, BAD_FEATURES, bad, **more)


def learner(name: str, loss: Any = "absolute", **options: Any) -> Kind:
    given = {"loss": loss} if isinstance(loss, losses.Custom) else {}
    bad = (math.nan, math.inf, "x", None, 7.0)  # 7 lies outside the bound
    return linear(lambda **more: bk.Learner(name, loss=loss, bound=1.0, **options, **more), bad=bad, given=given)


def auto(loss: str, **options: Any) -> Kind:
    if losses.LOSSES[loss].classes:
        return linear(lambda **more: Auto(loss, **options, **more), SIGNS, (math.nan, 0.5, "x", None))
    return linear(lambda **more: Auto(loss, **options, **more))


def experts(make: Callable[..., Any]) -> Kind:
    forms = {
        "dict": lambda t: {"a": X[t, 0], "b": X[t, 1], "c": math.nan if t % 5 == 2 else X[t, 2]},
        "array": lambda t: np.array([X[t, 0], X[t, 1], math.nan if t % 5 == 2 else X[t, 2]]),
    }
    return Kind(make, REAL, forms, ({"a": 1e200}, {"a": "x"}, "row", None), (math.nan, math.inf, "x", None))


def models(**more: Any) -> ModelExperts:
    named = {"one": operator.itemgetter("f0"), "two": bk.Learner("adagrad", loss="absolute"), "three": operator.itemgetter("f2")}
    return ModelExperts(named, careful=True, **more)


def around() -> Kind:
    forms = {"dict": FEATURES["dict"]}
    bad = ({"f1": 1.0}, {"f0": math.nan}, {"f0": "x"}, "row", None)
    return Kind(lambda **more: bk.Intervals(0.8, model="f0", **more), REAL, forms, bad, (math.nan, math.inf, "x", None))


SAID = RNG.dirichlet([1.0, 1.0, 1.0], size=(N, 2)).tolist()


def probabilities(loss: str) -> Kind:
    forms: dict[str, Callable[[int], Any]] = {
        "dict": lambda t: {"a": list(SAID[t][0]), "b": math.nan if t % 5 == 2 else list(SAID[t][1])},
        "array": lambda t: np.array([SAID[t][0], [math.nan] * 3 if t % 5 == 2 else SAID[t][1]]),
        "named": lambda t: {"a": dict(enumerate(SAID[t][0])), "b": None if t % 5 == 2 else dict(enumerate(SAID[t][1]))},
    }
    bad = ({"a": [0.5, 0.6, 0.2]}, {"a": [0.5, math.nan, 0.5]}, {"a": [1.0, 0.0]}, {"a": [math.inf, 0.0, 0.0]}, "row", None)
    return Kind(lambda **more: bk.Probabilities(loss, **more), [0, 1, 2, 1] * (N // 4), forms, bad, (math.nan, 3.0, "x", None))


def keyed(
    make: Callable[[], Any], labels: list[Any] = REAL, bad: tuple[Any, ...] = (math.nan, math.inf, "x", None), **options: Any
) -> Kind:
    key = lambda t: ("north", "south", 7)[t * t % 5 % 3]  # noqa: E731
    forms: dict[str, Callable[[int], Any]] = {
        "pair": lambda t: (key(t), X[t].tolist()),
        "dict": lambda t: {"shop": key(t), **{f"f{i}": v for i, v in enumerate(X[t].tolist())}},
    }
    rows = (("north", [1.0, math.nan, 0.0]), ("new", [1.0, math.inf, 0.0]), (None, [1.0, 2.0, 3.0]), ("north", ["a", 1, 2]), "row", None)
    return Kind(lambda **more: bk.Keyed(make(), key="shop", **options, **more), labels, forms, rows, bad)


PAIRS = [(f"u{t % 4}", t * t % 5) for t in range(N)]
STARS = [float(1 + (3 * t) % 5) for t in range(N)]
ENTRIES = [(t % 3, t % 2, 1.0 if t % 4 else -0.5) for t in range(N)]


def dense(t: int) -> np.ndarray:
    i, j, v = ENTRIES[t]
    out = np.zeros((3, 2))
    out[i, j] = v
    return out


def ratings(**options: Any) -> Kind:
    forms = {"pair": lambda t: PAIRS[t], "list": lambda t: list(PAIRS[t])}
    return Kind(
        lambda **more: MatrixCompletion(1, 5, **options, **more), STARS, forms, ((1.5, 2), ("a",), None), (6.0, math.nan, "x", None), False
    )


def described(**options: Any) -> Kind:
    forms = {
        "three": lambda t: (*PAIRS[t], {"age": float(t % 3), "kind": "ab"[t % 2]}),
        "list": lambda t: [*PAIRS[t], {"age": float(t % 3), "kind": "ab"[t % 2]}],
    }
    make = lambda **more: bk.DescribedCompletion(1, 5, **options, **more)  # noqa: E731
    bad = ((1.5, 2, {}), ("a",), None, ("a", "b", 3.0), ("a", "b", {"age": math.inf}), ("a", "b", {"ratings say": 1.0}))
    return Kind(make, STARS, forms, bad, (6.0, math.nan, "x", None), False)


def matrices(shape: tuple[int, int] = (3, 2), **options: Any) -> Kind:
    forms: dict[str, Callable[[int], Any]] = {"entry": lambda t: ENTRIES[t]}
    if shape == (3, 2):
        forms |= {
            "dense": dense,
            "sparse": lambda t: scipy.sparse.csr_matrix(dense(t)),
            "factors": lambda t: (dense(t) @ np.eye(2), np.eye(2)),
        }
    make = lambda **more: MatrixLearner(*shape, radius=2.0, **options, **more)  # noqa: E731
    return Kind(make, REAL, forms, ((9999, 0), (0, 0, math.nan), "row", None), (7.0, math.nan, "x", None), False)


LOGCOSH = losses.Custom(lambda p, y: math.log(math.cosh(p - y)), lambda p, y: math.tanh(p - y), 1.0)


def sets() -> Kind:
    chances = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)
    forms: dict[str, Callable[[int], Any]] = {
        "array": lambda t: chances[t].copy(),
        "list": lambda t: chances[t].tolist(),
        "dict": lambda t: dict(enumerate(chances[t].tolist())),
    }
    bad = ([0.5, math.nan, 0.5], [0.5, -0.1, 0.6], "row", None)
    return Kind(lambda **more: bk.PredictionSets(0.8, **more), [0, 1, 2, 1] * (N // 4), forms, bad, (None, math.nan, [1]))


KINDS: dict[str, Kind] = {
    "learner, adagrad": learner("adagrad"),
    "learner, square function": learner("square-function"),
    "learner, l4": learner("square-function-l4"),
    "learner, mixture": learner("mixture", "pinball", quantile=0.8),
    "learner, mixture in a norm": learner("mixture-norm"),
    "learner, python rounds": learner("adaptive-mahalanobis"),
    "learner, strongly convex": learner("strongly-convex", "squared"),
    "learner, loss of python": learner("adagrad", LOGCOSH),
    "learner, constant": learner("adagrad", intercept=True),
    "auto, logistic": auto("logistic"),
    "auto, squared": auto("squared"),
    "auto, absolute": auto("absolute", intercept=False, full_features=0),
    "auto, hinge": auto("hinge"),
    "auto, several classes": linear(lambda **more: AutoMulticlass(**more), ["a", "b", "c", "b"] * (N // 4), (None, math.nan, [1])),
    **{
        f"experts, {m}": experts(lambda m=m, **more: Experts("absolute", method=m, **({"rate": 0.3} if m == "ewa" else {}), **more))
        for m in METHODS
    },
    "experts, pinball": experts(lambda **more: Experts("pinball", quantile=0.9, **more)),
    "experts, quantiles": experts(lambda **more: Experts(quantiles=(0.1, 0.5, 0.9), **more)),
    "models": Kind(models, REAL, {"dict": FEATURES["dict"]}, (), (math.nan, "x", None), careful=("models",)),
    "boolean trees": Kind(
        lambda **more: bk.BooleanTrees(deepest=3, **more),
        REAL,
        FEATURES,
        ("row", None, ["a", 1.0, 2.0]),
        (math.nan, math.inf, "x", None, 7.0),
    ),
    "intervals": linear(lambda **more: bk.Intervals(0.8, **more)),
    "intervals around a column": around(),
    "quantiles": linear(lambda **more: bk.Quantiles((0.1, 0.5, 0.9), **more)),
    "sets": sets(),
    "probabilities, log": probabilities("log"),
    "probabilities, brier": probabilities("brier"),
    "keyed auto, helped": keyed(lambda: Auto("absolute", effort="light", full_features=0)),
    "keyed auto, logistic": keyed(lambda: Auto("logistic"), SIGNS, (math.nan, 0.5, "x", None)),
    "keyed learner": keyed(lambda: bk.Learner("adagrad", loss="absolute"), pooled=False),
    "keyed learner, helped": keyed(lambda: bk.Learner("square-function", loss="squared", bound=1.0), bad=(math.nan, 7.0, "x", None)),
    "keyed, several classes": keyed(lambda: AutoMulticlass(), ["a", "b", "c", "b"] * (N // 4), (None, math.nan, [1]), pooled=False),
    "merged auto": linear(lambda **more: Merged([Auto("squared", effort="light"), Auto("squared", full_features=0)], **more)),
    "merged experts": experts(lambda **more: Merged([Experts("absolute"), Experts("absolute")], **more)),
    "completion": ratings(),
    "completion, sign flip": ratings(strategy="sign-flip", radius=3.0),
    "completion with features": described(),
    "completion with features, absolute": described(loss="absolute", effort="light"),
    "matrix": matrices(),
    "matrix, tangent": matrices(strategy="tangent"),
    "matrix, compiled entries": matrices((60, 10)),
}
each = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def test_every_public_learner_is_here() -> None:
    """What is listed is covered."""
    public = {kind for name in dir(bk) if isinstance(kind := getattr(bk, name), type) and issubclass(kind, OnlineLearner)}
    assert public - {OnlineLearner} <= {type(kind.make()) for kind in KINDS.values()}


# --- what is compared -------------------------------------------------------------------------------------------------
def state(learner: Any) -> Any:
    """Everything that `state_dict` tells, to the bit; of learners that cannot be saved, all that it is made of."""
    if isinstance(learner, bk.BooleanTrees):
        inside = [(state(one.learner), one.awake, one.slept) for one in learner.degrees]
        return state(learner.experts), inside, learner.asked, learner.pending, learner._tickets.issued
    if isinstance(learner, ModelExperts):
        return state(learner.experts), state(learner.models["two"].model), learner.pending, learner._tickets.issued
    header, arrays = learner.state_dict()
    return repr(header), {name: (array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes()) for name, array in arrays.items()}


def learned(learner: Any) -> Any:
    """The same without tickets: what was learned."""
    if isinstance(learner, bk.BooleanTrees):
        return learned(learner.experts), [learned(one.learner) for one in learner.degrees], learner.asked
    if isinstance(learner, ModelExperts):
        return learned(learner.experts), learned(learner.models["two"].model)
    return {name: array for name, array in state(learner)[1].items() if "graph." not in name}  # lists with room to grow


def same(one: Any, other: Any) -> bool:
    """Whether two predictions, or two lists of them, are the same bits."""
    return repr(_told(one)) == repr(_told(other))


def _told(predictions: Any) -> Any:
    """Plain numbers; of a list of predictions each for itself, for sets are not of one length."""
    return [_told(p) for p in predictions] if isinstance(predictions, (list, tuple)) else np.asarray(predictions).tolist()


def played(kind: Kind, form: str | None = None, **options: Any) -> tuple[Any, list[Any]]:
    """The learner after the whole stream in a loop, and its predictions."""
    learner, out = kind.make(**options), []
    for t, x in enumerate(kind.rows(form)):
        out.append(learner.predict(x))
        learner.update(x, kind.y[t], *(() if kind.weights is None else (kind.weights[t],)))
    return learner, out


def in_order(certificate: Any) -> None:
    realised, corrected, bound = certificate.realised(), certificate.corrected(), certificate.bound()
    assert realised <= corrected <= bound and not math.isnan(realised)
    assert str(certificate.comparators) and certificate.comparators.space != "nobody"
    assert all(item.comparators is not None and str(item.comparators) in str(certificate) for item in certificate.guarantees[:3])
    json.dumps(certificate.to_dict(), allow_nan=False)


# --- the suite -----------------------------------------------------------------------------------------------------------
@each
def test_loop_run_and_play_are_the_same_bits(kind: Kind) -> None:
    loop, predictions = played(kind)
    assert isinstance(loop, OnlineLearner) and loop.rounds == N
    whole, late = kind.make(), kind.make()
    X, y, weights = kind.rows(), list(kind.y), kind.weights
    before = repr(X), repr(y), repr(weights)
    run = whole.run(X, y, weights, trace=5)
    assert before == (repr(X), repr(y), repr(weights))
    assert same(run.predictions, predictions) and learned(whole) == learned(loop) and run.learner is whole
    assert repr(whole).startswith(f"<{type(whole).__name__}: {N:,} rounds") and len(repr(whole)) + len(repr(run)) < 200
    for t, x in enumerate(kind.rows()):
        ticket = late.play(x)
        assert same(ticket.prediction, predictions[t])
        late.reveal(ticket.id, kind.y[t], *(() if weights is None else (weights[t],)))
    assert learned(late) == learned(loop) and late.pending == 0
    assert run.trace["rounds"][-1] == N and len(run.losses) == N
    pieces = kind.make()
    for part in (slice(0, 1), slice(1, 15), slice(15, N)):
        pieces.run(X[part], y[part], None if weights is None else weights[part], trace=0)
    assert learned(pieces) == learned(loop)
    batch = kind.make()
    assert same(batch.learn_many(X, y, weights), predictions) and learned(batch) == learned(loop)


@each
def test_predicting_changes_nothing(kind: Kind) -> None:
    for learner in (kind.make(), played(kind)[0]):
        before = state(learner)
        for form in kind.forms:
            for x in kind.rows(form):
                try:
                    learner.predict(x)
                except BadInput:  # it met rows of another kind
                    break
        one = [learner.predict(x) for x in kind.rows()]
        many = learner.predict_many(kind.rows())
        learner.certificate()
        assert same(one, many) and state(learner) == before


@each
def test_nothing_outside_changes_what_was_played(kind: Kind) -> None:
    for form in kind.forms:
        learner, untouched = kind.make(), kind.make()
        for t in range(6):
            x = kind.forms[form](t)
            ticket, same_ticket = learner.play(x), untouched.play(kind.forms[form](t))
            _spoil(x)
            learner.reveal(ticket.id, kind.y[t])
            untouched.reveal(same_ticket, kind.y[t])  # a ticket says as much as its id
        assert state(learner) == state(untouched), form


def _spoil(x: Any) -> None:
    """Overwrite whatever can be overwritten."""
    if isinstance(x, dict):
        x.update(dict.fromkeys(list(x), 50.0), more=1.0)
    elif isinstance(x, list):
        x[:] = [77] * len(x)
    elif scipy.sparse.issparse(x):
        x.data[:] = 50.0
    elif isinstance(x, np.ndarray):
        x[:] = 50.0
    elif isinstance(x, tuple):
        for part in x:
            _spoil(part)


@each
def test_a_ticket_is_good_once(kind: Kind) -> None:
    learner = kind.make(max_pending=2)
    rows = kind.rows()
    first, second = learner.play(rows[0]), learner.play(rows[1])
    assert learner.pending == 2 and learner.max_pending == 2
    before = state(learner)
    with pytest.raises(BadInput, match="max_pending"):
        learner.play(rows[2])
    for bad in kind.bad_labels:
        with pytest.raises(BadInput):
            learner.reveal(first.id, bad)
    for weight in BAD_WEIGHTS:
        with pytest.raises(BadInput, match="weight"):
            learner.reveal(first.id, kind.y[0], weight)
    for unknown in (99, 0, -1, "1", None, True, 1.5):
        with pytest.raises(BadInput, match="id"):
            learner.reveal(unknown, kind.y[0])
        with pytest.raises(BadInput, match="id"):
            learner.forget(unknown)
    assert state(learner) == before
    learner.reveal(second.id, kind.y[1])
    learner.forget(first.id)
    before = state(learner)
    for used in (first.id, second.id):
        for gone in (lambda: learner.reveal(used, kind.y[0]), lambda: learner.forget(used)):  # noqa: B023
            with pytest.raises(BadInput, match="id"):
                gone()
    assert state(learner) == before and learner.pending == 0 and learner.rounds == 1
    assert learner.play(rows[2]).id not in (first.id, second.id)


@each
@pytest.mark.parametrize("trace", [0, 7])
def test_a_bad_input_anywhere_leaves_nothing_behind(kind: Kind, trace: int) -> None:
    learner = kind.make()
    learner.run(kind.rows()[:8], kind.y[:8])
    before = state(learner)

    def refused(place: int | None, X: Any, y: Any, weight: Any = None) -> None:
        with pytest.raises(BadInput) as caught:
            learner.run(X, y, weight, trace=trace) if trace else learner.learn_many(X, y, weight)
        assert state(learner) == before, (place, caught.value)
        assert place is None or f"[{place}]" in caught.value.argument, caught.value

    for place in (0, 11, N - 1):
        for bad in kind.bad_labels:
            y: list[Any] = list(kind.y)
            y[place] = bad
            refused(place if isinstance(bad, float) else None, kind.rows(), y)
        for bad in kind.bad_rows:
            X = kind.rows()
            X[place] = bad
            refused(place if _whole(bad) else None, X, kind.y)
        for bad in (-1.0, math.nan, math.inf) + (() if kind.weighted else (2.0,)):
            weight = np.ones(N)
            weight[place] = bad
            refused(place, kind.rows(), kind.y, weight)
    refused(None, kind.rows(), kind.y[:-1])
    refused(None, kind.rows(), kind.y, np.ones(N - 1))
    for x, y_one, w in (
        *((bad, kind.y[0], 1.0) for bad in kind.bad_rows),
        *((kind.rows()[0], bad, 1.0) for bad in kind.bad_labels),
        *((kind.rows()[0], kind.y[0], bad) for bad in BAD_WEIGHTS),
    ):
        with pytest.raises(BadInput):
            learner.update(x, y_one, weight=w)
        assert state(learner) == before, (x, y_one, w)
    for bad in kind.bad_rows:
        with pytest.raises(BadInput):
            learner.predict_many([*kind.rows()[:3], bad])
        for ask in (learner.predict, learner.play):
            with pytest.raises(BadInput):
                ask(bad)
    learner.run([], [])
    assert state(learner) == before
    fresh = kind.make()
    fresh.run([], [])
    assert state(fresh) == state(kind.make())


ABSURD: tuple[Any, ...] = (1e308, -1e308, 1e150, 1e-320, math.inf, math.nan, "text")


@each
@pytest.mark.parametrize("rounds", [0, 1, 50])
def test_a_refused_round_leaves_the_same_bits(kind: Kind, rounds: int) -> None:
    """Absurd labels, features and weights, at once and late: what is refused, whoever inside refuses it, leaves no trace."""
    learner, rows = kind.make(), kind.rows()
    for t in range(rounds):
        learner.update(rows[t % N], kind.y[t % N])
    ticket, before = learner.play(rows[1]), None

    def tried(step: Callable[[], Any]) -> None:
        nonlocal before
        before = before or state(learner)
        try:
            step()
        except BadInput as error:
            assert state(learner) == before, error
        else:
            before = None

    for bad in ABSURD:
        tried(lambda: learner.update(rows[0], bad))  # noqa: B023
        tried(lambda: learner.update(rows[0], kind.y[0], weight=bad))  # noqa: B023
        tried(lambda: learner.update(_with(rows[0], bad), kind.y[0]))  # noqa: B023
        if learner.pending:
            tried(lambda: learner.reveal(ticket.id, bad))  # noqa: B023


def _with(row: Any, bad: Any) -> Any:
    """The row with its last number replaced."""
    if isinstance(row, dict):
        return {**row, list(row)[-1]: bad}
    return [*row[:-1], bad] if isinstance(row, (list, tuple, np.ndarray)) else bad


def _whole(bad: Any) -> bool:
    """Whether a bad row looks like a row, so that the one place it is at can be named."""
    return isinstance(bad, (list, tuple, dict)) and not any(isinstance(part, str) for part in bad) and len(bad) != 2


@each
def test_states_are_copies(kind: Kind) -> None:
    """What was told of a learner, and what one was made from, may be overwritten: no learner changes."""
    learner = kind.make()
    if type(learner).__name__ not in SAVED:
        return
    rows = kind.rows()
    learner.run(rows[:10], kind.y[:10])
    learner.play(rows[10])
    told = learner.state_dict()
    before = state(learner)
    given = copy.deepcopy(told)
    other = type(learner).from_state(*given, **kind.given)
    for words, numbers in (told, given):
        spoil(words)
        for array in numbers.values():
            array[...] = 1
    assert state(learner) == before and state(other) == before


def spoil(words: Any) -> None:
    """Something more in every list and table of a header."""
    for part in list(words.values() if isinstance(words, dict) else words):
        if isinstance(part, (dict, list)):
            spoil(part)
    if isinstance(words, dict):
        words["more"] = 1
    else:
        words.append(1)


@each
def test_a_saved_learner_goes_on_with_the_same_bits(kind: Kind) -> None:
    learner = kind.make()
    rows = kind.rows()
    learner.run(rows[:10], kind.y[:10])
    tickets = [learner.play(x) for x in rows[10:13]]
    learner.forget(tickets[1].id)
    copies = [copy.deepcopy(learner)]
    if not kind.given:
        copies.append(pickle.loads(pickle.dumps(learner)))
    if type(learner).__name__ in SAVED:
        header, arrays = learner.state_dict()
        copies.append(type(learner).from_state(header, arrays, **kind.given))
        copies.append(unpack(pack(learner), **kind.given))
    before = state(learner)
    for other in copies:
        assert state(other) == before
    ends = []
    for one in (learner, *copies):
        one.update(rows[13], kind.y[13])
        one.reveal(tickets[2].id, kind.y[12])
        one.reveal(tickets[0].id, kind.y[10])
        with pytest.raises(BadInput, match="id"):
            one.reveal(tickets[1].id, kind.y[11])
        run = one.run(rows[14:], kind.y[14:])
        ends.append((state(one), repr(_told(run.predictions)), json.dumps(one.certificate().to_dict()), one.play(rows[0]).id))
    assert all(end == ends[0] for end in ends)


@each
def test_certificates_come_in_order_and_in_plain_words(kind: Kind) -> None:
    fresh = kind.make()
    in_order(fresh.certificate())
    assert fresh.certificate().rounds == fresh.rounds == 0 and fresh.cumulative_loss == 0.0
    assert math.isnan(fresh.certificate().mean_loss)
    run = fresh.run(kind.rows(), kind.y, kind.weights, trace=3)
    certificate = fresh.certificate()
    in_order(certificate)
    assert certificate.to_dict() == run.certificate.to_dict() and certificate.rounds == N
    assert certificate.cumulative_loss == fresh.cumulative_loss
    assert certificate.mean_loss == pytest.approx(run.mean_loss, rel=1e-12) and math.isfinite(run.mean_loss)
    weights = np.ones(N) if kind.weights is None else kind.weights
    assert certificate.mean_loss == pytest.approx(float(np.average(run.losses, weights=weights)), rel=1e-12)
    assert fresh.cumulative_loss == pytest.approx(math.fsum(weights * run.losses), rel=1e-12)
    late = [fresh.play(x) for x in kind.rows()[:3]]
    for ticket, y in zip(reversed(late), kind.y):
        fresh.reveal(ticket.id, y)
    in_order(fresh.certificate())


@each
def test_several_threads_may_share_a_learner(kind: Kind) -> None:
    learner, rows, each_thread, trouble = kind.make(), kind.rows(), 200, []

    def hammer(start: int) -> None:
        try:
            for k in range(each_thread):
                t = (start + k) % N
                learner.predict(rows[t])
                if k % 10 == 9:
                    learner.reveal(learner.play(rows[t]).id, kind.y[t])
                else:
                    learner.update(rows[t], kind.y[t])
                if k % 50 == 25:
                    learner.certificate()
                    state(learner)
        except BaseException as error:  # pytest sees only what its own thread raises
            trouble.append(error)

    threads = [threading.Thread(target=hammer, args=(5 * place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not trouble, trouble[0]
    assert learner.rounds == 4 * each_thread and learner.pending == 0 and math.isfinite(learner.cumulative_loss)
    in_order(learner.certificate())
    assert same(learner.predict_many(rows), [learner.predict(x) for x in rows])


# --- an audit is no learner: it plays nothing, and owes the rest ------------------------------------------------------------
@pytest.mark.parametrize("loss", ["squared", "absolute", "logistic"])
def test_an_audit_owes_the_rest(loss: str) -> None:
    y = SIGNS if losses.LOSSES[loss].classes else REAL
    yhat, weights = np.linspace(-1, 1, N), np.array([0.5, 1.0, 0.0, 2.0] * (N // 4))
    whole, loop = bk.Audit(loss), bk.Audit(loss)
    in_order_audit(whole.certificate())
    whole.run(X, yhat, y, weights)
    for t in range(N):
        x = X[t].copy()
        loop.update(x, yhat[t], y[t], weights[t])
        x[:] = 50.0
    assert state(whole) == state(loop) and whole.rounds == N
    before = state(whole)
    for place in (0, 11, N - 1):
        for array in ("X", "yhat", "y", "weights"):
            given = {"X": X.copy(), "yhat": yhat.copy(), "y": np.array(y), "weights": weights.copy()}
            given[array][place] = math.nan
            with pytest.raises(BadInput) as caught:
                whole.run(*given.values())
            assert state(whole) == before and f"[{place}]" in caught.value.argument
    for other in (copy.deepcopy(whole), pickle.loads(pickle.dumps(whole)), unpack(pack(whole)), bk.Audit.from_state(*whole.state_dict())):
        assert state(other) == before and other.certificate().to_dict() == whole.certificate().to_dict()
    in_order_audit(whole.certificate())
    threads = [threading.Thread(target=lambda: [loop.update(X[t % N], 0.1, y[t % N]) for t in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loop.rounds == N + 800


def test_an_audit_touches_only_the_features_of_the_row() -> None:
    """Whatever room there is: features that come later, rows that overflow, copies on the way; bit for bit the sums of one run."""
    rng = np.random.default_rng(3)
    rows = [(rng.permutation(4 + 5 * t)[:3], rng.normal(size=3)) for t in range(60)]
    yhat, y = rng.normal(size=60), rng.normal(size=60)
    whole, loop = bk.Audit("squared"), bk.Audit("squared")
    whole.run(rows, yhat, y)
    for t, x in enumerate(rows):
        before, buffer = state(loop), loop.sums
        for bad in ((np.array([0, 900]), np.array([1e150, 1e150])), (np.array([900, 2, 2]), np.array([1e150, -1.0, 1e150]))):
            with pytest.raises(BadInput, match="overflow"):
                loop.update(bad, 1e200, y[t])
            assert state(loop) == before
        loop.update(x, yhat[t], y[t])
        assert t % 7 or np.shares_memory(buffer, loop.sums) or loop.sums.shape[1] > buffer.shape[1]
        loop = copy.deepcopy(loop) if t % 20 == 10 else loop
    assert state(whole) == state(loop)
    wide, x = bk.Audit("squared"), (np.array([5]), np.array([1.0]))
    wide.update((np.array([10**6]), np.array([1.0])), 0.5, 1.0)
    behind = wide.sums
    wide.update(x, 0.5, 1.0)
    assert np.shares_memory(behind, wide.sums) and behind[0, 5] == -1.0


def in_order_audit(certificate: Any) -> None:
    assert certificate.realised() <= certificate.corrected() <= certificate.bound() == math.inf
    assert "w" in str(certificate.comparators)
    json.dumps(certificate.to_dict(), allow_nan=False)
