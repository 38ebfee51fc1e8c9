"""libsvm text: `label id:value id:value … # comment`, parsed in two passes over a block.

The first pass lists every separator; the second turns what stands between them into numbers, eight `id:value` pairs at a
time (`machine.pairs`). A pair that is not spelled as usual is read by itself: digits eight at a time, or by `decimal`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.machine.bits import lowest
from burkholder.machine.compiling import compiled, register_jitable
from burkholder.machine.pairs import eight_pairs
from burkholder.machine.separators import separators
from burkholder.streams.readers.batch import DOUBTFUL, LABEL, ROWS, VALUE, closed, doubt, noticed, opened, refuse
from burkholder.streams.readers.digits import PADDING, digits, number, plain, strange
from burkholder.streams.readers.numbers import EXACT, NOT_A_NUMBER, PARSED, TENS, UNDECIDED, decimal, scale
from burkholder.streams.readers.problems import BAD_FEATURE, BAD_ID, BAD_LABEL, BAD_VALUE, MOST_FEATURES
from burkholder.streams.readers.source import Source
from burkholder.streams.readers.text import PairsReader

_0, _1, _2, _3, _8, _16, _18 = (np.uint64(k) for k in (0, 1, 2, 3, 8, 16, 18))
_TOO_LONG = np.uint64(0xFFFFFFFFFFFFFFF8)  # set in n−1 unless 1 ≤ n ≤ 8
_EIGHT_PAIRS, _ALL = np.uint64(0xFF), np.uint64(0xFFFF)
_LONGEST_WAIT = 64  # pairs read one by one before eight are tried again


@register_jitable(inline="always")  # a call would cost a quarter of the time
def _long(text, q, s):
    """(value, 0 if it is one) of text[q:s] spelled `d.ddd…`, with 7 digits or more behind the point."""
    part = s - q - _2
    if part > _18:
        return 0.0, _1
    m = np.uint64(text[q]) - np.uint64(48)
    right = digits(text, s, min(part, _8))
    odd = strange(right) | np.uint64(m > np.uint64(9))
    if part <= _8:
        return np.float64(np.int64(m * TENS[part] + number(right))) / EXACT[part], odd
    if part > _16:
        first = digits(text, s - _16, part - _16)
        odd |= strange(first)
        m = m * TENS[part - _16] + number(first)
    between = min(part - _8, _8)
    middle = digits(text, s - _8, between)
    odd |= strange(middle)
    m = m * TENS[between] + number(middle)
    value, status = scale(m * TENS[_8] + number(right), -np.int64(part))
    return value, odd | np.uint64(status != PARSED)


@register_jitable(inline="always")
def _value(text, q, s):
    """(value, 0 if it is one) of text[q:s] in the spellings worth a path of their own."""
    negative = text[q] == 45
    q += np.uint64(negative)
    size = s - q
    if size <= _8:
        if size == _0:
            return 0.0, _1
        m, count, fraction, odd = plain(text, s, np.int64(size))
        value = np.float64(np.int64(m)) / EXACT[max(fraction, 0)]
        odd |= np.uint64(count == 0)
    elif text[q + _1] == 46:
        value, odd = _long(text, q, s)
    else:
        return 0.0, _1
    return (-value if negative else value), odd


@register_jitable
def _label(text, p, s):
    """`decimal` of text[p:s], the classes 1 and -1 first."""
    last = np.uint64(text[s - _1]) - np.uint64(48)
    if last <= np.uint64(9):
        if s - p == _1:
            return np.float64(np.int64(last)), PARSED
        if s - p == _2 and text[p] == 45:
            return -np.float64(np.int64(last)), PARSED
    return decimal(text, p, s)


@compiled
def parse(text, start, stop, places, kinds, offset, skip, indptr, indices, values, y, line, doubtful, bad, state):
    """Parse whole lines behind the rows already there; the last separator is a line end. With offset 1 the
    constant goes in front of each row."""
    end = separators(text, start, stop, places, kinds)
    for spare in range(16):
        places[end + np.uint64(spare)] = start  # eight pairs are looked at even where the last line ends before
        kinds[end + np.uint64(spare)] = 10
    rows, nnz, number_of_line = opened(state, indptr)
    known = nnz
    wait, longer = 0, 1
    k, p = np.uint64(0), np.uint64(start)
    while k < end:
        row_start, begun, unsure = p, nnz, state[DOUBTFUL]
        reason, fault = 0, p
        # The label, and what may stand in its place: nothing, or a comment.
        while kinds[k] > 32:
            k += _1
        s, c = np.uint64(places[k]), kinds[k]
        k += _1
        if s == p or text[p] == 35:
            if c != 10 and s != p:  # a comment: on to the line end
                while c != 10:
                    s, c = np.uint64(places[k]), kinds[k]
                    k += _1
            number_of_line += c == 10
            p = s + _1
            continue
        target, status = _label(text, p, s)
        if status == UNDECIDED:
            doubt(doubtful, state, LABEL, rows, p, s)
        elif status == NOT_A_NUMBER or abs(target) == np.inf:
            reason = BAD_LABEL
        if offset:
            indices[nnz] = 0
            values[nnz] = 1.0
            nnz += 1
        while c != 10 and reason == 0:
            if wait == 0:
                seen = eight_pairs(text, places, kinds, k, indices, values, nnz, offset)
                if seen & _ALL == _EIGHT_PAIRS:  # the branch lets the processor go on before it knows
                    k += _16
                    nnz += 8
                    continue
                count = lowest(~(seen & _EIGHT_PAIRS))
                over = (seen >> _8) & ((_1 << count) - _1)
                if over != _0:
                    count = lowest(over) + _1
                    c = kinds[k + _2 * count - _1]
                k += _2 * count
                nnz += np.int64(count)
                # What comes next is not usual. Where nothing is, eight are tried less and less often.
                longer = min(2 * longer, _LONGEST_WAIT) if count == _0 else 1
                wait = longer if over == _0 else 0
                continue
            wait -= 1
            p = np.uint64(places[k - _1]) + _1
            s, c = np.uint64(places[k]), kinds[k]
            k += _1
            if c != 58:
                if s == p:
                    continue
                fault = p
                reason = BAD_FEATURE
                if text[p] == 35:
                    reason = 0
                    while c != 10:
                        s, c = np.uint64(places[k]), kinds[k]
                        k += _1
                break
            length = s - p
            spelled = digits(text, s, length)
            feature = number(spelled)
            odd = strange(spelled) | (length - _1 & _TOO_LONG)  # not 0: leave the straight path
            q = s + _1
            s, c = np.uint64(places[k]), kinds[k]
            k += _1
            value, unusual = _value(text, q, s)
            if odd | unusual != _0 or c == 58:
                # Anything but the usual spelling: read it again, slowly.
                while c == 58:
                    s, c = np.uint64(places[k]), kinds[k]
                    k += _1
                colon = q - _1
                if colon - p == _3 and text[p] == 113 and text[p + _1] == 105 and text[p + _2] == 100:
                    continue  # qid:… names a query, not a feature
                fault = p
                whole, identifier = decimal(text, p, colon)
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
                value, status = decimal(text, q, s)
                if status == UNDECIDED:
                    value = np.float64(1.0)  # the factor of what Python will read
                    doubt(doubtful, state, VALUE, nnz, q, s)
                elif status == NOT_A_NUMBER or abs(value) == np.inf:
                    reason = BAD_VALUE
                    break
            indices[nnz] = np.int64(feature) + offset
            values[nnz] = value
            nnz += 1
        s = np.uint64(places[k - _1])
        if reason:
            nnz = begun
            state[DOUBTFUL] = unsure
            refuse(bad, state, number_of_line, reason, fault, s)
            while c != 10:
                s, c = np.uint64(places[k]), kinds[k]
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
    closed(state, rows, nnz, number_of_line, p)
    noticed(indices, known, nnz, offset, state)


class LibsvmReader(PairsReader):
    """Batches of libsvm text. Feature k has index k, or k + 1 behind the constant."""

    format = "libsvm"

    def __init__(self, source: Source, **options: Any) -> None:
        super().__init__(source, **options)
        self._places = np.empty(0, dtype=np.uint32)
        self._kinds = np.empty(0, dtype=np.uint8)
        self._weighed = 0

    def _parse(self, start: int, stop: int) -> None:
        space = self.space
        room = self.block + 2 * PADDING
        if len(self._places) < room:
            self._places, self._kinds = np.empty(room, dtype=np.uint32), np.empty(room, dtype=np.uint8)
            self._weighed = 0
        parse(
            self.text,
            start,
            stop,
            self._places,
            self._kinds,
            self.offset,
            self.skip_bad,
            space.indptr,
            space.indices,
            space.values,
            space.y,
            space.line,
            space.doubtful,
            space.bad,
            space.state,
        )
        rows = int(space.state[ROWS])
        if rows > self._weighed:  # weights are all 1: written once, as far as rows have come
            space.weight[self._weighed : rows] = 1.0
            self._weighed = rows
