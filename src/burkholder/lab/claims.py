"""The claims that verification examines, each in one line."""

STATEMENTS = {
    "1": "U(ζ₀) ≤ 0",
    "2": "U(τ) ≥ V(τ)",
    "3": "E U(τ+T(z,α)) ≤ U(τ) for every mean-zero α on [−L,L]",
    "3'": "E U(τ+T(z,εL)) ≤ U(τ) for a random sign ε",
    "convex": "α ↦ U(τ+T(z,α)) is convex",
    "sign-flip": "S3: with the sign-flip prediction U never rises",
    "tangent": "S4: U(τ+T) ≤ U(τ) + δŷ + δ⟨∇,x⟩ for every δ in [−L,L]",
    "closed-form": "with the function's own rule U never rises",
    "regret": "Σδŷ − ⟨w,Σδx⟩ − A(w) ≤ V(τ) at every state, for every comparator w",
    "streams": "Σδŷ − ⟨w,Σδx⟩ − A(w) ≤ V(ζ_n) for every comparator w",
}
