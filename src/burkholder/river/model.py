"""What the regressor and the classifier share: their settings, and the learners those settings make."""

from __future__ import annotations

from typing import Any

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning.factory import named_learner
from burkholder.river.rows import table_rows
from burkholder.storage.portable import Portable


class StreamModel(Portable):
    """Put before river's own base class. Settings are stored as given: river clones a model from them.

    Rows go to the learners as they are: text and missing values are read there, as every learner reads them.
    """

    classifies: bool

    def __init__(self, learner: str, loss: str, intercept: bool, options: dict[str, Any] | None) -> None:
        self.learner = learner
        self.loss = loss
        self.intercept = intercept
        self.options = options
        self._learners: list[Any] = [self._open()]
        if losses.is_classification(self._learners[0].loss) != self.classifies:
            kind, other = ("numbers", "Regressor") if self.classifies else ("classes", "Classifier")
            raise BadInput("loss", loss, f"this loss is for {kind}; use Burkholder{other}")

    def _unit_test_skips(self) -> set[str]:
        """Trees draw their cuts by the places features first came to: other places are other trees, as in river's own forests."""
        trees = self.learner == "auto" and (self.options or {}).get("effort") != "light"
        return {"check_shuffle_features_no_impact"} if trees else set()

    def _open(self) -> Any:
        """A fresh learner with these settings."""
        return named_learner(self.learner, self.loss, self.options, self.intercept)

    def learn_many(self, X: Any, y: Any) -> None:
        """The rows of a data frame, as `learn_one` on each in turn."""
        for x, target in zip(table_rows(X), y):
            self.learn_one(x, target)  # type: ignore[attr-defined]
