"""What stands here from outside the package is imported by the tests that ask for it, not by looking for doctests."""

collect_ignore = ["my_parts.py"]
