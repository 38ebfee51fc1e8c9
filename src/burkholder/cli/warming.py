"""The work behind `burkholder warm`: everything that is compiled, used once on a handful of rows.

A loop is compiled for the types of its arguments, so every learner meets its rows in each form a user may hand it:
matrices, sparse matrices, dicts, vectors, files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.machine.cache import cache_folder

# With every loss; what else the catalogue holds is compiled at first use, a few seconds for each loss.
FUNCTIONS = ("square-function", "adagrad", "parameter-free", "mixture")

X = np.array([[0.5, -1.0, 0.0], [1.0, 0.0, 2.0], [-0.5, 0.25, 1.0], [0.0, 1.0, -1.0]])
Y = np.array([1.0, -1.0, 1.0, -1.0])  # classes and numbers alike
FILES = {
    "rows.csv": 'a,b,word,y\n0.5,-1,red,1\n1,,"b,w",-1\n-0.5,0.25,red,1\n',
    "rows.svm": "1 1:0.5 2:-1\n-1 1:1 3:2\n1 2:0.25\n",
    "rows.vw": "1 |f a:0.5 b\n-1 2 |f a |g c:2\n1 |f b:0.25\n",
}


def place() -> Path:
    """The folder compiled loops are kept in, made if need be."""
    folder = cache_folder()
    try:
        if folder is None:
            raise OSError("there is no home folder")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise BadInput("BURKHOLDER_CACHE_DIR", str(folder), f"nothing can be kept there ({error}); name a folder to write to") from None


def kept() -> int:
    """How many loops are kept for these sources and this processor."""
    return sum(1 for _ in place().iterdir())


def steps(quick: bool) -> Iterator[tuple[str, Callable[[], None]]]:
    """What to use, with a name for each; only what a default run needs when `quick`."""
    from burkholder.auto import Auto, AutoMulticlass
    from burkholder.learning.learner import Learner

    yield "auto, logistic loss", partial(_learner, Auto, Y)
    yield "files", _files
    yield "report", partial(_file, "rows.csv", report=True)
    if quick:
        return
    for loss in losses.LOSSES:
        yield f"auto, {loss} loss", partial(_learner, partial(Auto, loss), Y)
        yield f"auto from a file, {loss} loss", partial(_file, "rows.svm", loss, report=True)
        for function in FUNCTIONS:
            yield f"{function}, {loss} loss", partial(_learner, partial(Learner, function, loss, bound=2.0), Y)
        yield f"experts, {loss} loss", partial(_experts, loss)
    yield "classes", partial(_learner, AutoMulticlass, np.array(["a", "b", "c", "a"]))
    yield "completion", _completion
    yield "intervals, quantiles, confidence", _bands


def _learner(make: Callable[[], Any], y: np.ndarray) -> None:
    """Every form of row, one at a time and many at once."""
    named = [{"a": row[0], "b": row[1], "c": row[2]} for row in X.tolist()]
    compressed = sparse.csr_matrix(X)
    wide = sparse.csr_matrix((compressed.data, compressed.indices.astype(np.int64), compressed.indptr.astype(np.int64)), X.shape)
    pairs = [(np.flatnonzero(row), row[row != 0.0]) for row in X]
    for rows in (X, compressed, wide, named):
        learner = make().run(rows, y, weight=np.ones(len(y))).learner
        learner.predict_many(rows)
    for rows in (list(X), pairs, named, [{**row, "word": "red", "gone": None} for row in named]):
        learner = make()
        for row, label in zip(rows, y.tolist()):
            learner.predict(row)
            learner.update(row, label)
        learner.reveal(learner.play(rows[0]).id, y.tolist()[0])
        learner.certificate().to_dict()
    many = 10  # what begins after some rounds, too
    make().run(np.tile(X, (many, 1)), np.tile(y, many))


def _files() -> None:
    """Every format that is read by compiled code, learned by the default learner and audited as `learn` does."""
    from burkholder.streams.readers import batches
    from burkholder.streams.readers.binary import write

    for name in FILES:
        _file(name)
    with tempfile.TemporaryDirectory() as folder:
        text, stored = Path(folder) / "rows.svm", Path(folder) / "stored"
        text.write_text(FILES["rows.svm"], encoding="utf-8")
        write(stored, batches(text))
        _learn(stored)


def _file(name: str, loss: str | None = None, report: bool = False) -> None:
    """One of the small files, from text to certificate."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(FILES[name], encoding="utf-8")
        _learn(path, loss, Path(folder) / "report.html" if report else None)


def _learn(path: Path, loss: str | None = None, report: Path | None = None) -> None:
    from burkholder.cli.session import Asked, Session
    from burkholder.cli.telling import result
    from burkholder.report.recorder import Recorder

    recorder = None if report is None else Recorder(str(report))
    session = Session(str(path), path.name, {"intercept": None}, Asked(loss), quiet=True, recorder=recorder)
    session.run()
    result(session)
    if recorder is not None:
        recorder.write(session, result(session))


def _experts(loss: str) -> None:
    """The default rule, one round at a time and many at once, and hindsight."""
    from burkholder.experts.learner import Experts
    from burkholder.experts.run import best_mixture

    columns = {"one": X[:, 0], "two": X[:, 1]}
    run = Experts(loss).run(columns, Y)
    run.learner.predict_many(columns)
    best = best_mixture(run)
    run.certificate.bound(best.weights), run.certificate.to_dict()
    learner = Experts(loss)
    for one, two, y in zip(X[:, 0].tolist(), X[:, 1].tolist(), Y.tolist()):
        learner.predict({"one": one, "two": two})
        learner.update({"one": one, "two": two}, y)
    learner.reveal(learner.play({"one": 1.0}).id, 1.0)
    learner.weights()


def _completion() -> None:
    """Ratings by the default learner and by the paper's."""
    from burkholder.matrix.completion import MatrixCompletion

    users, items, ratings = ["ann", "bob", "ann", "cid"], ["alien", "alien", "heat", "heat"], [5, 2, 4, 1]
    ways: list[dict[str, Any]] = [{}, {"strategy": "sign-flip", "rate": "mixture"}]
    for options in ways:
        learner = MatrixCompletion(1, 5, **options).run(users, items, ratings).learner
        learner.predict_many(list(zip(users, items)))
        learner.predict("ann", "alien"), learner.update("bob", "heat", 3), learner.top("ann", 2)
        learner.reveal(learner.play("cid", "alien").id, 2)
        learner.certificate().to_dict()


def _bands() -> None:
    """Intervals, quantiles, sets and betting, one round at a time and many at once."""
    from burkholder.confidence.betting import Betting
    from burkholder.intervals.learner import Intervals
    from burkholder.intervals.quantiles import Quantiles
    from burkholder.intervals.sets import PredictionSets

    _learner(partial(Intervals, 0.9), Y)
    _learner(partial(Quantiles, (0.1, 0.5, 0.9)), Y)
    sets = PredictionSets(0.9)
    sets.update({"a": 0.7, "b": 0.3}, "a")
    sets.predict({"a": 0.7, "b": 0.3})
    Betting().run([0.0, 1.0])
