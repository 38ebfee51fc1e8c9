"""What the report of a run costs: processor time of `learn` on the shipped stream, with and without `--report`, side by side."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from burkholder.cli.session import Session, shipped
from burkholder.cli.telling import result
from burkholder.report import Recorder


def once(learner: str, page: Path | None) -> float:
    recorder = None if page is None else Recorder(str(page))
    session = Session(
        shipped(), "elec", {"intercept": None}, "logistic", learner, [], radius=None, passes=1, predictions=None, quiet=True, recorder=recorder
    )
    begun = time.process_time()
    session.run()
    told = result(session)
    if recorder is not None:
        recorder.write(session, told)
    return time.process_time() - begun


def main() -> None:
    print(f"{'learner':<18}{'run':>10}{'with report':>14}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        for learner in sys.argv[1:] or ("auto", "adagrad", "square-function"):
            once(learner, page)  # compile
            plain, watched = (min(once(learner, where) for _ in range(3)) for where in (None, page))
            print(f"{learner:<18}{plain:>8.3f} s{watched:>12.3f} s{watched / plain:>8.2f}")


if __name__ == "__main__":
    main()
