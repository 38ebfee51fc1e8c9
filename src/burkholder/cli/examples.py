"""`burkholder examples`: small made-up files, so that every command of the documentation can be typed as it is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

ROWS = 300


def examples(
    folder: Annotated[Path, typer.Argument(help="Where to write them; made if it is not there.", show_default=False)] = Path("."),
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
) -> None:
    """Write small made-up files to try everything on: those that the documentation uses."""
    from burkholder.cli.console import tell
    from burkholder.errors import BadInput

    files = {**texts(), **tables()}
    there = [name for name in files if (folder / name).exists()]
    if there and not force:
        raise BadInput("folder", str(folder), f"{there[0]} is there already: give another folder, or --force")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise BadInput("folder", str(folder), f"it cannot be written to ({error.strerror})") from None
    tell(f"{len(files)} files in {folder}: {', '.join(files)}")


def texts() -> dict[str, bytes]:
    """Each file by its name: CSV, JSON lines, VW and libsvm text, made of the same few random numbers every time."""
    import gzip
    import json
    from datetime import datetime, timedelta

    import numpy as np

    rng = np.random.default_rng(0)
    when = [datetime(2024, 1, 1) + timedelta(hours=t) for t in range(ROWS + 24)]
    temp, noise = rng.standard_normal((2, ROWS + 24)).round(3)
    load = (5.0 + temp + [t.hour > 7 for t in when] + 0.2 * noise).round(3)
    stamps = [f"{t:%Y-%m-%d %H:%M}" for t in when]
    gaps = ["" if k % 15 == 14 else value for k, value in enumerate(load)]
    town, plan = (rng.choice(words, ROWS + 53) for words in (["Rome", "Oslo", ""], ["basic", "family", "pro"]))
    visits = rng.poisson(4.0, ROWS + 53)
    spent = ["" if k % 9 == 0 else f"{amount:.2f}" for k, amount in enumerate(rng.gamma(2.0, 20.0, ROWS + 53))]
    left = ["yes" if leaves else "no" for leaves in visits + 2.0 * (plan == "pro") + rng.standard_normal(ROWS + 53) < 2.5]
    customers = list(zip(visits, spent, plan, town, left))
    kind = np.where(temp > 0.4, "iris", np.where(temp < -0.4, "rose", "tulip"))
    old, new = (load + 0.5).round(3), (load + 0.3 * noise).round(3)
    prices = [(f"{t:%Y%m%d}", t.hour, y, a, b) for t, y, a, b in zip(when, load, old, new)]
    days = [datetime(2024, 1, 1) + timedelta(days=t) for t in range(101)]
    sales = [(f"{t:%Y-%m-%d}", shop, 10 + 5 * k + int(rng.poisson(3 + (t.weekday() > 4)))) for t in days for k, shop in enumerate("ABC")]
    seen = [(user, item) for user in ("ann", "bob", "cid", "dan", "eve") for item in range(12) if rng.random() < 0.6]
    taste = {user: rng.standard_normal(2) for user, _ in seen}
    style = rng.standard_normal((12, 2))
    stars = [(user, f"film{item}", int(np.clip(round(3 + taste[user] @ style[item]), 1, 5))) for user, item in seen]
    clicks = [(1 if y == "yes" else -1, visit, each, place or "nowhere") for visit, _, each, place, y in customers[:ROWS]]
    files = {
        "load.csv": table("when,temp,load", zip(stamps[:ROWS], temp, gaps)),
        "load-tomorrow.csv": table("when,temp", zip(stamps[ROWS:], temp[ROWS:])),
        "events.jsonl": "".join(json.dumps({"when": s, "temp": t, "load": y}) + "\n" for s, t, y in zip(stamps[:ROWS], temp, load)),
        "churn.csv": table("visits,spent,plan,town,churned", customers[:ROWS]),
        "week.csv": table("visits,spent,plan,town,churned", customers[ROWS + 3 :]),
        "new.csv": table("visits,spent,plan,town", [row[:4] for row in customers[ROWS : ROWS + 3]]),
        "flowers.csv": table("petal,kind", zip(temp[:ROWS], kind)),
        "digits.csv": table("ink,digit", zip(temp[:ROWS], np.where(temp > 0.4, 2, np.where(temp < -0.4, 1, 0)))),
        "german.csv": table("grad;preis", [(f"{a:.2f}".replace(".", ","), f"{b:.2f}".replace(".", ",")) for a, b in zip(temp, load)], ";"),
        "prices.csv": table("date,hour,price,a,b", prices[: ROWS - 12]),
        "prices-tomorrow.csv": table("date,hour,price,a,b", [(*row[:2], "", *row[3:]) for row in prices[ROWS - 12 : ROWS + 12]]),
        "forecasts.csv": table("load,old,new", zip(load[:ROWS], old, new)),
        "predictions.csv": table("temp,model,load", zip(temp[:ROWS], new, load)),
        "sales.csv": table("day,store,units", sales[:300]),
        "sales-tomorrow.csv": table("day,store", [row[:2] for row in sales[300:]]),
        "ratings.csv": table("user,item,rating,time", [(*row, time) for time, row in enumerate(stars)]),
        "pairs.csv": table("user,item", [("ann", "film0"), ("bob", "film11"), ("zoe", "film3")]),
        "clicks.vw": "".join(f"{y} |customer visits:{visit} plan={each} |place {place}\n" for y, visit, each, place in clicks),
    }
    packed = "".join(f"{y} 1:{visit} {2 + len(each)}:1\n" for y, visit, each, _ in clicks)
    return {**{name: text.encode() for name, text in files.items()}, "clicks.libsvm.gz": gzip.compress(packed.encode(), mtime=0)}


def tables() -> dict[str, bytes]:
    """The load as Parquet and Feather, where pyarrow is there."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        return {}
    load = pyarrow.csv.read_csv(pyarrow.py_buffer(texts()["load.csv"]))
    files = {}
    for name, write in (("load.parquet", pyarrow.parquet.write_table), ("load.feather", pyarrow.feather.write_feather)):
        sink = pyarrow.BufferOutputStream()
        write(load, sink)
        files[name] = sink.getvalue().to_pybytes()
    return files


def table(head: str, rows: Any, mark: str = ",") -> str:
    """Delimited text."""
    return "\n".join([head, *(mark.join(map(str, row)) for row in rows)]) + "\n"
