"""Asking a service (`serve/`) from a program: it needs nothing of the library but its errors."""
