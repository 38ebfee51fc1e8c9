"""One model of the service: a learner, and the rounds that wait for their labels by the ids people gave them."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import msgspec

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning.protocol import OnlineLearner
from burkholder.serve.answers import Predicted
from burkholder.serve.tally import BANDS, ODDS, SETS, Tally
from burkholder.storage import pack, unpack

CLASS, LIKELY = "class", "likely"  # of a prediction that is a class, with every class's probability


class Waiting(NamedTuple):
    """A round whose label is still to come."""

    ticket: int
    prediction: Any
    digest: int
    moment: float


class Over(NamedTuple):
    """A round whose label came, or will not be waited for any more."""

    prediction: Any
    digest: int
    label: Any = None
    weight: float = 1.0
    forgotten: bool = False


class Kept(msgspec.Struct):
    """A model in a snapshot."""

    name: str
    number: int
    shadow_of: str
    origin: str
    serial: int
    waiting: list[tuple[str, int, Any, int, float]]
    tally: list[Any]
    learner: bytes


class Model:
    """A name, a number of its own, a learner, and what waits. A shadow learns what another model learns, and answers nobody."""

    def __init__(self, name: str, number: int, learner: OnlineLearner, shadow_of: str = "", origin: str = "") -> None:
        self.name, self.number, self.learner, self.shadow_of, self.origin = name, number, learner, shadow_of, origin
        self.serial = 0
        self.waiting: dict[str, Waiting] = {}
        self.tally = Tally(self._kind)

    @property
    def _kind(self) -> str:
        """What predictions say: log-odds, intervals (lists of numbers, which have a point between them), or else sets, if lists."""
        learner = self.learner
        if hasattr(learner, "point"):
            return BANDS
        return ODDS if getattr(getattr(learner, "loss", None), "odds", False) and not hasattr(learner, "classes") else SETS

    # --- rounds --------------------------------------------------------------------------------------------------
    def play(self, id: str, row: Any, digest: int, moment: float) -> Waiting:
        """Predict a row and remember it under that id."""
        ticket = self.learner.play(row)
        prediction = plain(ticket.prediction)
        if hasattr(self.learner, "classes"):
            prediction = likely(self.learner.predict_proba(row), prediction)  # type: ignore[attr-defined]
        waiting = self.waiting[id] = Waiting(ticket.id, prediction, digest, moment)
        return waiting

    def reveal(self, id: str, label: Any, weight: float) -> Over:
        """The label of a round that waits: learn from what was played then."""
        waiting = self.waiting[id]
        learner = self.learner
        before = learner.cumulative_loss
        learner.reveal(waiting.ticket, label, weight)  # raises before anything changes
        del self.waiting[id]
        self.tally.count(waiting.prediction, label, weight, learner.cumulative_loss - before)
        return Over(waiting.prediction, waiting.digest, label, weight)

    def play_many(self, ids: list[str], rows: Any, digests: list[int], moment: float) -> list[Waiting]:
        """`play` for many rows at once, all or none."""
        tickets = self.learner.play_many(rows)  # type: ignore[attr-defined]
        played = [Waiting(ticket.id, plain(ticket.prediction), digest, moment) for ticket, digest in zip(tickets, digests)]
        self.waiting.update(zip(ids, played))
        return played

    def reveal_many(self, ids: list[str], labels: list[Any], weights: list[Any]) -> list[Over]:
        """`reveal` for many rounds at once, all or none."""
        played = [self.waiting[id] for id in ids]
        before = self.learner.cumulative_loss
        self.learner.reveal_many([waiting.ticket for waiting in played], labels, weights)  # type: ignore[attr-defined]
        for id in ids:
            del self.waiting[id]
        self.tally.count_many([waiting.prediction for waiting in played], labels, weights, self.learner.cumulative_loss - before)
        return [Over(waiting.prediction, waiting.digest, label, weight) for waiting, label, weight in zip(played, labels, weights)]

    @property
    def together(self) -> bool:
        """Whether many rounds are played, and many labels learned, by one compiled loop."""
        return bool(getattr(self.learner, "at_once", False))

    def forget(self, id: str) -> Over:
        """Wait no more for that label."""
        waiting = self.waiting.pop(id)
        self.learner.forget(waiting.ticket)
        self.tally.forgotten += 1
        return Over(waiting.prediction, waiting.digest, forgotten=True)

    def learn(self, rows: Any, labels: Any, weights: Any) -> list[Any]:
        """Rows with labels, all or none; the progressive predictions."""
        before = self.learner.cumulative_loss
        if len(labels) == 1 and self.together:  # the same bits; nothing has to be kept for undoing it
            predictions = [plain(self.learner.predict(rows[0]))]
            self.learner.update(rows[0], labels[0], weights[0])
        else:
            predictions = [plain(one) for one in plain(self.learner.learn_many(rows, labels, weights))]
        self.tally.count_many(predictions, labels, weights, self.learner.cumulative_loss - before)
        return predictions

    def answer(self, id: str, prediction: Any) -> Predicted:
        """A prediction, and what it means."""
        if type(prediction) is dict:
            return Predicted(id, prediction[CLASS], probabilities=prediction[LIKELY])
        if self.tally.kind == ODDS:
            return Predicted(id, prediction, losses.probability(self.learner.loss, prediction))  # type: ignore[attr-defined]
        if self.tally.kind == BANDS and len(prediction) == 2:
            return Predicted(id, sum(prediction) / 2.0, None, prediction)
        return Predicted(id, prediction)

    # --- keeping it ----------------------------------------------------------------------------------------------
    def kept(self) -> bytes:
        """Everything of the model, to go on from bit for bit."""
        waiting = [(id, *waiting) for id, waiting in self.waiting.items()]
        kept = Kept(self.name, self.number, self.shadow_of, self.origin, self.serial, waiting, self.tally.to_list(), pack(self.learner))
        return msgspec.msgpack.encode(kept)

    def file(self) -> tuple[bytes, list[int]]:
        """The learner as it is now, and its tickets that wait for labels: what `downloaded` needs."""
        return pack(self.learner), [waiting.ticket for waiting in self.waiting.values()]

    @classmethod
    def again(cls, data: bytes) -> Model:
        """The model that was kept."""
        kept = msgspec.msgpack.decode(data, type=Kept)
        model = cls(kept.name, kept.number, unpack(kept.learner, kept.name), kept.shadow_of, kept.origin)
        model.serial = kept.serial
        model.waiting = {id: Waiting(*rest) for id, *rest in kept.waiting}
        model.tally = Tally.from_list(model.tally.kind, kept.tally)
        return model


def downloaded(content: bytes, waiting: list[int]) -> bytes:
    """A learner as a model file. Plays that wait for labels stay behind: their ids are known to the service alone."""
    learner = unpack(content, "model")
    for ticket in waiting:
        learner.forget(ticket)
    return pack(learner)


def plain(prediction: Any) -> Any:
    """A prediction as JSON has it."""
    if type(prediction) is float:
        return prediction
    if hasattr(prediction, "tolist"):
        return prediction.tolist()
    if type(prediction) is dict:
        return likely(prediction, max(prediction, key=prediction.__getitem__, default=None))
    return list(prediction) if type(prediction) is tuple else prediction


def likely(probabilities: dict[Any, float], first: Any) -> dict[str, Any]:
    """A class, and the probability of every one, by the names that JSON can have.

    >>> likely({0: 0.25, 1: 0.75}, 1)
    {'class': 1, 'likely': {'0': 0.25, '1': 0.75}}
    """
    return {CLASS: first, LIKELY: {str(name): float(p) for name, p in probabilities.items()}}


def servable(data: bytes, path: str = "model") -> OnlineLearner:
    """The learner in the bytes of a model file, if it predicts rows."""
    learner = unpack(data, path)
    rows = isinstance(learner, OnlineLearner) and len(inspect.signature(learner.play).parameters) == 1
    if not rows:
        raise BadInput("model", type(learner).__name__, "a service predicts rows of features; this learner takes others")
    if learner.pending:
        raise BadInput("model", f"{learner.pending} plays", "its labels have no ids here: reveal or forget them before saving")
    return learner
