"""The learner and what every learner shares: rows, ledger, runs, tickets, certificates."""
