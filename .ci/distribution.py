"""Build wheel and source distribution, install each in a clean environment, and try what a newcomer tries first."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
TRIAL = """
import sys, burkholder as bk
learner = bk.Learner("adagrad", loss="absolute", radius=2.0)
learner.update({"a": 1.0, "city": "Rome", "gone": None}, 1.0)
assert learner.certificate().rounds == 1 and bk.__version__ == sys.argv[1]
heavy = {"pandas", "pyarrow", "sklearn", "matplotlib", "jinja2", "narwhals", "river"} & set(sys.modules)
assert not heavy, heavy
"""


def run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=tempfile.gettempdir())
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
        built = sorted(Path(folder).glob("burkholder-*"))
        assert {path.suffix for path in built} == {".whl", ".gz"}, built
        version = built[0].name.split("-")[1].removesuffix(".tar.gz")
        for package in built:
            place = Path(folder) / package.suffix[1:]
            venv.create(place, with_pip=True)
            python = place / "bin" / "python"
            run(python, "-m", "pip", "install", "-q", package)
            run(python, "-c", TRIAL, version)
            told = run(place / "bin" / "burkholder", "learn", "--learner", "adagrad", "--json", "--quiet")
            assert '"rounds": 45312' in told, told
            print(f"{package.name}: {package.stat().st_size:,} bytes, installed and tried")


if __name__ == "__main__":
    main()
