"""What can be wrong with a line, in words."""

from __future__ import annotations

import re

_COMMA = re.compile(r"[+-]?[0-9.]+,[0-9]+")
MOST_FEATURES = 2**31 - 3  # indices are 32-bit, one place is kept for the constant

(
    BAD_LABEL,
    BAD_FEATURE,
    BAD_ID,
    BAD_VALUE,
    BAD_IMPORTANCE,
    BAD_INITIAL,
    BAD_SCALE,
    NO_BAR,
    NO_LABEL,
    BAD_COUNT,
    BAD_NUMBER,
    BAD_TARGET,
    NO_TARGET,
    BAD_WEIGHT,
    BAD_QUOTE,
    BAD_DATE,
    BAD_CLASS,
) = range(1, 18)

_REMEDY = "leave missing fields empty, skip bad lines, name the column as categorical, or drop it"
_WORDS = {
    BAD_LABEL: "the label {token} is not a finite number",
    BAD_FEATURE: "{token} is not a feature written id:value",
    BAD_ID: f"the feature number in {{token}} is above {MOST_FEATURES}",
    BAD_VALUE: "the value in {token} is not a finite number",
    BAD_IMPORTANCE: "the importance weight {token} is not a number ≥ 0",
    BAD_INITIAL: "{token} stands where VW puts an initial prediction; only 0 is supported there",
    BAD_SCALE: "the scale of namespace {token} is not a finite number of at most 19 digits",
    NO_BAR: "there is no '|' between the label and the features",
    NO_LABEL: "there is no label (a word that touches the '|' is a tag)",
    BAD_COUNT: "{fields} fields where there are {columns} columns",
    BAD_NUMBER: "text {token} in the numeric column '{column}'; {remedy}",
    BAD_TARGET: "the target '{column}' is {token}, not a finite number; for classes given as words name the positive one",
    NO_TARGET: "the target '{column}' is missing",
    BAD_WEIGHT: "the weight '{column}' is {token}, not a number ≥ 0",
    BAD_DATE: "{token} in the column of dates '{column}' is none; {remedy}",
    BAD_CLASS: "{token} is a third class of the target '{column}'; say multiclass, or positive to set one class against all others",
    BAD_QUOTE: "text after the closing quote in column '{column}'",
}


def describe(reason: int, token: str, column: str = "", fields: int = 0, columns: int = 0) -> str:
    """The reason, with the offending text and its column."""
    shown = repr(token if len(token) <= 40 else token[:37] + "...")
    told = _WORDS[reason].format(token=shown, column=column, remedy=_REMEDY, fields=fields, columns=columns)
    comma = reason in (BAD_NUMBER, BAD_TARGET, BAD_WEIGHT) and _COMMA.fullmatch(token)
    return told + ("; for decimal commas say decimal = ','" if comma else "")
