"""What can be wrong with a line, in words."""

from __future__ import annotations

MOST_FEATURES = 2**31 - 3  # indices are 32-bit, one place is kept for the constant

BAD_LABEL, BAD_FEATURE, BAD_ID, BAD_VALUE = 1, 2, 3, 4

_WORDS = {
    BAD_LABEL: "the label {token} is not a finite number",
    BAD_FEATURE: "{token} is not a feature written id:value",
    BAD_ID: f"the feature number in {{token}} is above {MOST_FEATURES}",
    BAD_VALUE: "the value in {token} is not a finite number",
}


def describe(reason: int, token: str) -> str:
    """The reason with the offending text."""
    shown = repr(token if len(token) <= 40 else token[:37] + "...")
    return _WORDS[reason].format(token=shown)
