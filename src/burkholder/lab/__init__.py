"""The laboratory: martingales, sharp constants, verification."""
