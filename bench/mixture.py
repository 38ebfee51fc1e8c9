"""The per-coordinate mixture with Fan's exponent, c near ½, beside the same mixture with c = 1: what is promised, and what is lost.

Every set of quality.toml with a linear loss, the sealed ones aside (--group sealed), its first rows, one pass, raw features and a
constant. Both hold the same atoms with the same masses; only c differs. The bound is that of each one's own run, against the same w:
the ridge solution in hindsight. It falls least where the largest atom decides, whose c is .77.

The loss falls in the mean, not everywhere. After s = Σδ²x² the atom that leads is near λ = √(ln W/(c·s)), W its wealth, and a round
moves a weight by the part λ|δx| of it: with a smaller c steps are longer, by √2 but for the grid of atoms. A level is found sooner, and
once it is found predictions shake more. Where slopes do not shrink (absolute loss) and predictions are large beside the noise, shaking
is most of the loss: `seasonal`, 80 to 200 high with shocks of 2, is such a stream, and no longer with its level taken away. `level`
shows the same with nothing else in the way. Masses do not mend it, they enter λ through a logarithm: the longer step is what the smaller
bound is made of.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

import burkholder as bk
import quality_data
import quality_peers
import quality_streams
from burkholder.functions.parameter_free import GradientMixture
from burkholder.potentials.mixture import Mixture


class Plain(GradientMixture):
    """c = 1 for every atom, as through a norm."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.potential = Mixture(self.potential.scale, self.potential.atoms)


def played(function: GradientMixture, rows: sp.csr_matrix, y: np.ndarray, loss: str) -> tuple[Any, np.ndarray]:
    """(the certificate, the predictions) of one pass."""
    learner: Any = bk.Learner(function, loss=loss, bound=None if loss == "logistic" else float(np.abs(y).max()))
    answers = np.asarray(learner.run_batch(rows.indptr, rows.indices, rows.data, y))
    return learner.certificate(), answers


def sets(group: str | None, most: int) -> None:
    """Promises and losses on the sets of a group (None: all that are not sealed)."""
    print(f"{'set':<22}{'loss':<10}{'bound':>11}{'c = 1':>11}{'ratio':>7}{'mean loss':>12}{'c = 1':>11}{'ratio':>7}")
    found = []
    for entry in quality_data.settings():
        chosen = entry.get("group") != "sealed" if group is None else entry.get("group") == group
        if not chosen or entry["losses"][0] == "classes" or not quality_data.present(entry):
            continue
        X, y = quality_data.load(entry)
        rows, y = quality_peers.with_constant(X[:most]), y[:most]
        w = lsqr(rows, y, damp=1.0, iter_lim=100)[0]
        for loss in entry["losses"]:
            pairs = [played(function, rows, y, loss) for function in (GradientMixture(), Plain())]
            sharp, plain = (float(certificate.bound(w, nominal=True)) for certificate, _ in pairs)
            now, before = (quality_peers.mean_loss(loss, answers, y) for _, answers in pairs)
            found.append((sharp / plain, now / before))
            print(f"{entry['name']:<22}{loss:<10}{sharp:>11.5g}{plain:>11.5g}{sharp / plain:>7.3f}", end="")
            print(f"{now:>12.5g}{before:>11.5g}{now / before:>7.3f}", flush=True)
    for name, ratios in zip(("bound", "loss"), np.array(found).T):
        print(
            f"{name}: {np.exp(np.log(ratios).mean()):.3f} in the geometric mean of {len(ratios)}, {ratios.min():.3f} to {ratios.max():.3f}"
        )


def level(rounds: int = 8000) -> None:
    """Losses and steps around a level: early, and once it is reached."""
    print(
        f"\n{'level / noise':<16}{'loss, first 500':>16}{'loss, last half':>16}{'step, last half':>16}   (each ÷ with c = 1; absolute loss)"
    )
    rows, late = sp.csr_matrix(np.ones((rounds, 1))), slice(rounds // 2, None)
    for height in (1.0, 10.0, 100.0):
        y = height + np.random.default_rng(5).standard_normal(rounds)
        told = []
        for function in (GradientMixture(), Plain()):
            answers = played(function, rows, y, "absolute")[1]
            off = np.abs(answers - y)
            told.append((off[:500].mean(), off[late].mean(), np.abs(np.diff(answers[late])).mean()))
        print(f"{height:<16g}" + "".join(f"{now / before:>16.3f}" for now, before in zip(*told)))


def centred(middle: float = 130.0) -> None:
    """`seasonal` as it is, and with targets and lags moved to 0."""
    X, y = quality_streams.seasonal(np.random.default_rng(1), 8000)
    lags = np.arange(X.shape[1]) < 4
    for name, away in (("as it is", 0.0), ("less its level", middle)):
        rows, target = quality_peers.with_constant(sp.csr_matrix(X - away * lags)), y - away
        now, before = (np.abs(played(f, rows, target, "absolute")[1] - target).mean() for f in (GradientMixture(), Plain()))
        print(f"seasonal, {name:<16}{now:>8.4f}{before:>9.4f}{now / before:>7.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--group", help="held-out or sealed; all but the sealed if left out")
    parser.add_argument("--rows", type=int, default=8000, help="rows of each set")
    given = parser.parse_args()
    start = time.process_time()
    sets(given.group, given.rows)
    level()
    centred()
    print(f"{time.process_time() - start:.0f} s of processor time")
