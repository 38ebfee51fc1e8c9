"""libsvm text: `label id:value id:value … # comment`, parsed in two passes over a block.

The first pass finds every separator, 64 bytes at a time; the second turns the text between them into numbers,
eight digits at a time. The usual spelling of a feature (at most 8 digits, `:`, digits with a point) takes one
straight path; everything else goes through `decimal`, one character after another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.compiled import compiled
from burkholder.streams.readers.batch import (
    BAD,
    DOUBTFUL,
    LABEL,
    LARGEST,
    LEAST,
    LINE,
    NEXT,
    NNZ,
    ROWS,
    VALUE,
)
from burkholder.streams.readers.numbers import EXACT, NOT_A_NUMBER, PARSED, TENS, UNDECIDED, decimal, scale
from burkholder.streams.readers.problems import BAD_FEATURE, BAD_ID, BAD_LABEL, BAD_VALUE, MOST_FEATURES
from burkholder.streams.readers.source import Source
from burkholder.streams.readers.text import TextReader
from burkholder.streams.readers.words import PADDING, digits, lowest, marks, number, ones, strange

_0, _1, _2, _3, _8, _10, _16, _18, _64 = (np.uint64(k) for k in (0, 1, 2, 3, 8, 10, 16, 18, 64))
_TOO_LONG = np.uint64(0xFFFFFFFFFFFFFFF8)  # set in n−1 unless 1 ≤ n ≤ 8


@compiled
def separators(text, start, stop, places):  # type: ignore[no-untyped-def]
    """Write the place of every separator in text[start:stop] to `places`; returns how many."""
    count = np.uint64(0)
    at = np.uint64(start)
    end = np.uint64(stop)
    while at < end:
        found = marks(text, at)
        if end - at < _64:
            found &= (_1 << (end - at)) - _1
        # Writing eight at once, wanted or not, spares the processor a guess; `count` says which are real.
        total = ones(found)
        slot = count
        while found != np.uint64(0):
            for step in range(8):
                places[slot + np.uint64(step)] = at + lowest(found)
                found &= found - _1
            slot += _8
        count += total
        at += _64
    return count


@compiled
def parse(text, start, places, count, offset, skip, indptr, indices, values, y, line, doubtful, bad, state):
    # type: ignore[no-untyped-def]
    """Parse whole lines behind the rows already there; the last separator is a line end. With offset 1 the
    constant goes in front of each row."""
    rows, nnz, begun = state[ROWS], state[NNZ], 0
    unsure = 0
    number_of_line = state[LINE]
    largest, least = np.uint64(max(state[LARGEST], 0)), np.uint64(state[LEAST])
    shift = np.uint64(offset)
    k = np.uint64(0)
    end = np.uint64(count)
    p = np.uint64(start)
    indptr[0] = 0
    state[BAD] = 0
    state[DOUBTFUL] = 0
    while k < end:
        row_start = p
        begun = nnz
        unsure = state[DOUBTFUL]
        reason, fault = 0, p
        # The label, and what may stand in its place: nothing, or a comment.
        s = np.uint64(places[k])
        while text[s] > 32:
            k += _1
            s = np.uint64(places[k])
        k += _1
        c = text[s]
        if s == p or text[p] == 35:
            if c != 10 and s != p:  # a comment: on to the line end
                while c != 10:
                    s = np.uint64(places[k])
                    c = text[s]
                    k += _1
            number_of_line += c == 10
            p = s + _1
            continue
        target, status = decimal(text, p, s)
        if status == UNDECIDED:
            at = state[DOUBTFUL]
            doubtful[at, 0], doubtful[at, 1], doubtful[at, 2], doubtful[at, 3] = LABEL, rows, p, s
            state[DOUBTFUL] = at + 1
        elif status == NOT_A_NUMBER or abs(target) == np.inf:
            reason = BAD_LABEL
        if offset:
            indices[nnz] = 0
            values[nnz] = 1.0
            nnz += 1
        while c != 10 and reason == 0:
            p = s + _1
            s = np.uint64(places[k])
            c = text[s]
            k += _1
            if c != 58:
                if s == p and c <= 32:
                    continue
                fault = p
                reason = BAD_FEATURE
                if text[p] == 35:
                    reason = 0
                    while c != 10:
                        s = np.uint64(places[k])
                        c = text[s]
                        k += _1
                break
            length = s - p
            spelled = digits(text, s, length)
            feature = number(spelled)
            odd = strange(spelled) | (length - _1 & _TOO_LONG)  # not 0: leave the straight path
            q = s + _1
            s = np.uint64(places[k])
            c = text[s]
            k += _1
            negative = text[q] == 45
            q += np.uint64(negative)
            if s - q == _1:  # one digit before the point: by far the most common
                m = np.uint64(text[q]) - np.uint64(48)
                odd |= np.uint64(m > np.uint64(9))
            else:
                left = digits(text, s, s - q)
                odd |= strange(left) | (s - q - _1 & _TOO_LONG)
                m = number(left)
            value = np.float64(np.int64(m))
            if c == 46:
                point = s
                s = np.uint64(places[k])
                c = text[s]
                k += _1
                part = s - point - _1
                right = digits(text, s, min(part, _8))
                odd |= strange(right)
                if part <= _8 and part > _0:
                    m = m * TENS[part] + number(right)
                    value = np.float64(np.int64(m)) / EXACT[part]
                    odd |= m >> np.uint64(53)  # beyond it m is not exact
                elif part <= _18 and m < _10:
                    if part > _16:
                        first = digits(text, s - _16, part - _16)
                        odd |= strange(first)
                        m = m * TENS[part - _16] + number(first)
                    between = min(part - _8, _8)
                    middle = digits(text, s - _8, between)
                    odd |= strange(middle)
                    m = m * TENS[between] + number(middle)
                    value, status = scale(m * TENS[_8] + number(right), -np.int64(part))
                    odd |= np.uint64(status != PARSED)
                else:
                    odd = _1
            if odd != np.uint64(0) or c > 32:
                # Anything but the usual spelling: read it again, slowly.
                while c > 32:
                    s = np.uint64(places[k])
                    c = text[s]
                    k += _1
                colon = p
                while text[colon] != 58:
                    colon += _1
                if colon - p == _3 and text[p] == 113 and text[p + _1] == 105 and text[p + _2] == 100:
                    continue  # qid:… names a query, not a feature
                fault = p
                whole, identifier = decimal(text, p, colon)
                q = colon + _1
                for place in range(p, colon):
                    if text[place] < 48 or text[place] > 57:
                        identifier = NOT_A_NUMBER
                if identifier != PARSED:
                    reason = BAD_FEATURE
                    break
                if whole > MOST_FEATURES:
                    reason = BAD_ID
                    break
                feature = np.uint64(whole)
                negative = False
                value, status = decimal(text, q, s)
                if status == UNDECIDED:
                    value = np.float64(1.0)  # the factor of what Python will read
                    at = state[DOUBTFUL]
                    doubtful[at, 0], doubtful[at, 1], doubtful[at, 2], doubtful[at, 3] = VALUE, nnz, q, s
                    state[DOUBTFUL] = at + 1
                elif status == NOT_A_NUMBER or abs(value) == np.inf:
                    reason = BAD_VALUE
                    break
            largest = max(largest, feature)
            least = min(least, feature)
            indices[nnz] = feature + shift
            values[nnz] = -value if negative else value
            nnz += 1
        if reason:
            nnz = begun
            state[DOUBTFUL] = unsure
            if state[BAD] < bad.shape[0]:
                at = state[BAD]
                bad[at, 0], bad[at, 1], bad[at, 2], bad[at, 3] = number_of_line, reason, fault, s
            state[BAD] += 1
            while c != 10:
                s = np.uint64(places[k])
                c = text[s]
                k += _1
            if not skip:
                p = row_start
                break
        else:
            y[rows] = target
            line[rows] = number_of_line
            rows += 1
            indptr[rows] = nnz
        number_of_line += 1
        p = s + _1
    state[LINE], state[ROWS], state[NNZ], state[NEXT] = number_of_line, rows, nnz, p
    state[LARGEST], state[LEAST] = largest, least  # least > largest as long as no feature was seen


class LibsvmReader(TextReader):
    """Batches of libsvm text. Feature k has index k, or k + 1 behind the constant."""

    format = "libsvm"

    def __init__(self, source: Source, intercept: bool = False, **options: Any) -> None:
        super().__init__(source, **options)
        self._offset = int(intercept)
        self._places = np.empty(0, dtype=np.uint32)
        self._weighed = 0

    def _parse(self, start: int, stop: int) -> None:
        space = self.space
        if len(self._places) < self.block + 2 * PADDING:
            self._places = np.empty(self.block + 2 * PADDING, dtype=np.uint32)
            self._weighed = 0
        count = separators(self.text, start, stop, self._places)
        parse(self.text, start, self._places, count, self._offset, self.skip_bad, space.indptr, space.indices,
              space.values, space.y, space.line, space.doubtful, space.bad, space.state)
        rows = int(space.state[ROWS])
        if rows > self._weighed:  # weights are all 1: written once, as far as rows have come
            space.weight[self._weighed : rows] = 1.0
            self._weighed = rows
