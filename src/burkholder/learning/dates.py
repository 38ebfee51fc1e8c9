"""A moment as features: one rule for tables, data frames and dicts.

A value `when` gives the trend `when` (a number: years since 2000) and words of value 1: `when=hour 13` where it has a time of
day, `when=Tuesday` and `when=March`. The time is taken as it is written: no zone is applied.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np

from burkholder.learning.naming import indicator

HOURS = tuple(f"hour {hour}" for hour in range(24))
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
WORDS = (*HOURS, *DAYS, *MONTHS)
FIRST_DAY, FIRST_MONTH = len(HOURS), len(HOURS) + len(DAYS)
YEAR = 365.25 * 86400.0  # seconds
EPOCH = 946684800  # 2000-01-01, in seconds since 1970


def is_moment(value: Any) -> bool:
    """Whether a value is a date or a time stamp: Python's, numpy's or pandas'."""
    return isinstance(value, (date, np.datetime64))


def named(name: object, value: Any) -> list[tuple[str, float]]:
    """The features of a moment.

    >>> named("when", datetime(2024, 3, 5, 13, 30))
    [('when', 24.176762491444215), ('when=hour 13', 1.0), ('when=Tuesday', 1.0), ('when=March', 1.0)]
    >>> [feature for feature, _ in named("day", date(2024, 3, 5))]
    ['day', 'day=Tuesday', 'day=March']
    """
    trend, places = parts(value)
    return [(str(name), trend), *((indicator(name, WORDS[place]), 1.0) for place in places)]


def parts(value: Any) -> tuple[float, list[int]]:
    """(trend, places among `WORDS`)."""
    if isinstance(value, np.datetime64):
        days = np.datetime_data(value)[0] in ("D", "W", "M", "Y")
        value = value.astype("datetime64[D]" if days else "datetime64[us]").item()
    seconds = (value.toordinal() - 719163) * 86400.0 - EPOCH
    places = [FIRST_DAY + value.weekday(), FIRST_MONTH + value.month - 1]
    if isinstance(value, datetime):
        seconds += 3600.0 * value.hour + 60.0 * value.minute + value.second + 1e-6 * value.microsecond
        places.insert(0, value.hour)
    return seconds / YEAR, places


def many(moments: np.ndarray, timed: bool) -> tuple[np.ndarray, list[np.ndarray]]:
    """(trends, columns of places) of an array of datetime64; where it has no value (NaT) the trend is NaN and places are 0.

    >>> trend, words = many(np.array(["2024-03-05T13:30"], "datetime64[us]"), True)
    >>> trend.tolist() == [named("", datetime(2024, 3, 5, 13, 30))[0][1]], [WORDS[word[0]] for word in words]
    (True, ['hour 13', 'Tuesday', 'March'])
    """
    absent = np.isnat(moments)
    fine = np.where(absent, np.datetime64("2000-01-01", "us"), moments.astype("datetime64[us]"))
    days = fine.astype("datetime64[D]")
    within = (fine - days).astype(np.int64)  # microseconds
    whole = days.astype(np.int64) * 86400.0 - EPOCH
    hours, rest = np.divmod(within, 3_600_000_000)
    minutes, rest = np.divmod(rest, 60_000_000)
    seconds, micro = np.divmod(rest, 1_000_000)
    trend = (whole + (3600.0 * hours + 60.0 * minutes + seconds + 1e-6 * micro)) / YEAR
    places = [FIRST_DAY + (days.astype(np.int64) + 3) % 7, FIRST_MONTH + days.astype("datetime64[M]").astype(np.int64) % 12]
    return np.where(absent, np.nan, trend), [hours, *places] if timed else places
