"""Dates in text, compiled: `2024-03-05`, `2024/3/5`, `5.3.2024`, `5 Mar 2024`, `Mar 5, 2024` or `2024-03` (its first day), perhaps
followed by `13:30` or `1:30 pm`, seconds, and a zone.

What a moment means as features says `learning.dates`. `3/5/2024` is one day here and another there: it stays a word.
"""

from __future__ import annotations

import numpy as np

from burkholder.learning.dates import MONTHS
from burkholder.machine.compiling import compiled, register_jitable

NO_DATE = -(1 << 40)
_LENGTHS = np.array([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_MONTHS = np.array([int.from_bytes(name.lower()[:3].encode(), "big") for name in MONTHS])
_WHOLE = np.array([len(name) for name in MONTHS])


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
def _month(text, p, stop):
    """(month, place behind it) of an English name such as `Mar`, `march` or `MARCH`; 0 where there is none."""
    at, word = p, np.int64(0)
    while at < stop and 97 <= (text[at] | 32) <= 122:
        if at < p + 3:
            word = 256 * word + (np.int64(text[at]) | 32)
        at += 1
    month = 0
    for k in range(12):
        if word == _MONTHS[k] and (at - p == 3 or at - p == _WHOLE[k] or (k == 8 and at - p == 4)):  # Sep, Sept, September
            month = k + 1
    return month, at


@register_jitable
def _day(text, p, end):
    """(days since 1970 or NO_DATE, place behind the date)."""
    month, at = _month(text, p, end)
    if month > 0:  # Mar 5, 2024
        day, q = _digits(text, at + 1, end, 2)
        r = q + 1 if q < end and text[q] == 44 else q
        year, s = _digits(text, r + 1, end, 4)
        if at >= end or q == at + 1 or r >= end or not _between(text[at]) or not _between(text[r]) or s - r - 1 != 4:
            return NO_DATE, p
        return _days(year, month, day), s
    first, at = _digits(text, p, end, 4)
    if at == p or at >= end:
        return NO_DATE, p
    mark = text[at]
    month, q = _month(text, at + 1, end)
    if month > 0:  # 5 Mar 2024, 5-Mar-2024
        year, r = _digits(text, q + 1, end, 4)
        if at - p > 2 or q >= end or not _between(mark) or not _between(text[q]) or r - q - 1 != 4:
            return NO_DATE, p
        return _days(year, month, first), r
    second, q = _digits(text, at + 1, end, 2)
    if q == end and mark == 45 and at - p == 4 and q - at == 3 and 1800 <= first < 2200:  # 2024-03
        return _days(first, second, np.int64(1)), q
    if q == at + 1 or q >= end or text[q] != mark:
        return NO_DATE, p
    third, r = _digits(text, q + 1, end, 4)
    if (mark == 45 or mark == 47) and at - p == 4 and 1 <= r - q - 1 <= 2:
        return _days(first, second, third), r
    if mark == 46 and at - p <= 2 and r - q - 1 == 4:
        return _days(third, second, first), r
    return NO_DATE, p


@register_jitable
def _between(c):
    """Whether this may stand beside the name of a month."""
    return c == 32 or c == 45 or c == 46 or c == 47


@register_jitable
def moment(text, start, stop):
    """(days since 1970 or NO_DATE, hour or −1, seconds of the day)."""
    end = np.int64(stop)
    days, r = _day(text, np.int64(start), end)
    if r == end or days == NO_DATE:
        return days, -1, 0.0
    if text[r] == 44 and r + 1 < end and text[r + 1] == 32:  # `5 March 2024, 13:30`
        r += 1
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
    if u + 1 < end and (text[u + 1] | 32) == 109 and ((text[u] | 32) == 97 or (text[u] | 32) == 112):  # am, pm
        if hour < 1 or hour > 12:
            return NO_DATE, -1, 0.0
        hour = hour % 12 + (12 if (text[u] | 32) == 112 else 0)
        u += 3 if u + 2 < end and text[u + 2] == 32 else 2
    if u + 3 == end and ((text[u], text[u + 1], text[u + 2]) == (85, 84, 67) or (text[u], text[u + 1], text[u + 2]) == (71, 77, 84)):
        u = end  # UTC, GMT
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
    >>> spelled("5-Mar-2024"), spelled("March 5, 2024 1:30 PM"), spelled("2024-03"), spelled("5 Maybe 2024")
    (np.datetime64('2024-03-05'), np.datetime64('2024-03-05T13:30:00.000000'), np.datetime64('2024-03-01'), None)
    """
    days, hour, seconds = one(np.frombuffer(field.strip().encode() + b" ", dtype=np.uint8)[:-1])
    if days == NO_DATE:
        return None
    day = np.datetime64(int(days), "D")
    return day if hour < 0 else day.astype("datetime64[us]") + np.timedelta64(round(seconds * 1e6), "us")
