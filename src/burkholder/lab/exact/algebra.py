"""`prop:algebra`: what follows for a combination, a minimum or a soft maximum once it is proved of every member.

1. U(ζ_t) is a supermartingale with E U(ζ₀) ≤ 0: that is 1° and 3°, of every function here.
2. A combination Σλ_iU_i with λ_i ≥ 0 and Σλ_i = 1 inherits every inequality, term by term.
3. E min ≤ min E: the minimum falls where its members do, and playing the least member's move keeps that one from rising.
4. The soft maximum pays ½η²C[a] a round: for |X| ≤ c with mean ≤ 0 the exponential lies below its chord over [−c, c], so that
   E e^{ηX} ≤ cosh(ηc) ≤ e^{η²c²/2} (the paper's η² in place of ½η² is twice as much, and holds all the more). X_a is the change of
   F_a = U_a without δŷ, whose mean over ±L is ≤ 0 by 3′, and C[a] its largest square; C[a] is the same for both signs.
"""

from __future__ import annotations

from fractions import Fraction

from burkholder.functions.algebra import Combination, Minimum, Softmax
from burkholder.functions.base import SIGN_FLIP
from burkholder.lab.claims import STATEMENTS
from burkholder.lab.exact import lemmas
from burkholder.lab.exact.consequences import settled
from burkholder.lab.exact.reals import z3
from burkholder.lab.verdicts import Status, Verdict

Known = list[dict[str, Verdict]]


def prove(function: Combination | Minimum | Softmax, members: Known) -> list[Verdict]:
    """The claims of the whole that follow from the members' (claim -> verdict, of each); nothing where a member lacks one."""
    kind = type(function)
    if kind is Combination:
        return _combination(function, members)  # type: ignore[arg-type]
    return _minimum(members) if kind is Minimum else _softmax(members)


def _all(members: Known, claim: str) -> bool:
    return all(claim in known for known in members)


def _said(claim: str, members: Known, why: str) -> Verdict:
    domain = "; ".join(dict.fromkeys(known[claim].domain for known in members if claim in known))
    return Verdict(claim, Status.PROVED, STATEMENTS[claim], domain, "from its members' proofs", note=why)


def _combination(function: Combination, members: Known) -> list[Verdict]:
    weights = [Fraction(float(weight)) for weight in function.weights]
    if sum(weights) != 1 or min(weights) < 0:
        return []  # nearly 1 is not 1
    shared = [claim for claim in ("1", "2", "3'", "3", "convex", "sign-flip", "tangent", "regret", "streams") if _all(members, claim)]
    played = "sign-flip" if SIGN_FLIP in function.structure else "tangent"
    why = "Σλ_i times the members' inequality; the moves average, and δŷ is in every member once"
    return [_said(claim, members, why) for claim in shared if claim not in ("sign-flip", "tangent") or claim == played]


def _minimum(members: Known) -> list[Verdict]:
    reasons = {
        "1": "one member at most 0 is enough",
        "2": "min U_i ≥ min V_i",
        "3'": "E min ≤ min E ≤ min U_i",
        "regret": "regret − max A_i ≤ regret − A_i ≤ V_i, for every i",
        "streams": "the same along streams",
    }
    found = [_said(claim, members, why) for claim, why in reasons.items() if _all(members, claim)]
    if all("sign-flip" in known or "tangent" in known for known in members):
        moved = [{"closed-form": known.get("sign-flip", known.get("tangent"))} for known in members]
        found.append(_said("closed-form", moved, "the least member does not rise under its own move, and min ≤ it"))  # type: ignore[arg-type]
    return found


def _softmax(members: Known) -> list[Verdict]:
    m, sinh, cosh = z3().Reals("m sinh cosh")
    chord = settled(
        "3'",
        "; ".join(dict.fromkeys(known["3'"].domain for known in members if "3'" in known)),
        f"the chord of exp over [−c, c] at a mean m ≤ 0, and {lemmas.COSH}",
        {"chord": [m <= 0, sinh >= 0, cosh >= 1, cosh + m * sinh > cosh]},
        holds=lemmas.hyperbolic("1/2") and _all(members, "3'"),
    )
    reasons = {
        "1": "the mean of e^{ηF_a(0)} ≤ 1",
        "2": "log Σe^{z_a} ≥ max z_a",
        "convex": "log-sum-exp rises in every argument and is convex; what is charged does not depend on δ",
        "sign-flip": "ŷ makes both ends of the chord equal to the mean over ±L, and F lies below its chord",
        "regret": "regret − A_a − paid_a ≤ V_a − paid_a ≤ V for the a that gives the bound",
        "streams": "the same along streams",
    }
    found = [_said(claim, members, why) for claim, why in reasons.items() if _all(members, claim)]
    return [chord, *found] if chord.proved else []
