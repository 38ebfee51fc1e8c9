"""The state of the service: what applying the log gives. One thread applies, in the order of the log, live and on a restart.

Nothing here looks at a clock, a setting that may change, or anything else outside the events: so the same log makes the same
models, the same predictions and the same refusals, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice
from typing import Any

import msgspec

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.serve import wire
from burkholder.serve.answers import Answer, Learned, Problem, Progress, Refused, gathered, problem, refusal
from burkholder.serve.blocks import TOGETHER, blocks
from burkholder.serve.comparing import Comparison
from burkholder.serve.ended import Ended, Find
from burkholder.serve.events import Event, Group
from burkholder.serve.model import Model, Over, servable
from burkholder.serve.store import Snapshot, StoreFailed

OURS = "#"  # ids that begin so are given by the service
KEYED = f"{OURS}learn "  # and these are keys of what was learned


class Service:
    """Models by name, and the rounds that are over; `find` looks up those that are in the store."""

    def __init__(self, find: Find) -> None:
        self.position = 0  # the group that is applied, or was last
        self._known = 0  # groups applied completely
        self.moment = 0.0  # the service's clock at the last of them
        self.since = [0, 0]  # events applied since the last snapshot, and their bytes
        self._made = 0  # models made in the group that is applied
        self.models: dict[str, Model] = {}
        self.comparisons: dict[str, Comparison] = {}  # of each shadow with its model
        self.ended = Ended(find)
        self.faults: list[str] = []

    # --- applying ------------------------------------------------------------------------------------------------
    def apply(self, group: Group, requests: list[Any] | None = None) -> list[Answer]:
        """The next group of the log, event by event; an answer to each. Requests may have been read already."""
        events, given = group.events, requests or [None] * len(group.events)
        answers: list[Any] = [None] * len(events)
        for places in self._begun(group):
            for k, answer in zip(places, self._block([events[k] for k in places], [given[k] for k in places])):
                answers[k] = answer
        self._known = self.position
        return answers

    def replay(self, group: Group) -> None:
        """`apply`, where nobody waits for an answer."""
        for places in self._begun(group):
            events = [group.events[k] for k in places]
            if self._at_once(events, partial(wire.together, events)) is None:
                for event in events:
                    self._one(event, None)
        self._known = self.position

    def _begun(self, group: Group) -> Iterator[list[int]]:
        """The blocks of a group that begins now."""
        self.position += 1  # what the store knows of rounds that end in this very group is not known yet: see `ended`
        self.moment, self._made = group.moment, 0
        self.since = [self.since[0] + len(group.events), self.since[1] + sum(len(event.body) for event in group.events)]
        return blocks(group.events)

    def _block(self, events: list[Event], given: list[Any]) -> list[Answer]:
        """Events of one verb and model: all their rounds at once where that can be, else one event after the other."""

        def read() -> wire.Request:
            given[:] = [request or wire.read(event) for event, request in zip(events, given)]
            return wire.joined(given)

        items = self._at_once(events, read)
        if items is None:
            return [self._one(event, request) for event, request in zip(events, given)]
        parts = [list(islice(items, request.size)) for request in given]
        return [_single(part[0]) if request.single else gathered(part) for request, part in zip(given, parts)]

    def _at_once(self, events: list[Event], request: Callable[[], wire.Request]) -> Iterator[Any] | None:
        """Do what these events of one verb and model ask for, all their rounds together: what there is to answer; None: not done."""
        verb, model = events[0].verb, self.models.get(events[0].model)
        if verb not in TOGETHER or model is None or not model.together or self.shadows(model.name):
            return None
        try:
            return getattr(self, f"_{verb}_many")(model, request())
        except StoreFailed:
            raise
        except BadInput:
            return None  # one of them is to be refused: nothing was done, each fares by itself
        except Exception as error:
            self._fault(events[0], error)
            return None

    def _one(self, event: Event, request: wire.Request | None) -> Answer:
        try:
            if event.verb in wire.KINDS:
                model = self.model(event.model)
                return getattr(self, f"_{event.verb}")(model, event, request or wire.read(event))
            return getattr(self, f"_{event.verb}")(event)
        except StoreFailed:
            raise  # what is known of rounds that are over cannot be read: nobody can say what this event does
        except Exception as error:  # a fault of ours, too, stands in the log, and fares the same on every replay
            answer = refusal(error)
            if answer.status == 500:
                self._fault(event, error)
            return answer

    def _fault(self, event: Event, error: Exception) -> None:
        self.faults.append(f"{event.verb} {event.model}: {type(error).__name__}: {error}")

    def glance(self, event: Event, request: wire.Request) -> Answer | None:
        """The answer to a label that nothing waits for, which needs no event; None where something might change."""
        try:
            model = self.model(event.model)
            if event.verb == "label" and request.single and request.ids[0] not in model.waiting:
                id = str(request.ids[0])
                return Answer(200, self._label_again(model, id, self.over(model, id), request.labels[0], request.weights[0]))
        except Refused as error:
            return refusal(error)
        return None

    # --- rounds --------------------------------------------------------------------------------------------------
    def _predict(self, model: Model, event: Event, request: wire.Request) -> Answer:
        items = [self._predict_one(model, id, row) for id, row in zip(request.ids, request.rows)]
        return _single(items[0]) if request.single else gathered(items)

    def _predict_many(self, model: Model, request: wire.Request) -> Iterator[Any] | None:
        """All rounds of a request; None where one of them is no new round."""
        given = request.ids
        named = [id for id in given if id is not None]
        known = len(set(named)) < len(named) or any(not id or id.startswith(OURS) or id in model.waiting for id in named)
        if known or len(given) < 2 or self.ended.get(model.number, named, self._known):
            return None
        serials = count(model.serial + 1)
        ids = named if len(named) == len(given) else [f"{OURS}{next(serials)}" if id is None else id for id in given]
        rows, digests = wire.digests(request.rows)
        played = model.play_many(ids, rows, digests, self.moment)
        model.serial += len(given) - len(named)
        return (model.answer(id, waiting.prediction) for id, waiting in zip(ids, played))

    def _predict_one(self, model: Model, given: str | None, row: Any) -> Any:
        try:
            id, digest = f"{OURS}{model.serial + 1}" if given is None else given, wire.digest(row)
            if given is not None:
                known = model.waiting.get(id) or self.over(model, id)
                if known is not None:
                    return self._predict_again(model, id, known.prediction, known.digest, digest)
                if not given or given.startswith(OURS):
                    raise Refused(422, "id", given, f"choose one that is not empty and does not begin with {OURS}, or none")
            waiting = model.play(id, row, digest, self.moment)
        except BadInput as error:
            return _named(problem(error), given)
        except Refused as error:
            return _named(error.problem, given)
        model.serial += given is None
        for shadow in self.shadows(model.name):
            try:
                shadow.play(id, row, digest, self.moment)
            except BadInput:
                shadow.tally.forgotten += 1  # a row it cannot take: it has no part in this round
        return model.answer(id, waiting.prediction)

    def _predict_again(self, model: Model, id: str, prediction: Any, before: int, now: int) -> Any:
        if before != now:
            raise Refused(409, "id", id, "this id was given to another row; every row needs its own")
        return model.answer(id, prediction)

    def _label(self, model: Model, event: Event, request: wire.Request) -> Answer:
        items = [self._label_one(model, *item) for item in zip(request.ids, request.labels, request.weights)]
        return _single(items[0]) if request.single else gathered(items)

    def _label_many(self, model: Model, request: wire.Request) -> Iterator[Any] | None:
        """All labels of a request; None where one of them is no number, or its round does not wait."""
        ids, labels, weights = request.ids, request.labels, request.weights
        plain = all(type(value) is float for value in labels) and all(type(value) is float for value in weights)
        if not plain or len(ids) < 2 or len(set(ids)) < len(ids) or not all(id in model.waiting for id in ids):
            return None
        for id, over in zip(ids, model.reveal_many(ids, labels, weights)):  # type: ignore[arg-type]
            self._close(model, str(id), over)
        return (Learned(str(id)) for id in ids)

    def _label_one(self, model: Model, id: Any, label: Any, weight: Any) -> Any:
        try:
            if id not in model.waiting:
                return self._label_again(model, id, self.over(model, id), label, weight)
            over = model.reveal(id, label, weight)
        except BadInput as error:
            return _named(problem(error), id)
        except Refused as error:
            return _named(error.problem, id)
        self._close(model, id, over)
        for shadow in self.shadows(model.name):
            if id in shadow.waiting:
                try:
                    other = shadow.reveal(id, label, weight)
                except BadInput:
                    other = shadow.forget(id)  # a label it cannot take
                else:
                    self._compare(model, shadow, over.prediction, other.prediction, label)
        return Learned(id)

    def _compare(self, model: Model, shadow: Model, mine: Any, other: Any, label: Any) -> None:
        """A round that both played, by the loss of the one that answers; predictions that are no numbers are not compared."""
        loss = getattr(model.learner, "loss", None)
        if loss is not None and type(mine) is float and type(other) is float:
            y = losses.label(loss, label)
            self.comparisons[shadow.name].add(losses.value(loss, mine, y), losses.value(loss, other, y))

    @staticmethod
    def _label_again(model: Model, id: str, over: Over | None, label: Any, weight: Any) -> Learned:
        if over is None:
            raise Refused(404, "id", id, "no prediction has this id; labels belong to predictions")
        if over.forgotten:
            raise Refused(410, "id", id, "its label came too late: it was waited for no longer")
        if over.label != label or over.weight != weight:
            raise Refused(409, "id", id, "this prediction has another label already; a label cannot be changed")
        return Learned(id)

    def _learn(self, model: Model, event: Event, request: wire.Request) -> Answer:
        """Rows with labels, all or none. The same key is the same request: it is learned once."""
        key = KEYED + event.key
        if event.key:
            over = self.over(model, key)
            if over is not None:
                if over.digest != wire.digest(event.body):
                    raise Refused(409, "Idempotency-Key", event.key, "this key was given to another body; every body needs its own")
                return Answer(200, Progress(len(over.prediction), over.prediction))
        predictions = model.learn(request.rows, request.labels, request.weights)
        for shadow in self.shadows(model.name):
            try:
                others = shadow.learn(request.rows, request.labels, request.weights)
            except BadInput:
                shadow.tally.forgotten += len(predictions)
            else:
                for mine, other, label in zip(predictions, others, request.labels):
                    self._compare(model, shadow, mine, other, label)
        if event.key:
            self._close(model, key, Over(predictions, wire.digest(event.body)))
        return Answer(200, Progress(len(predictions), predictions))

    def _forget(self, event: Event) -> Answer:
        """Wait no more for labels of predictions made before a moment."""
        before, forgotten = msgspec.json.decode(event.body, type=float), 0
        for model in self.models.values():
            while model.waiting:
                id, waiting = next(iter(model.waiting.items()))  # the oldest come first
                if waiting.moment >= before:
                    break
                over = model.forget(id)
                if not model.shadow_of:
                    self._close(model, id, over)
                forgotten += 1
        return Answer(200, forgotten)

    # --- models --------------------------------------------------------------------------------------------------
    def model(self, name: str) -> Model:
        """The model of that name."""
        found = self.models.get(name)
        if found is None:
            raise Refused(404, "model", name, f"there is no such model; there are: {', '.join(sorted(self.models)) or 'none'}")
        return found

    def shadows(self, name: str) -> list[Model]:
        """The models that learn what this one learns."""
        return [model for model in self.models.values() if model.shadow_of == name] if self.comparisons else []

    def _create(self, event: Event) -> Answer:
        """A model from the bytes of a file; its key says which model it shadows, if one, and where it is from. Twice the same is once."""
        shadow_of, _, origin = event.key.partition("\n")
        known = self.models.get(event.model)
        if known is not None and (known.origin != origin or known.shadow_of != shadow_of or not origin):
            raise Refused(409, "model", event.model, "there is another model of this name; drop it first")
        if known is not None:
            return Answer(200, _made(known))
        if shadow_of and (shadow_of not in self.models or self.models[shadow_of].shadow_of):
            raise Refused(422, "shadow_of", shadow_of, "a shadow follows a model that answers")
        learner = servable(event.body, event.model)
        number = (self.position << 16) + self._made  # of no other model of this store, before or after
        self._made += 1
        model = self.models[event.model] = Model(event.model, number, learner, shadow_of, origin)
        if shadow_of:
            self.comparisons[event.model] = Comparison()
        return Answer(201, _made(model))

    def _drop(self, event: Event) -> Answer:
        model = self.model(event.model)
        for name in [model.name, *(shadow.name for shadow in self.shadows(model.name))]:
            del self.models[name]
            self.comparisons.pop(name, None)
        return Answer(200, {"dropped": event.model})

    # --- rounds that are over ------------------------------------------------------------------------------------
    def over(self, model: Model, id: str) -> Over | None:
        """A round that is over, if there is one of that id."""
        return self.ended.get(model.number, [id], self._known).get(id)

    def _close(self, model: Model, id: str, over: Over) -> None:
        self.ended.add(model.number, id, over, self.position)

    # --- keeping it ----------------------------------------------------------------------------------------------
    def snapshot(self) -> Snapshot:
        """Everything, as it is after the events applied so far."""
        head = (self.moment, {name: comparison.to_list() for name, comparison in self.comparisons.items()})
        return Snapshot(self.position, [msgspec.msgpack.encode(head), *(model.kept() for model in self.models.values())])

    def restore(self, snapshot: Snapshot) -> None:
        """Begin where a snapshot was made."""
        self.position = self._known = snapshot.seq
        if not snapshot.parts:
            return
        self.moment, comparisons = msgspec.msgpack.decode(snapshot.parts[0])
        self.models = {model.name: model for model in map(Model.again, snapshot.parts[1:])}
        self.comparisons = {name: Comparison.from_list(kept) for name, kept in comparisons.items()}


def _made(model: Model) -> dict[str, Any]:
    return {"model": model.name, "shadow_of": model.shadow_of or None, "rounds": model.learner.rounds}


def _single(item: Any) -> Answer:
    return Answer(item.status if type(item) is Problem else 200, item)


def _named(found: Problem, id: Any) -> Problem:
    found.id = id
    return found
