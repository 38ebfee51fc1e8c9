"""Exact proofs: z3 over the reals, rational sums of squares, ball arithmetic."""
