"""The report of a run: one page that opens anywhere, with charts of loss, certificate and potential."""

from burkholder.report.quantiles import write_quantiles
from burkholder.report.recorder import Recorder as Recorder

__all__ = ["write_quantiles"]
