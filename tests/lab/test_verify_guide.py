"""The guide is run as it stands: its code blocks, in order, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "from-regret-bound-to-learner.md"


def test_every_block_of_the_guide_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf8"), re.DOTALL)
    namespace: dict[str, object] = {"__name__": "guide"}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"{GUIDE.name}, block {number}", "exec"), namespace)
    assert sum(block.count("assert ") for block in blocks) >= 8
