"""Tables that come as whole columns, some thousand rows at a time: Arrow's and JSON's. Columns become features as in CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from burkholder.learning import dates
from burkholder.learning.rows import INTERCEPT
from burkholder.streams.readers.batch import Batch
from burkholder.streams.readers.columns import CATEGORICAL, CLASS, DATE, DROPPED, FEATURES, MISSING, NUMERIC, WEIGHTS, WORD, Plan
from burkholder.streams.readers.hashing import codes
from burkholder.streams.readers.problems import BAD_CLASS, BAD_DATE, BAD_NUMBER, BAD_TARGET, BAD_WEIGHT, describe
from burkholder.streams.readers.reader import Reader, settled
from burkholder.streams.readers.reading import Reading

WIDTH = {NUMERIC: 1, CATEGORICAL: 1, DATE: 4}  # entries a row can have of a column; a date's are trend, hour, weekday, month


class TableReader(Reader):
    """Batches of columns. A format supplies the columns, and says what stands in one: numbers, words or moments."""

    named: bool
    plan: Plan

    # --- what a format supplies ------------------------------------------------------------------------------
    def _numbers(self, field: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(float64, where there is no value, where there is something else than a number)."""
        raise NotImplementedError

    def _coded(self, field: Any) -> tuple[np.ndarray, list[str]]:
        """(the place of each row's word, the words); a missing one is empty."""
        raise NotImplementedError

    def _moments(self, field: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(datetime64[us], where it has a time of day, where there is something else than a moment)."""
        raise NotImplementedError

    def _sampled(self, column: str) -> list[str]:
        """The words of a column's first rows."""
        raise NotImplementedError

    # --- what all of them do ---------------------------------------------------------------------------------
    def _settle(
        self,
        names: Sequence[str],
        texts: list[str],
        moments: list[str],
        reading: Reading | None = None,
        named: bool = False,
        **columns: Any,
    ) -> None:
        """Settle what each column is for."""
        self.named = named
        self._spelled: list[str] | None = None
        self.plan = settled(self, names, texts, moments, self._sampled, reading, **columns)

    def _converted(self, fields: dict[str, Any], line: np.ndarray) -> Batch:
        """The batch of some whole columns, by name; `line` says where each row stands."""
        plan, rows = self.plan, len(line)
        columns = [column for column, kind in enumerate(plan.kind.tolist()) if kind in FEATURES]
        columns.sort(key=lambda column: plan.slot[column])
        at = dict(zip(columns, plan.offset + np.cumsum([0, *(WIDTH[int(plan.kind[column])] for column in columns)])[:-1]))
        width = plan.offset + sum(WIDTH[int(plan.kind[column])] for column in columns)
        indices, values, here = np.zeros((rows, width), dtype=np.int32), np.ones((rows, width)), np.ones((rows, width), dtype=bool)
        y, weight, wrong = np.full(rows, np.nan), np.ones(rows), np.zeros(rows, dtype=bool)
        self._texts: dict[int, list[str]] = {}
        self._spelled = None
        for column, kind in enumerate(plan.kind.tolist()):
            if kind == DROPPED:
                continue
            name, field = plan.names[column], fields[plan.names[column]]
            slot, place = int(plan.slot[column]), int(at.get(column, 0))
            if kind in (CLASS, WORD):
                which, words = self._coded(field)
                words = ["" if word.lower() in MISSING else word for word in words]
                spelled = [words[k] for k in which.tolist()]
                y = np.array([np.nan if not word else 1.0 if kind == WORD or word == plan.positive else -1.0 for word in spelled])
                if plan.negative:
                    self._refuse(
                        wrong, np.array([word not in ("", plan.negative, plan.positive) for word in spelled]), BAD_CLASS, name, field, line
                    )
                self._spelled = spelled if kind == WORD else None
            elif kind == CATEGORICAL:
                indices[:, place] = self._hashed(field, column, place) + plan.offset
            elif kind == DATE:
                moments, timed, bad = self._moments(field)
                self._refuse(wrong, bad, BAD_DATE, name, field, line)
                trend, words_of = dates.many(moments, True)
                absent = np.isnan(trend)
                indices[:, place] = np.where(absent, plan.count + slot, slot) + plan.offset
                values[:, place] = np.where(absent, 1.0, trend)
                for k, word in enumerate(words_of):
                    indices[:, place + 1 + k] = plan.calendar[column][word] + plan.offset
                    here[:, place + 1 + k] = ~absent & (timed if k == 0 else True)
                    self._texts[place + 1 + k] = [dates.WORDS[w] for w in word.tolist()] if self.named else []
            else:
                number, absent, bad = self._numbers(field)
                if kind == NUMERIC:
                    self._refuse(wrong, bad, BAD_NUMBER, name, field, line)
                    indices[:, place] = slot + plan.offset + np.where(absent, plan.count, 0)
                    values[:, place] = np.where(absent | bad, 1.0, number)
                elif kind == WEIGHTS:
                    self._refuse(wrong, bad | ~((number >= 0.0) & np.isfinite(number)), BAD_WEIGHT, name, field, line)
                    weight = np.where(bad, 0.0, number)
                else:
                    self._refuse(wrong, bad, BAD_TARGET, name, field, line)
                    y = np.where(absent, np.nan, number)
        self._here, self._line_of, self._at = here, line, at
        indptr = np.concatenate([[0], np.cumsum(here.sum(axis=1))]).astype(np.int64)
        batch = Batch(indptr, indices[here], values[here], y, weight, line)
        if wrong.any():
            batch = batch.without(wrong)
            self._spelled = None if self._spelled is None else [word for word, lost in zip(self._spelled, wrong) if not lost]
        return batch

    def _words(self, batch: Batch) -> list[str] | None:
        if self._spelled is None:
            return None
        if len(self._spelled) == batch.rows:
            return self._spelled
        return [word for word in self._spelled if word]  # rows without a label were left out

    def _refuse(self, wrong: np.ndarray, now: np.ndarray, reason: int, column: str, field: Any, line: np.ndarray) -> None:
        for row in np.flatnonzero(now & ~wrong):
            self.note(int(line[row]), describe(reason, str(self._shown(field, int(row))), column=column))
        wrong |= now

    def _shown(self, field: Any, row: int) -> Any:
        return field[row]

    def _hashed(self, field: Any, column: int, place: int) -> np.ndarray:
        """The index of each row's category; a missing one is the feature `column?`."""
        which, words = self._coded(field)
        spelled = [word.encode() for word in words]
        text = np.frombuffer(b"".join(spelled) + b" ", dtype=np.uint8)
        cuts = np.concatenate([[0], np.cumsum([len(word) for word in spelled])]).astype(np.int64)
        out = np.empty(len(words), dtype=np.uint64)
        codes(text, cuts, self.plan.seed[column], out)
        index = 2 * self.plan.count + (out & np.uint64((1 << self.plan.bits) - 1)).astype(np.int64)
        index[[k for k, word in enumerate(words) if not word]] = self.plan.count + int(self.plan.slot[column])
        self._texts[place] = [words[k] for k in which.tolist()] if self.named else []
        return index[which]

    def names(self, batch: Batch) -> Iterator[str]:
        """The name of every feature of a batch read with `named`, in order."""
        column_of = {place + k: column for column, place in self._at.items() for k in range(WIDTH[int(self.plan.kind[column])])}
        indices = iter(batch.indices.tolist())
        for row in np.searchsorted(self._line_of, batch.line).tolist():
            for place in np.flatnonzero(self._here[row]).tolist():
                texts = self._texts.get(place)
                if place < self.plan.offset:
                    yield INTERCEPT
                    next(indices)
                    continue
                yield self.plan.name_of(column_of[place], next(indices), texts[row] if texts else "")

    @property
    def features(self) -> int:
        return self.plan.count
