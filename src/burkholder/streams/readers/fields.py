"""The fields of a record of delimited text, compiled: where each begins and ends, quotes taken away."""

from __future__ import annotations

from burkholder.machine.compiling import register_jitable
from burkholder.streams.readers.digits import everywhere, next_of

QUOTE = 34


@register_jitable
def _blank(c):
    return c == 32 or c == 9 or c == 13


@register_jitable
def fields(text, p, stop, delimiter, starts, stops, wrong):
    """Find the fields of the record at p: (how many, place after its end or -1 if unfinished, lines in it).

    Quoted fields are unquoted in place, once the record is known to be whole. `wrong[0]` is set to the field
    with text behind its closing quote, else -1. Spaces that delimit may stand in runs, and around the record.
    """
    count, lines, doubled, runs = 0, 0, False, delimiter == 32
    most = starts.size
    ends, lines_end = everywhere(delimiter), everywhere(10)
    wrong[0] = -1
    begin = p
    while True:
        while p < stop and _blank(text[p]) and (runs or text[p] != delimiter):
            p += 1
        if runs and count > 0 and p < stop and text[p] == 10:
            break
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
