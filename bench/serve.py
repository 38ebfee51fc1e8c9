"""The service, measured: speed, kills, power cuts, hostile requests, recovery, memory. `make bench-serve` runs all of it.

    python bench/serve.py [speed] [kills] [disk] [hostile] [long]     some of it

`BURKHOLDER_NPM` is the folder of node modules that has autocannon. Each part is a script of its own, with its size as argument.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PARTS = ("speed", "kills", "disk", "hostile", "long")

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        print(f"--- {part}", flush=True)
        subprocess.run([sys.executable, str(Path(__file__).parent / f"serve_{part}.py")], check=True)
