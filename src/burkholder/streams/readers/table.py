"""Delimited text (CSV, TSV and their like), compiled: fields are found first, then understood by the plan."""

from __future__ import annotations

import numpy as np

from burkholder.learning.dates import EPOCH, FIRST_DAY, FIRST_MONTH, YEAR
from burkholder.machine.compiling import compiled, register_jitable
from burkholder.streams.readers.batch import DOUBTFUL, LABEL, LARGEST, UNLABELLED, VALUE, WEIGHT, closed, doubt, opened, refuse
from burkholder.streams.readers.columns import CATEGORICAL, CLASS, DASHES, DATE, DROPPED, MISSING, NUMERIC, TARGET, WORD
from burkholder.streams.readers.dates import NO_DATE, moment
from burkholder.streams.readers.digits import everywhere, next_of
from burkholder.streams.readers.hashing import code_of
from burkholder.streams.readers.numbers import NOT_A_NUMBER, PARSED, UNDECIDED, decimal
from burkholder.streams.readers.problems import BAD_CLASS, BAD_COUNT, BAD_DATE, BAD_NUMBER, BAD_QUOTE, BAD_TARGET, BAD_WEIGHT, NO_TARGET

QUOTE = 34
PLACES = float(1 << 26)  # a target's word is told by where it stands: start·2²⁶ + length, exact in a float64
# The words above, letters lowered, as base-256 numbers.
_INFINITY = np.frombuffer(b"infinity", dtype=np.uint8).copy()
_TRUE, _FALSE = (int.from_bytes(word, "big") for word in (b"true", b"false"))
_MISSING_CODES, _DASH_CODES = (np.array([int.from_bytes(word.encode(), "big") for word in words]) for words in (MISSING, DASHES))


@register_jitable
def missing(text, start, stop):
    """Whether the field says that there is no value."""
    return _one_of(text, start, stop, _MISSING_CODES)


@register_jitable
def no_number(text, start, stop):
    """Whether the field says that there is no value, where a number or a date should stand."""
    return _one_of(text, start, stop, _MISSING_CODES) or _one_of(text, start, stop, _DASH_CODES)


@register_jitable
def _one_of(text, start, stop, words):
    if stop - start > 4:
        return False
    word = np.int64(0)
    for at in range(start, stop):
        c = np.int64(text[at])
        word = 256 * word + (c + 32 if 65 <= c <= 90 else c)
    found = False
    for known in words:
        found = found or word == known
    return found


@register_jitable
def with_comma(text, start, stop):
    """Whether the field is a number with a decimal comma: digits and perhaps points, one comma, digits."""
    commas, before, after = 0, 0, 0
    for at in range(start, stop):
        c = text[at]
        if 48 <= c <= 57:
            if commas:
                after += 1
            else:
                before += 1
        elif c == 44:
            commas += 1
        elif not ((c == 46 and commas == 0) or (at == start and (c == 43 or c == 45))):
            return False
    return commas == 1 and before > 0 and after > 0


@register_jitable
def infinite(text, start, stop):
    """Whether the field spells an infinite number: `inf` or `infinity`, with or without a sign, in any case of letters."""
    if start < stop and (text[start] == 43 or text[start] == 45):
        start += 1
    if stop - start != 3 and stop - start != 8:
        return False
    same = True
    for at in range(stop - start):
        same = same and (text[start + at] | 32) == _INFINITY[at]
    return same


@register_jitable
def truth(text, start, stop):
    """1 for `true`, 0 for `false`, in any case of letters; -1 for anything else."""
    if stop - start != 4 and stop - start != 5:
        return -1
    word = np.int64(0)
    for at in range(start, stop):
        word = 256 * word + (np.int64(text[at]) | 32)
    return 1 if word == _TRUE else 0 if word == _FALSE else -1


@register_jitable
def understood(text, start, stop, comma):
    """`decimal`, with the comma in the place of the point (in the text itself too) where `comma` says so."""
    if comma:
        for at in range(start, stop):
            if text[at] == 46:
                return 0.0, NOT_A_NUMBER
        for at in range(start, stop):
            if text[at] == 44:
                text[at] = 46
    return decimal(text, start, stop)


@register_jitable
def _blank(c):
    return c == 32 or c == 9 or c == 13


