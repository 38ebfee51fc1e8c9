"""Files of ratings: csv, tsv, spaces or MovieLens' `::`, packed or not, header and times optional."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from burkholder.errors import BadInput, BadLine

ROW_NAMES = ("user", "userid", "user_id", "row", "reviewer", "reviewerid", "customer", "u", "rater")
COLUMN_NAMES = (
    "item", "itemid", "item_id", "movie", "movieid", "movie_id", "column", "product", "asin", "isbn", "book",
    "i", "artist", "song", "joke",
)  # fmt: skip
RATING_NAMES = ("rating", "ratings", "score", "stars", "value", "y", "r", "overall", "target")
TIME_NAMES = ("timestamp", "time", "date", "unixreviewtime", "datetime", "ts", "t")
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class Ratings(NamedTuple):
    """Three columns in the order to be played; ids are the strings of the file."""

    rows: list[str]
    columns: list[str]
    ratings: list[float]
    timed: bool  # whether they were put in time order


@contextmanager
def _opened(path: str) -> Iterator[IO[str]]:
    if path == "-":
        yield sys.stdin
        return
    if not Path(path).is_file():
        raise BadInput("ratings", path, "there is no such file")
    opener = OPENERS.get(Path(path).suffix, open)
    with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as stream:
        yield stream


def _delimiter(line: str) -> str | None:
    """The separator of that line; None means white space."""
    return next((mark for mark in ("::", "\t", ",", ";", "|") if mark in line), None)


def _split(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    if delimiter == "::":
        return [field.strip() for field in line.rstrip("\r\n").split("::")]
    return [field.strip() for field in next(csv.reader([line], delimiter=delimiter))]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _time(text: str) -> float | None:
    """Seconds from a number or an ISO date; None if it is neither."""
    seconds = _number(text)
    if seconds is None:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return seconds if math.isfinite(seconds) else None


def _places(path: str, header: list[str], said: dict[str, str | None], rated: bool = True) -> tuple[int, int, int, int | None]:
    """Where row, column, rating and time stand: as said, or by their usual names; a table that has neither is not one of ratings."""
    names = [name.strip().strip('"').lower().replace(" ", "_") for name in header]
    plain = [name.strip().strip('"') for name in header]

    def find(role: str, known: tuple[str, ...]) -> int | None:
        name = said.get(role)
        if name is None:
            return next((k for k, lowered in enumerate(names) if lowered in known), None)
        if name not in plain:
            raise BadInput(role, name, f"no column {name!r} in {path}. Columns: {', '.join(plain)}")
        return plain.index(name)

    row, column = find("row", ROW_NAMES), find("column", COLUMN_NAMES)
    rating = find("rating", RATING_NAMES) if rated else -1
    free = [k for k in range(min(3, len(names))) if k not in (row, column, rating)]
    found = sum(place is not None for place in (row, column, rating if rated else None))
    if found < 2 - (not rated) or len(names) < 2 + rated:
        told = "--row, --column and --rating" if rated else "row and column"
        raise BadInput("ratings", path, f"its columns ({', '.join(plain[:10])}) are not those of ratings: say which with {told}")
    row, column, rating = (free.pop(0) if place is None else place for place in (row, column, rating))
    if len({row, column, rating}) < 3:
        raise BadInput("ratings", path, "row, column and rating must be three columns")
    return row, column, rating, find("time", TIME_NAMES)


def read_pairs(path: str | Path) -> tuple[list[str], list[str]]:
    """The ids of a file of pairs, in its order; ratings and times may be there and are not read."""
    name = str(path)
    rows, columns = [], []
    with _opened(name) as stream:
        lines = ((number, line) for number, line in enumerate(stream, 1) if line.strip())
        places, delimiter, first = (0, 1), None, True
        for number, line in lines:
            delimiter = _delimiter(line) if first else delimiter
            fields = _split(line, delimiter)
            if first:
                first = False
                lowered = {field.lower().replace(" ", "_") for field in fields}
                if lowered & {*ROW_NAMES, *COLUMN_NAMES}:
                    places = _places(name, fields, {}, rated=False)[:2]
                    continue
            if len(fields) <= max(places):
                raise BadLine(name, number, "expected a row and a column")
            rows.append(fields[places[0]])
            columns.append(fields[places[1]])
    if not rows:
        raise BadInput("path", name, "it holds no pair")
    return rows, columns


def read_ratings(
    path: str | Path,
    time_order: bool = True,
    row: str | None = None,
    column: str | None = None,
    rating: str | None = None,
    time: str | None = None,
) -> Ratings:
    """Every rating of a file; in time order (ties as in the file) if each line has a time.

    Without a header the columns are row, column, rating and, if there is a fourth, time.
    """
    said = {"row": row, "column": column, "rating": rating, "time": time}
    name = str(path)
    entries: list[tuple[str, str, float, float | None]] = []
    with _opened(name) as stream:
        lines = ((number, line) for number, line in enumerate(stream, 1) if line.strip())
        first = next(lines, None)
        if first is None:
            raise BadInput("ratings", name, "the file has no ratings")
        delimiter = _delimiter(first[1])
        fields = _split(first[1], delimiter)
        places: tuple[int, int, int, int | None] = (0, 1, 2, 3 if len(fields) > 3 else None)
        if len(fields) < 3:
            raise BadLine(name, first[0], "expected at least row, column and rating")
        if _number(fields[2]) is None or any(said.values()):
            places = _places(name, fields, said)
        elif any("." in field and _number(field) is not None for field in fields[:2]):
            raise BadLine(name, first[0], f"{fields[0]!r} and {fields[1]!r} are no ids: a file of ratings has row, column and rating")
        else:
            entries.append(_entry(name, *first, delimiter, places))
        entries += [_entry(name, number, line, delimiter, places) for number, line in lines]
    if not entries:
        raise BadInput("ratings", name, "the file has a header but no ratings")
    timed = time_order and all(entry[3] is not None for entry in entries)
    if timed:
        entries.sort(key=lambda entry: entry[3] or 0.0)
    return Ratings([e[0] for e in entries], [e[1] for e in entries], [e[2] for e in entries], timed)


def _entry(
    path: str, number: int, line: str, delimiter: str | None, places: tuple[int, int, int, int | None]
) -> tuple[str, str, float, float | None]:
    fields = _split(line, delimiter)
    row, column, rating, time = places
    if len(fields) <= max(row, column, rating):
        raise BadLine(path, number, f"expected at least {max(row, column, rating) + 1} fields, found {len(fields)}")
    value = _number(fields[rating])
    if value is None or not math.isfinite(value):
        raise BadLine(path, number, f"the rating {fields[rating]!r} is not a finite number")
    moment = _time(fields[time]) if time is not None and time < len(fields) else None
    return fields[row], fields[column], value, moment
