"""What is measured, as Prometheus asks for it: requests as they are answered, models as they are when asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.process_collector import ProcessCollector

from burkholder.errors import BadInput
from burkholder.serve.journal import Journal

EDGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
CONTENT = b"text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Requests by verb and status, latencies by verb, and each model's own numbers."""

    def __init__(self) -> None:
        disable_created_metrics()
        self.registry = CollectorRegistry()
        self.journal: Journal | None = None
        requests = Counter("burkholder_requests", "Requests answered.", ["verb", "status"], registry=self.registry)
        seconds = Histogram(
            "burkholder_request_seconds", "Seconds to an answer that is on disk.", ["verb"], buckets=EDGES, registry=self.registry
        )
        self._requests: dict[tuple[str, int], Any] = {}
        self._seconds = {verb: seconds.labels(verb) for verb in ("predict", "label", "learn")}
        self._counter = requests
        ProcessCollector(registry=self.registry)
        self.registry.register(_Models(self))

    def answered(self, verb: str, status: int, began: float) -> None:
        """One request more."""
        child = self._requests.get((verb, status))
        if child is None:
            child = self._requests[verb, status] = self._counter.labels(verb, str(status))
        child.inc()
        self._seconds[verb].observe(time.perf_counter() - began)

    def text(self) -> bytes:
        """Everything, for a scraper."""
        return generate_latest(self.registry)


class _Models:
    """The models' numbers, read off when they are asked for."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> Iterator[Any]:
        journal = self._metrics.journal
        ready = GaugeMetricFamily("burkholder_ready", "1 once the log is replayed.")
        ready.add_metric([], float(journal is not None))
        yield ready
        if journal is None:
            return
        yield GaugeMetricFamily("burkholder_log_position", "Groups written and applied.", value=journal.service.position)
        yield GaugeMetricFamily("burkholder_store_bytes", "Size of the store on disk.", value=journal.store.size())
        yield GaugeMetricFamily("burkholder_queued_requests", "Requests on their way to the disk.", value=journal.waiting)
        rounds = CounterMetricFamily("burkholder_rounds", "Labels learned.", labels=["model"])
        loss = GaugeMetricFamily("burkholder_cumulative_loss", "Progressive loss so far.", labels=["model"])
        recent = GaugeMetricFamily("burkholder_recent_loss", "Mean loss of about the last thousand rounds.", labels=["model"])
        pending = GaugeMetricFamily("burkholder_pending_labels", "Predictions that wait for their labels.", labels=["model"])
        forgotten = CounterMetricFamily("burkholder_forgotten", "Predictions whose label is waited for no more.", labels=["model"])
        regret = GaugeMetricFamily("burkholder_regret", "The certificate: regret is at most this.", labels=["model", "kind"])
        valid = GaugeMetricFamily("burkholder_certificate_valid", "1 while every assumption held.", labels=["model"])
        for name, model in journal.service.models.items():
            certificate = model.learner.certificate()
            rounds.add_metric([name], model.learner.rounds)
            loss.add_metric([name], model.learner.cumulative_loss)
            pending.add_metric([name], len(model.waiting))
            forgotten.add_metric([name], model.tally.forgotten)
            valid.add_metric([name], float(certificate.valid))
            if model.tally.recent_loss is not None:
                recent.add_metric([name], model.tally.recent_loss)
            for kind, value in headline(certificate).items():
                regret.add_metric([name, kind], value)
        yield from (rounds, loss, recent, pending, forgotten, regret, valid)


def headline(certificate: Any) -> dict[str, float]:
    """The certificate's numbers, over its own comparators, else over the unit ball; those it has."""
    found = {}
    for kind in ("realised", "corrected", "bound"):
        for radius in (None, 1.0):
            try:
                found[kind] = float(getattr(certificate, kind)(radius=radius))
                break
            except BadInput:
                continue  # no number for this class of comparators
    return found