@register_jitable
def fields(text, p, stop, delimiter, starts, stops, wrong):
    """Find the fields of the record at p: (how many, place after its end or -1 if unfinished, lines in it).

    Quoted fields are unquoted in place, once the record is known to be whole. `wrong[0]` is set to the field
    with text behind its closing quote, else -1.
    """
    count, lines, doubled = 0, 0, False
    most = starts.size
    ends, lines_end = everywhere(delimiter), everywhere(10)
    wrong[0] = -1
    begin = p
    while True:
        while p < stop and _blank(text[p]) and text[p] != delimiter:
            p += 1
        quoted = p < stop and text[p] == QUOTE
        if quoted:
            p += 1
            first = p
            while True:
                while p < stop and text[p] != QUOTE:
                    lines += text[p] == 10
                    p += 1
                if p + 1 >= stop:
                    return count, -1, lines
                if text[p + 1] != QUOTE:
                    break
                doubled = True
                p += 2
            last = p
            p += 1
            while p < stop and text[p] != delimiter and text[p] != 10:
                if not _blank(text[p]) and wrong[0] < 0:
                    wrong[0] = count
                p += 1
        else:
            first = p
            p = next_of(text, p, stop, ends, lines_end)
            last = p
            while last > first and _blank(text[last - 1]):
                last -= 1
        if p >= stop:
            return count, -1, lines
        if count < most:
            starts[count], stops[count] = first, last
        count += 1
        if text[p] == 10:
            break
        p += 1
    if doubled:
        for field in range(min(count, most)):
            if starts[field] > begin and text[starts[field] - 1] == QUOTE:
                stops[field] = _undoubled(text, starts[field], stops[field])
    return count, p + 1, lines + 1


@register_jitable
def _undoubled(text, start, stop):
    put = start
    at = start
    while at < stop:
        text[put] = text[at]
        at += 2 if text[at] == QUOTE else 1
        put += 1
    return put


