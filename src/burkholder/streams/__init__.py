"""Streams: readers of files and pipes, and the compiled engine they feed."""

from __future__ import annotations
