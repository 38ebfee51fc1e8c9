"""Which version this is; files of models say so too."""

__version__ = "0.2.0"
