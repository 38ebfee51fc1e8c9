"""Dates in text, compiled: `2024-03-05`, `2024/3/5` or `5.3.2024`, perhaps followed by `13:30`, seconds, and a zone.

What a moment means as features says `learning.dates`. `3/5/2024` is one day here and another there: it stays a word.
"""

from __future__ import annotations

import numpy as np

from burkholder.machine.compiling import compiled, register_jitable

NO_DATE = -(1 << 40)
_LENGTHS = np.array([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


@register_jitable
def _digits(text, p, stop, most):
    """(number, place behind it): as many digits as there are, up to `most`."""
    number, at = np.int64(0), p
    while at < stop and at < p + most and 48 <= text[at] <= 57:
        number = 10 * number + (np.int64(text[at]) - 48)
        at += 1
    return number, at


@register_jitable
def _days(year, month, day):
    """Days since 1970-01-01, or NO_DATE where there is no such day."""
    if month < 1 or month > 12 or day < 1 or day > _LENGTHS[month - 1]:
        return NO_DATE
    if month == 2 and day == 29 and (year % 4 != 0 or (year % 100 == 0 and year % 400 != 0)):
        return NO_DATE
    shifted = year - (month <= 2)  # years that begin in March
    era = shifted // 400
    of_era = shifted - 400 * era
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@register_jitable
def moment(text, start, stop):
    """(days since 1970 or NO_DATE, hour or −1, seconds of the day)."""
    p = np.int64(start)
    end = np.int64(stop)
    first, at = _digits(text, p, end, 4)
    if at == p or at >= end:
        return NO_DATE, -1, 0.0
    mark = text[at]
    second, q = _digits(text, at + 1, end, 2)
    if q == at + 1 or q >= end or text[q] != mark:
        return NO_DATE, -1, 0.0
    third, r = _digits(text, q + 1, end, 4)
    if (mark == 45 or mark == 47) and at - p == 4 and 1 <= r - q - 1 <= 2:
        days = _days(first, second, third)
    elif mark == 46 and at - p <= 2 and r - q - 1 == 4:
        days = _days(third, second, first)
    else:
        return NO_DATE, -1, 0.0
    if r == end or days == NO_DATE:
        return days, -1, 0.0
    if text[r] != 32 and text[r] != 84:
        return NO_DATE, -1, 0.0
    hour, s = _digits(text, r + 1, end, 2)
    if s == r + 1 or s >= end or text[s] != 58 or hour > 23:
        return NO_DATE, -1, 0.0
    minute, u = _digits(text, s + 1, end, 2)
    if u != s + 3 or minute > 59:
        return NO_DATE, -1, 0.0
    seconds = 0.0
    if u < end and text[u] == 58:
        whole, v = _digits(text, u + 1, end, 2)
        if v != u + 3 or whole > 60:
            return NO_DATE, -1, 0.0
        seconds, u = np.float64(whole), v
        if u < end and (text[u] == 46 or text[u] == 44):
            fraction, v = _digits(text, u + 1, end, 9)
            if v == u + 1:
                return NO_DATE, -1, 0.0
            seconds += fraction / 10.0 ** (v - u - 1)
            u = v
    if u < end and text[u] == 32:
        u += 1
    if u < end and (text[u] == 90 or text[u] == 43 or text[u] == 45):  # a zone: Z, +01:00, -0500
        zulu = text[u] == 90
        u += 1
        while u < end and not zulu and (48 <= text[u] <= 57 or text[u] == 58):
            u += 1
    if u != end:
        return NO_DATE, -1, 0.0
    return days, hour, 3600.0 * hour + 60.0 * minute + seconds


@compiled
def one(text):
    """`moment` of a whole text, for fields read outside compiled loops."""
    return moment(text, 0, text.size)


def spelled(field: str) -> np.datetime64 | None:
    """The moment a field spells, None where it spells none; days have no time of day.

    >>> spelled("5.3.2024"), spelled("2024-03-05 13:30:15.5Z"), spelled("2023-02-29"), spelled("3/5/2024")
    (np.datetime64('2024-03-05'), np.datetime64('2024-03-05T13:30:15.500000'), None, None)
    """
    days, hour, seconds = one(np.frombuffer(field.strip().encode() + b" ", dtype=np.uint8)[:-1])
    if days == NO_DATE:
        return None
    day = np.datetime64(int(days), "D")
    return day if hour < 0 else day.astype("datetime64[us]") + np.timedelta64(round(seconds * 1e6), "us")
