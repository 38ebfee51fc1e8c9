"""Vowpal Wabbit text: `label [importance [initial]] [tag]|namespace[:scale] name[:value] … |namespace …`.

Names become indices by the rule of `hashing`. A word that touches the bar, or starts with a quote mark, is a
tag and ignored, as VW does; so is the default of every left-out part: importance 1, value 1, scale 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.machine.compiling import compiled, register_jitable
from burkholder.streams.readers.batch import DOUBTFUL, LABEL, VALUE, WEIGHT, closed, doubt, noticed, opened, refuse
from burkholder.streams.readers.hashing import BITS, check_bits, code_of
from burkholder.streams.readers.numbers import NOT_A_NUMBER, UNDECIDED, decimal
from burkholder.streams.readers.problems import BAD_IMPORTANCE, BAD_INITIAL, BAD_LABEL, BAD_SCALE, BAD_VALUE, NO_BAR, NO_LABEL
from burkholder.streams.readers.source import Source
from burkholder.streams.readers.text import PairsReader


@register_jitable
def _head(text, p, stop, row, y, weight, doubtful, state):
    """Label and importance in front of the first bar: (reason, fault start, fault stop, place of the bar)."""
    words = 0
    begin = p
    while p < stop and text[p] != 124:
        while p < stop and text[p] <= 32:
            p += 1
        begin = p
        while p < stop and text[p] > 32 and text[p] != 124:
            p += 1
        if p == begin:
            continue
        if (p < stop and text[p] == 124) or text[begin] == 39:
            while p < stop and text[p] != 124:  # a tag is the last word
                p += 1
            break
        number, status = decimal(text, begin, p)
        wrong = status == NOT_A_NUMBER or abs(number) == np.inf
        if words == 0:
            y[row] = number
            if wrong:
                return BAD_LABEL, begin, p, p
            if status == UNDECIDED:
                doubt(doubtful, state, LABEL, row, begin, p)
        elif words == 1:
            weight[row] = number
            if wrong or number < 0.0:
                return BAD_IMPORTANCE, begin, p, p
            if status == UNDECIDED:
                doubt(doubtful, state, WEIGHT, row, begin, p)
        elif wrong or number != 0.0 or words > 2:
            return BAD_INITIAL, begin, p, p
        words += 1
    if words == 0:
        return NO_LABEL, begin, p, p
    return 0, begin, p, p


@compiled
def parse(text, start, stop, offset, mask, keep, skip, indptr, indices, values, y, weight, line, doubtful, bad, state):
    """Parse whole lines behind the rows already there. With offset 1 the constant goes in front of each row."""
    rows, nnz, number_of_line = opened(state, indptr)
    known, p = nnz, start
    while p < stop:
        begun, unsure, row_start = nnz, state[DOUBTFUL], p
        end = p
        blank, bar = True, False
        while text[end] != 10:
            blank = blank and text[end] <= 32
            bar = bar or text[end] == 124
            end += 1
        if blank:
            number_of_line += 1
            p = end + 1
            continue
        weight[rows] = 1.0
        reason, fault, fault_end = NO_BAR, p, end
        if bar:
            reason, fault, fault_end, p = _head(text, p, end, rows, y, weight, doubtful, state)
            if reason == NO_LABEL and keep:
                y[rows], reason = np.nan, 0
        if offset:
            indices[nnz] = 0
            values[nnz] = 1.0
            nnz += 1
        namespace, scale, nameless = np.uint64(0), 1.0, np.uint64(0)
        opens = True
        while p < end and reason == 0:
            if text[p] <= 32:
                p += 1
                opens = False
                continue
            if text[p] == 124:
                # A namespace: its name touches the bar; `| name` is the empty one.
                namespace, scale, nameless = np.uint64(0), 1.0, np.uint64(0)
                p += 1
                opens = True
                if p < end and text[p] == 124:
                    continue
            begin = p
            while p < end and text[p] > 32 and text[p] != 58 and text[p] != 124:
                p += 1
            name_end = p
            number, status = 1.0, 0
            from_here = p
            if p < end and text[p] == 58:
                from_here = p + 1
                while p < end and text[p] > 32 and text[p] != 124:
                    p += 1
                number, status = decimal(text, from_here, p)
                if status == NOT_A_NUMBER or abs(number) == np.inf:
                    reason, fault, fault_end = (BAD_SCALE if opens else BAD_VALUE), begin, p
                    break
            if opens:
                namespace = code_of(text, begin, name_end, np.uint64(0))
                scale = number
                opens = False
                if status == UNDECIDED:
                    reason, fault, fault_end = BAD_SCALE, begin, p
                continue
            if name_end == begin:
                feature = namespace + nameless
                nameless += np.uint64(1)
            else:
                feature = code_of(text, begin, name_end, namespace)
            index = np.int64(feature & mask)
            if status == UNDECIDED:
                number = 1.0  # the factor of what Python will read
                doubt(doubtful, state, VALUE, nnz, from_here, p)
            if abs(number * scale) == np.inf:
                reason, fault, fault_end = BAD_VALUE, begin, p
                break
            indices[nnz] = index + offset
            values[nnz] = number * scale
            nnz += 1
        if reason:
            nnz = begun
            state[DOUBTFUL] = unsure
            refuse(bad, state, number_of_line, reason, fault, fault_end)
            if not skip:
                p = row_start
                break
        else:
            line[rows] = number_of_line
            rows += 1
            indptr[rows] = nnz
        number_of_line += 1
        p = end + 1
    closed(state, rows, nnz, number_of_line, p)
    noticed(indices, known, nnz, offset, state)


class VWReader(PairsReader):
    """Batches of VW text: indices below 2^bits, one higher behind the constant."""

    format = "vw"

    def __init__(self, source: Source, bits: int = BITS, **options: Any) -> None:
        super().__init__(source, **options)
        self._mask = np.uint64((1 << check_bits(bits)) - 1)

    def _parse(self, start: int, stop: int) -> None:
        space = self.space
        parse(
            self.text,
            start,
            stop,
            self.offset,
            self._mask,
            self.labels != "needed",
            self.skip_bad,
            space.indptr,
            space.indices,
            space.values,
            space.y,
            space.weight,
            space.line,
            space.doubtful,
            space.bad,
            space.state,
        )
