"""The service, measured: speed, kills, power cuts, hostile requests, recovery, memory. `make bench-serve` runs all of it.

    python bench/serve.py [speed] [kills] [disk] [hostile] [long] [--share 0.01]     some of it, or all at a part of its size

`BURKHOLDER_NPM` is the folder of node modules that has autocannon. Each part is a script of its own, with its size as argument.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

SIZES = {"speed": 8, "kills": 1000, "disk": 1000, "hostile": 100_000, "long": 1_000_000}

if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("parts", nargs="*", help=", ".join(SIZES))
    options.add_argument("--share", type=float, default=1.0, help="of the size of each part")
    given = options.parse_args()
    if unknown := set(given.parts) - SIZES.keys():
        options.error(f"there is no part {unknown.pop()}")
    for part in given.parts or SIZES:
        size, start = max(1, round(SIZES[part] * given.share)), time.perf_counter()
        print(f"--- {part} {size}", flush=True)
        subprocess.run([sys.executable, str(Path(__file__).parent / f"serve_{part}.py"), str(size)], check=True)
        print(f"--- {part} took {(time.perf_counter() - start) / 60:.1f} min", flush=True)
