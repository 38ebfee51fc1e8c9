"""Delimited text (CSV, TSV and their like), compiled: fields are found first, then understood by the plan."""

from __future__ import annotations

import numpy as np

from burkholder.learning.dates import EPOCH, FIRST_DAY, FIRST_MONTH, YEAR
from burkholder.machine.compiling import compiled, register_jitable
from burkholder.streams.readers.batch import DOUBTFUL, LABEL, LARGEST, UNLABELLED, VALUE, WEIGHT, closed, doubt, opened, refuse
from burkholder.streams.readers.columns import CATEGORICAL, CLASS, DATE, DROPPED, NUMERIC, TARGET, WORD
from burkholder.streams.readers.dates import NO_DATE, moment
from burkholder.streams.readers.fields import fields
from burkholder.streams.readers.hashing import code_of
from burkholder.streams.readers.numbers import NOT_A_NUMBER, PARSED, UNDECIDED, decimal
from burkholder.streams.readers.problems import BAD_CLASS, BAD_COUNT, BAD_DATE, BAD_NUMBER, BAD_QUOTE, BAD_TARGET, BAD_WEIGHT, NO_TARGET
from burkholder.streams.readers.words import infinite, missing, no_number, truth, understood, with_comma

PLACES = float(1 << 26)  # a target's word is told by where it stands: start·2²⁶ + length, exact in a float64


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
    true or false. Dates count as text, until `survey_dates` has looked.

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
                elif truth(text, a, b) >= 0:
                    seen[column, later, 5] += 1
                else:
                    seen[column, later, 2] += 1
        later = 1


@compiled
def survey_dates(text, start, stop, delimiter, starts, stops, seen):
    """Which of the later fields that `survey` took for text are dates; no date is anything else. Only tables with words ask."""
    wrong = np.empty(1, np.int64)
    p, later = start, False
    while p < stop:
        found, p, _ = fields(text, p, stop, delimiter, starts, stops, wrong)
        if p < 0:
            break
        if found == seen.shape[0] and later:
            for column in range(found):
                if seen[column, 1, 2] > 0 and moment(text, starts[column], stops[column])[0] != NO_DATE:
                    seen[column, 1, 2] -= 1
                    seen[column, 1, 4] += 1
        later = later or found > 1 or seen.shape[0] == 1 or starts[0] < stops[0]


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
    With `keep`, a row without a label stays, with y = NaN; otherwise it is left out and counted. Without a column of dates there is no
    calendar, and none of its code is compiled.
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
                if calendar is not None:
                    days, hour, seconds = moment(text, a, b)
                    if days != NO_DATE:
                        indices[nnz] = slot[column] + offset
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
