"""The laboratory: verify, refute, sharpen."""
