"""How a table was read, kept with the model that learned from it: the same columns mean the same features again.

The next table is read as the first one was, whatever it looks like, and a row given by hand (column → value) becomes the
very features that it would have given as a line of the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning import dates, naming
from burkholder.learning.schema import all_of, check_header, maybe, one_of, text, truth
from burkholder.streams.readers.columns import CATEGORICAL, DROPPED, FEATURES, NO_NUMBER, ROLES, TARGET, TRUTHS, WEIGHTS, Plan
from burkholder.streams.readers.dates import spelled
from burkholder.streams.readers.hashing import code
from burkholder.suggestions import did_you_mean

FEATURE_ROLES = tuple(ROLES[kind] for kind in FEATURES)


class Reading(NamedTuple):
    """The columns in their order, what each is for (a word of `columns.ROLES`), and how their fields were understood.

    >>> reading = Reading(("size", "city", "price"), ("number", "category", "target"), None, 18, False, True, ".")
    >>> reading.row({"size": 3.0, "city": "Rome"})
    (array([    0, 95165]), array([3., 1.]))
    >>> reading.row({"size": None, "city=Rome": 1})
    (array([    2, 95165]), array([1., 1.]))
    """

    columns: tuple[str, ...]
    roles: tuple[str, ...]
    positive: str | None
    bits: int
    constant: bool  # whether the constant stands in front of every row
    header: bool
    decimal: str
    negative: str = ""  # the word of class −1; "": every other word

    @classmethod
    def of(cls, reader: Any) -> Reading | None:
        """The reading of a reader of tables; None for other readers."""
        plan = getattr(reader, "plan", None)
        if plan is None:
            return None
        roles = tuple(ROLES[kind] for kind in plan.kind)
        header, decimal = getattr(reader, "header", True), getattr(reader, "decimal", ".")
        return cls(tuple(plan.names), roles, plan.positive, plan.bits, bool(plan.offset), header, decimal, plan.negative)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**self._asdict(), "columns": list(self.columns), "roles": list(self.roles)}

    @classmethod
    def from_dict(cls, words: Any) -> Reading:
        """What `to_dict` gave, checked."""
        kinds = {
            "columns": lambda value: all_of(text)(value) and len(set(value)) == len(value),
            "roles": all_of(one_of(*ROLES)),
            "positive": maybe(text),
            "bits": lambda value: type(value) is int and 1 <= value <= 30,
            "constant": truth,
            "header": truth,
            "decimal": one_of(".", ","),
            "negative": text,
        }
        words = {"negative": "", **words} if type(words) is dict else words  # which was not kept at first
        check_header(words, kinds)
        if len(words["columns"]) != len(words["roles"]) or not {*FEATURE_ROLES} & set(words["roles"]):
            raise BadInput("header 'roles'", words["roles"][:20], "every column has one, and some column is a feature")
        return cls(**{**words, "columns": tuple(words["columns"]), "roles": tuple(words["roles"])})

    # --- the next table ---------------------------------------------------------------------------------------------
    def plan(self, file: str, names: Sequence[str], labels: str = "needed") -> Plan:
        """The plan of a file with these columns, in whatever order; others than the model's are not looked at."""
        if (
            not self.header and labels != "needed" and len(names) < len(self.columns)
        ):  # without names or target: the columns are the features
            names = [name for name, role in zip(self.columns, self.roles) if role in FEATURE_ROLES][: len(names)]
        needed = [
            name for name, role in zip(self.columns, self.roles) if role in FEATURE_ROLES or (role != "dropped" and labels == "needed")
        ]
        lacking = [name for name in needed if name not in names]
        if lacking:
            told = ", ".join(self.columns[:20])
            raise BadInput(
                "path",
                file,
                f"the model's table had the columns {told}; this one lacks {', '.join(lacking[:20])}, it has {', '.join(names[:20])}",
            )
        roles = dict(zip(self.columns, self.roles))
        unread = () if labels == "needed" else ("weight",) if labels == "optional" else ("weight", "target", "class", "classes")
        kind = [ROLES.index("dropped" if roles.get(name) in unread else roles.get(name, "dropped")) for name in names]
        plan = Plan.again(file, names, kind, self.positive, self.bits, self.constant)
        plan.negative = self.negative
        places = {name: place for place, name in enumerate(self.features)}
        plan.slot = np.array([places.get(name, 0) for name in names], dtype=np.int64)
        return plan

    @property
    def features(self) -> list[str]:
        """The columns that are features, in the order of their places."""
        return [name for name, role in zip(self.columns, self.roles) if role in FEATURE_ROLES]

    def agree(self, given: Mapping[str, Any]) -> None:
        """Refuse what was said of the columns and is not so; what was not said is None or empty."""
        plan = self.plan("the model's table", self.columns)
        for key, role in (("target", TARGET), ("weight", WEIGHTS), ("drop", DROPPED), ("categorical", CATEGORICAL)):
            said = given.get(key)
            for name in said if isinstance(said, tuple) else (said,) if said is not None else ():
                place = plan.find(key, name)
                fits = place == plan.target if role == TARGET else plan.kind[place] == role
                if not fits:
                    raise BadInput(key, name, f"the model was learned with this column as {self.roles[place]}; leave --{key} out")
        for key in ("positive", "bits", "header", "decimal"):
            if given.get(key) is not None and given[key] != getattr(self, key):
                raise BadInput(key, given[key], f"the model was learned with {getattr(self, key)!r}; leave it out")

    # --- a row by hand ----------------------------------------------------------------------------------------------
    def row(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """(indices, values) of column → value, or of the names `read` gives; a column left out is missing."""
        if not isinstance(x, Mapping):
            told = ", ".join(self.columns[:20])
            raise BadInput("x", type(x).__name__, f"this model learned from a table: give a dict from column to value. Columns: {told}")
        fields: dict[str, Any] = {}
        for key, value in naming.flat(x).items():
            name, field = self._field(key, value)
            if isinstance(field, _Feature):
                fields.setdefault(name, []).append(field)
            else:
                fields[name] = field
        features = [place for place, role in enumerate(self.roles) if role in FEATURE_ROLES]
        where, numbers = ([-1], [1.0]) if self.constant else ([], [])
        for slot, place in enumerate(features):
            name = self.columns[place]
            if self.roles[place] == "category":
                word = self._spelled(fields.get(name))
                where.append(2 * len(features) + self._word(name, word) if word else len(features) + slot)
                numbers.append(1.0)
            elif self.roles[place] == "date":
                for part, size in self._moment(name, fields.get(name)):
                    where.append(len(features) + slot if part is None else slot if not part else 2 * len(features) + self._word(name, part))
                    numbers.append(size)
            else:
                number = self._number(name, fields.get(name))
                where.append(slot if number is not None else len(features) + slot)
                numbers.append(1.0 if number is None else number)
        return np.array(where, dtype=np.int64) + self.constant, np.array(numbers)

    def _field(self, key: Any, value: Any) -> tuple[str, Any]:
        """(column, value); `column=text` and `column?` are the names of features."""
        known = dict(zip(self.columns, self.roles))
        if key in known:
            return key, _Feature("", float(value)) if known[key] == "date" and type(value) in (int, float) and value == value else value
        name = str(key)
        if name.endswith("?") and known.get(name[:-1]) in FEATURE_ROLES and value == 1:
            return name[:-1], None
        for at in (place for place, letter in enumerate(name) if letter == "="):
            if known.get(name[:at]) == "category" and value == 1:
                return name[:at], name[at + 1 :]
            if known.get(name[:at]) == "date" and value == 1:
                return name[:at], _Feature(name[at + 1 :], 1.0)
        raise BadInput(f"x[{key!r}]", value, f"{did_you_mean(key, self.columns)}Columns: {', '.join(self.columns[:20])}")

    def _number(self, name: str, value: Any) -> float | None:
        """The number, None where there is none."""
        if isinstance(value, str):
            value = value.strip(" \t\r")
            if value.lower() in NO_NUMBER:
                value = None
            elif value.lower() in TRUTHS:
                value = TRUTHS.index(value.lower())
            elif self.decimal == ",":
                value = math.nan if "." in value else value.replace(",", ".")
        elif naming.is_missing(value):
            value = None
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number) or (isinstance(value, str) and "_" in value):
            raise BadInput(f"x[{name!r}]", value, "this column holds finite numbers")
        return number

    def _moment(self, name: str, value: Any) -> list[tuple[str | None, float]]:
        """(word, number) of a moment: no word for the trend, None for a missing value."""
        if isinstance(value, list):  # the features themselves, as `read` names them
            return value
        if isinstance(value, str):
            value = None if value.strip().lower() in NO_NUMBER else spelled(value) or value
        if naming.is_missing(value):
            return [(None, 1.0)]
        if not dates.is_moment(value):
            raise BadInput(f"x[{name!r}]", value, "this column holds dates, such as 2024-03-05 or 2024-03-05 13:30")
        trend, places = dates.parts(value)
        return [("", trend), *((dates.WORDS[place], 1.0) for place in places)]

    @staticmethod
    def _spelled(value: Any) -> str:
        """The word a table would have for the value. A whole number is the word of its digits."""
        if naming.is_missing(value):
            return ""
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
        return str(value).strip(" \t\r")

    def _word(self, name: str, word: str) -> int:
        """The hash of the word."""
        return code(word, code(name)) & ((1 << self.bits) - 1)


class _Feature(NamedTuple):
    """One feature of a date, as `read` names it: no word for the trend."""

    word: str
    number: float
