"""The report of a run: one page that opens anywhere, with charts of loss, certificate and potential."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burkholder.report.quantiles import write_quantiles

__all__ = ["write_quantiles"]


def __getattr__(name: str) -> Any:
    """The page of quantiles, loaded when it is asked for: a command that draws no page compares with baselines all the same."""
    if name == "write_quantiles":
        from burkholder.report.quantiles import write_quantiles

        return write_quantiles
    raise AttributeError(f"module 'burkholder.report' has no attribute {name!r}")
