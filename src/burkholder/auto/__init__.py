"""Auto: the default learner, nothing to tune."""

from __future__ import annotations

from burkholder.auto.certificate import AutoCertificate
from burkholder.auto.learner import Auto
from burkholder.auto.multiclass import AutoMulticlass

__all__ = ["Auto", "AutoCertificate", "AutoMulticlass"]
