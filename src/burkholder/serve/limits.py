"""What one request may ask for, and how much may wait: beyond it, 413 and 429. Checked when a request comes, never on replay."""

from __future__ import annotations

from typing import NamedTuple

from burkholder.errors import BadInput
from burkholder.serve.answers import Refused
from burkholder.serve.wire import Request


class Limits(NamedTuple):
    """How much of everything."""

    body: int = 16 << 20  # bytes
    batch: int = 10_000  # rows
    features: int = 100_000  # of a row
    name: int = 256  # characters of a feature's name, its text, a label or an id
    queued: int = 10_000  # requests on their way to the disk
    queued_bytes: int = 64 << 20
    connections: int = 900  # at once; most systems let a process open a thousand files
    models: int = 100
    model: int = 256 << 20  # bytes of a model file

    def check(self) -> None:
        """Refuse limits that let nothing through."""
        for name, limit in self._asdict().items():
            if type(limit) is not int or limit < 1:
                raise BadInput(name, limit, "give a whole number ≥ 1")

    def admit(self, request: Request) -> None:
        """Refuse what is too much."""
        if request.size > self.batch:
            raise Refused(413, "rows", request.size, f"send at most {self.batch} at once")
        most = self.name
        for id in request.ids:
            if id is not None and len(id) > most:
                raise Refused(413, "id", id, f"ids have at most {most} characters")
        for row in request.rows if type(request.rows) is list else request.rows[:1]:
            if len(row) > self.features:
                raise Refused(413, "x", f"{len(row)} features", f"rows have at most {self.features} features")
            if type(row) is dict:
                self._names(row)
        for label in request.labels:
            if type(label) is str and len(label) > most:
                raise Refused(413, "y", label, f"labels have at most {most} characters")

    def _names(self, row: dict[str, object]) -> None:
        most = self.name
        if row and max(map(len, row)) > most:
            raise Refused(413, "x", max(row, key=len), f"names of features have at most {most} characters")
        for value in row.values():
            if type(value) is not float and hasattr(value, "__len__") and len(value) > most:
                raise Refused(413, "x", value, f"texts have at most {most} characters")
