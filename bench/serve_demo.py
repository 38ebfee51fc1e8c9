"""`make serve-demo`: a service with Auto in a process of its own, and a client that plays the shipped electricity stream to it."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from importlib.resources import files

import burkholder as bk


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--port", type=int, default=8080)
    options.add_argument("--rows", type=int, default=5000)
    options.add_argument("--stay", action="store_true", help="go on serving after the stream, until Ctrl-C")
    given = options.parse_args()
    url = f"http://127.0.0.1:{given.port}"
    command = ["serve", "--store", tempfile.mkdtemp(), "--loss", "logistic", "--port", str(given.port)]
    service = subprocess.Popen([sys.executable, "-c", "from burkholder.cli import main; main()", *command])
    waiting: list[tuple[str, float]] = []
    try:
        with bk.Client(url, retries=30) as client:
            start = time.perf_counter()
            stream = bk.read(str(files("burkholder") / "data" / "elec.csv.gz"), target="target")
            for played, (x, y) in zip(range(given.rows), stream):
                waiting.append((client.predict(x).id, y))
                if len(waiting) > 20:  # labels come twenty rounds late
                    client.label(*waiting.pop(0))
                if played % 1000 == 999:
                    told = client.certificate()
                    print(f"{played + 1} rows, mean loss {told['mean_loss']:.4f}; look at {url}", flush=True)
            seconds = time.perf_counter() - start
            told = client.certificate()
        print(f"{told['rounds']} rounds in {seconds:.1f} s, one connection, each on disk before it was answered")
        for guarantee in told["guarantees"][:3]:
            print(f"  {guarantee['name']}: {guarantee['value']:.4g}   {guarantee['statement']}")
        if given.stay:
            service.wait()
    except KeyboardInterrupt:
        pass
    finally:
        service.send_signal(signal.SIGTERM)
        print("the service exited with", service.wait())


if __name__ == "__main__":
    main()
