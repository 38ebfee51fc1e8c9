"""The certificate of matrix prediction for any X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.certificate import Certificate


@dataclass(frozen=True)
class MatrixCertificate(Certificate):
    """Regret against matrices W by nuclear norm."""

    radius: float | None = None
    promised: float = 0.0
    along: float = 0.0  # Σδŷ
    gradient: Any = None  # ΣδX, None once the doubling rule has restarted
    _engine: Any = None

    def bound(self, nuclear: float | None = None) -> float:
        """A: the regret promised against every ‖W‖_Σ ≤ nuclear (the learner's radius if not given)."""
        if self.radius is None:
            return float(self._engine.bound(0.0 if nuclear is None else nuclear))
        if nuclear is not None and nuclear > self.radius:
            raise BadInput("nuclear", nuclear, f"this learner was built for radius {self.radius:g}")
        return self.promised

    def realised(self, W: Any = None, nuclear: float | None = None) -> float:
        """Σδŷ − ⟨W, ΣδX⟩, or its largest value over ‖W‖_Σ ≤ nuclear (or the radius)."""
        if self.gradient is None:
            raise BadInput("rate", "doubling", "a restart forgets ΣδX; use rate='lowering' for a realised figure")
        if W is not None:
            return self.along - float(np.sum(np.asarray(W) * self.gradient))
        size = self.radius if nuclear is None else nuclear
        if size is None:
            raise BadInput("nuclear", None, "give W or a nuclear norm")
        return self.along + size * float(np.linalg.norm(self.gradient, 2))
