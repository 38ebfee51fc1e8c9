"""Probabilities from several experts, as one: log and Brier loss over the simplex, with a certificate of their own."""
