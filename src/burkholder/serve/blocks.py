"""The order in which the events of a group are applied.

Nobody who sent a part of a group has an answer yet, so any order is as good as that of arrival. Between two events of another kind
predictions come first and labels after them, model by model: rounds that stand together can be played, and learned, at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from burkholder.serve.events import Event

TOGETHER = ("predict", "label")


def blocks(events: list[Event]) -> Iterator[list[int]]:
    """Places of events of one verb and one model, block by block; every place once.

    >>> from burkholder.serve.events import JSON
    >>> def event(verb, model="m"):
    ...     return Event(verb, model, JSON, b"")
    >>> list(blocks([event("predict"), event("label"), event("predict"), event("learn"), event("label"), event("predict", "n")]))
    [[0, 2], [1], [3], [5], [4]]
    """
    waiting: tuple[dict[str, list[int]], ...] = tuple({} for _ in TOGETHER)
    of_verb = dict(zip(TOGETHER, waiting))
    for place, event in enumerate(events):
        models = of_verb.get(event.verb)
        if models is None:
            yield from _flushed(waiting)
            yield [place]
        elif event.model in models:
            models[event.model].append(place)
        else:
            models[event.model] = [place]
    yield from _flushed(waiting)


def _flushed(waiting: tuple[dict[str, list[int]], ...]) -> Iterator[list[int]]:
    for models in waiting:
        yield from models.values()
        models.clear()