@register_jitable
def _month(days):
    """The month of a day since 1970, from 0."""
    of_era = (days + 719468) % 146097
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    return ((5 * of_year + 2) // 153 + 2) % 12


@compiled
def survey(text, start, stop, delimiter, comma, starts, stops, seen):
    """Count in seen[column, record kind, field kind]: first record or later; missing, number, text, number with a comma, date,
    true or false.

    Unquotes in place: give it a copy.
    """
    wrong = np.empty(1, np.int64)
    p, later = start, 0
    while p < stop:
        found, p, _ = fields(text, p, stop, delimiter, starts, stops, wrong)
        if p < 0:
            break
        if found == 1 and seen.shape[0] > 1 and starts[0] == stops[0]:
            continue
        if found == seen.shape[0]:
            for column in range(found):
                a, b = starts[column], stops[column]
                if no_number(text, a, b):
                    seen[column, later, 0] += 1
                elif with_comma(text, a, b) and not comma:
                    seen[column, later, 3] += 1
                elif infinite(text, a, b) or decimal(text, a, b)[1] != NOT_A_NUMBER or understood(text, a, b, comma)[1] != NOT_A_NUMBER:
                    seen[column, later, 1] += 1
                elif moment(text, a, b)[0] != NO_DATE:
                    seen[column, later, 4] += 1
                elif truth(text, a, b) >= 0:
                    seen[column, later, 5] += 1
                else:
                    seen[column, later, 2] += 1
        later = 1


@compiled
def parse(
    text,
    start,
    stop,
    delimiter,
    comma,
    kind,
    slot,
    seed,
    count,
    positive,
    negative,
    offset,
    mask,
    calendar,
    keep,
    skip,
    named,
    origin,
    starts,
    stops,
    indptr,
    indices,
    values,
    y,
    weight,
    line,
    doubtful,
    bad,
    state,
):
    """Parse whole records behind the rows already there.

    With `named`, `origin` gets (column, start, stop) of each feature's field; (column, −1 − place, 0) for a word of the calendar.
    With `keep`, a row without a label stays, with y = NaN; otherwise it is left out and counted.
    """
    rows, nnz, number_of_line = opened(state, indptr)
    largest = state[LARGEST]
    columns = kind.size
    wrong = np.empty(1, np.int64)
    p = start
    while p < stop:
        begun, unsure, record = nnz, state[DOUBTFUL], p
        found, p, lines = fields(text, p, stop, delimiter, starts, stops, wrong)
        if p < 0:
            p = record
            break
        if found == 1 and columns > 1 and starts[0] == stops[0]:
            number_of_line += lines
            continue  # a blank line
        reason, where = 0, 0
        if found != columns:
            reason, where = BAD_COUNT, found
        elif wrong[0] >= 0:
            reason, where = BAD_QUOTE, wrong[0]
        weight[rows] = 1.0
        y[rows] = np.nan
        if offset:
            indices[nnz] = 0
            values[nnz] = 1.0
            nnz += 1
        for column in range(columns):
            if reason:
                break
            if kind[column] == DROPPED:
                continue
            a, b = starts[column], stops[column]
            where = column
            if kind[column] == CATEGORICAL:
                index = 2 * count + np.int64(code_of(text, a, b, seed[column]) & mask)
                if a == b:
                    index = count + slot[column]
                indices[nnz] = index + offset
                values[nnz] = 1.0
            elif kind[column] == DATE:
                days, hour, seconds = moment(text, a, b)
                index = slot[column]
                if days != NO_DATE:
                    indices[nnz] = index + offset
                    values[nnz] = (days * 86400.0 - EPOCH + seconds) / YEAR
                    words = hour, FIRST_DAY + (days + 3) % 7, FIRST_MONTH + _month(days)
                    if named:
                        origin[nnz, 0], origin[nnz, 1], origin[nnz, 2] = column, a, b
                    for place in words:
                        if place >= 0:
                            nnz += 1
                            if named:
                                origin[nnz, 0], origin[nnz, 1], origin[nnz, 2] = column, -1 - place, 0
                            largest = max(largest, calendar[column, place])
                            indices[nnz] = calendar[column, place] + offset
                            values[nnz] = 1.0
                    nnz += 1
                    continue
                if not no_number(text, a, b):
                    reason = BAD_DATE
                index = count + slot[column]
                indices[nnz] = index + offset
                values[nnz] = 1.0
            elif kind[column] == WORD:
                if missing(text, a, b):
                    reason = 0 if keep else NO_TARGET
                else:
                    y[rows] = a * PLACES + (b - a)
                continue
            elif kind[column] == CLASS:
                if missing(text, a, b):
                    reason = 0 if keep else NO_TARGET
                    continue
                same = b - a == positive.size
                for at in range(min(b - a, positive.size)):
                    same = same and text[a + at] == positive[at]
                y[rows] = 1.0 if same else -1.0
                if negative.size and not same:  # the other class is known too
                    same = b - a == negative.size
                    for at in range(min(b - a, negative.size)):
                        same = same and text[a + at] == negative[at]
                    reason = 0 if same else BAD_CLASS
                continue
            else:
                number, status = understood(text, a, b, comma)
                absent = status == NOT_A_NUMBER and no_number(text, a, b)
                refused = status == NOT_A_NUMBER or abs(number) == np.inf
                if kind[column] == NUMERIC:
                    if status == NOT_A_NUMBER and truth(text, a, b) >= 0:
                        number, refused, status = float(truth(text, a, b)), False, PARSED
                    if refused and not absent:
                        reason = BAD_NUMBER
                    index = slot[column] + (count if absent else 0)
                    indices[nnz] = index + offset
                    values[nnz] = 1.0 if absent or status == UNDECIDED else number
                elif kind[column] == TARGET:
                    if refused:
                        reason = NO_TARGET if absent else BAD_TARGET
                    y[rows] = np.nan if absent else number
                    if absent and keep:
                        reason = 0
                else:
                    if refused or number < 0.0:
                        reason = BAD_WEIGHT
                    weight[rows] = number
                if status == UNDECIDED:
                    array, place = VALUE, nnz
                    if kind[column] != NUMERIC:
                        array, place = (LABEL if kind[column] == TARGET else WEIGHT), rows
                    doubt(doubtful, state, array, place, a, b)
                if kind[column] != NUMERIC:
                    continue
            if named:
                origin[nnz, 0], origin[nnz, 1], origin[nnz, 2] = column, a, b
            largest = max(largest, index)
            nnz += 1
        if reason == NO_TARGET:
            nnz = begun
            state[DOUBTFUL] = unsure
            state[UNLABELLED] += 1
        elif reason:
            nnz = begun
            state[DOUBTFUL] = unsure
            field = min(where, columns - 1)
            refuse(bad, state, number_of_line, 256 * where + reason, starts[field], max(starts[field], stops[field]))
            if not skip:
                p = record
                break
        else:
            line[rows] = number_of_line
            rows += 1
            indptr[rows] = nnz
        number_of_line += lines
    closed(state, rows, nnz, number_of_line, p)
    state[LARGEST] = largest
