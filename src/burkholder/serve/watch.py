"""What the page shows: each model's numbers now, and how they came about. Looked at, never kept: a restart begins anew."""

from __future__ import annotations

import time
from typing import Any

from burkholder.serve.answers import Refused
from burkholder.serve.journal import Journal
from burkholder.serve.metrics import headline
from burkholder.serve.model import Model

MOMENTS = 400  # of a curve; beyond it every other one is left out


class Watch:
    """Curves of every model, a moment a second."""

    def __init__(self) -> None:
        self._curves: dict[int, list[dict[str, Any]]] = {}
        self._rates: dict[int, tuple[float, int, float]] = {}  # when, rounds then, rounds a second

    def look(self, journal: Journal) -> None:
        """Note where every model stands, where it has moved."""
        models = journal.service.models
        numbers = {model.number for model in models.values()}
        for gone in self._curves.keys() - numbers:
            del self._curves[gone]
            self._rates.pop(gone, None)
        for model in models.values():
            curve = self._curves.setdefault(model.number, [])
            self._rate(model)
            if not curve or curve[-1]["rounds"] != model.learner.rounds:
                curve.append(self._moment(model))
            if len(curve) > MOMENTS:
                del curve[1:-1:2]

    def _rate(self, model: Model) -> None:
        now, rounds = time.monotonic(), model.learner.rounds
        when, before, _ = self._rates.get(model.number, (now, rounds, 0.0))
        self._rates[model.number] = (now, rounds, (rounds - before) / (now - when) if now > when else 0.0)

    @staticmethod
    def _moment(model: Model) -> dict[str, Any]:
        certificate = model.learner.certificate()
        told = headline(certificate)
        mean = certificate.mean_loss
        return {
            "rounds": certificate.rounds,
            "mean_loss": mean if mean == mean else None,
            "recent_loss": model.tally.recent_loss,
            "realised": told.get("realised"),
            "promised": told.get("bound"),
        }

    def brief(self, model: Model) -> dict[str, Any]:
        """One model in a line."""
        return {
            "model": model.name,
            "learner": type(model.learner).__name__,
            "shadow_of": model.shadow_of or None,
            "rounds": model.learner.rounds,
            "pending": len(model.waiting),
        }

    def live(self, journal: Journal, name: str) -> dict[str, Any]:
        """Everything the page shows of a model."""
        models = journal.service.models
        if not models:
            raise Refused(404, "model", name, "this service has no models")
        model = models.get(name) or next(iter(models.values()))
        certificate = model.learner.certificate()
        comparison = journal.service.comparisons.get(model.name)
        return {
            **self.brief(model),
            **self._moment(model),
            "loss": certificate.loss,
            "comparators": str(certificate.comparators),
            "valid": certificate.valid,
            "forgotten": model.tally.forgotten,
            "rate": self._rates.get(model.number, (0.0, 0, 0.0))[2],
            "coverage": model.tally.coverage,
            "calibration": model.tally.calibration(),
            "curve": self._curves.get(model.number, []),
            "comparison": None if comparison is None else comparison.to_dict(),
            "models": list(models),
            "position": journal.service.position,
            "store": "failed" if journal.failed else "ok",
        }
