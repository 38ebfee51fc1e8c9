"""What is measured, as Prometheus asks for it: requests as they are answered, models as they are when asked."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.process_collector import ProcessCollector

from burkholder.errors import BadInput
from burkholder.serve.journal import Journal

EDGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
CONTENT = b"text/plain; version=0.0.4; charset=utf-8"


class Latency:
    """How long answers took: counts between the edges, and the sum of all.

    >>> latency = Latency()
    >>> for seconds in (0.0005, 0.004, 0.004, 9.0):
    ...     latency.note(seconds)
    >>> latency.cumulative()[2:4], latency.cumulative()[-1]
    ([('0.005', 3), ('0.01', 3)], ('+Inf', 4))
    """

    def __init__(self) -> None:
        self.counts, self.sum = [0] * (len(EDGES) + 1), 0.0

    def note(self, seconds: float) -> None:
        """One answer more."""
        self.counts[bisect_left(EDGES, seconds)] += 1
        self.sum += seconds

    def cumulative(self) -> list[tuple[str, int]]:
        """(edge, answers that took no longer) of each edge."""
        return list(zip([*map(str, EDGES), "+Inf"], accumulate(self.counts)))


class Metrics:
    """Requests by verb and status, latencies by verb, and each model's own numbers."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.journal: Journal | None = None
        self.requests: dict[tuple[str, int], int] = {}
        self.latencies = {verb: Latency() for verb in ("predict", "label", "learn")}
        ProcessCollector(registry=self.registry)
        self.registry.register(_Numbers(self))

    def answered(self, verb: str, status: int, began: float) -> None:
        """One request more."""
        self.requests[verb, status] = self.requests.get((verb, status), 0) + 1
        self.latencies[verb].note(time.perf_counter() - began)

    def text(self) -> bytes:
        """Everything, for a scraper."""
        return generate_latest(self.registry)


class _Numbers:
    """All numbers, read off when they are asked for."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def describe(self) -> list[Any]:
        return []

    def collect(self) -> Iterator[Any]:
        journal = self._metrics.journal
        requests = CounterMetricFamily("burkholder_requests", "Requests answered.", labels=["verb", "status"])
        for (verb, status), count in list(self._metrics.requests.items()):
            requests.add_metric([verb, str(status)], count)
        seconds = HistogramMetricFamily("burkholder_request_seconds", "Seconds to an answer that is on disk.", labels=["verb"])
        for verb, latency in self._metrics.latencies.items():
            seconds.add_metric([verb], latency.cumulative(), latency.sum)
        yield from (requests, seconds)
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
