"""`burkholder serve`: a model behind HTTP, durable, with labels that come late."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    model: Annotated[Path | None, typer.Argument(help="A saved model. Without it, a fresh learner, or what the store holds.")] = None,
    store: Annotated[Path, typer.Option(help="Folder of this service: the log and the last snapshot.")] = Path("store"),
    learner: Annotated[str, typer.Option(help="Which learner to begin with; see `burkholder list`.")] = "auto",
    loss: Annotated[str | None, typer.Option(help="Its loss. Without a model and a loss the store must hold a model already.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="key=value for the learner or the loss, such as radius=10. May be repeated.")
    ] = None,
    intercept: Annotated[bool, typer.Option(help="Whether the learner adds a constant feature.")] = True,
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine only with a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Which port.", min=0, max=65535)] = 8080,
    token_file: Annotated[Path | None, typer.Option(help="File with the token that callers must send.")] = None,
    admin_token_file: Annotated[Path | None, typer.Option(help="File with the token for adding and dropping models.")] = None,
    forget_after: Annotated[float, typer.Option(help="Seconds to wait for a label; then it is refused with 410.")] = 7 * 86400.0,
    max_pending: Annotated[int, typer.Option(help="How many predictions of a fresh learner may wait for labels.", min=1)] = 1_000_000,
    commit_every: Annotated[float, typer.Option(help="Milliseconds between two writes to the disk.", min=0.0)] = 5.0,
    max_body: Annotated[int, typer.Option(help="Bytes of a request at most.", min=1)] = 16 << 20,
    server: Annotated[str, typer.Option(help="What speaks HTTP: uvicorn, or granian where it is installed.")] = "uvicorn",
    max_batch: Annotated[int, typer.Option(help="Rows of a request at most.", min=1)] = 10_000,
) -> None:
    """Serve predictions, learn from labels that come later, lose nothing. Stop it with SIGTERM."""
    from burkholder.cli.options import parsed
    from burkholder.errors import BadInput, MissingExtra

    try:
        from burkholder.serve.guard import Tokens, token_in
        from burkholder.serve.journal import Rhythm
        from burkholder.serve.limits import Limits
        from burkholder.serve.server import Settings
        from burkholder.serve.server import serve as run
    except ModuleNotFoundError as error:
        raise MissingExtra(str(error.name), "serve") from None
    from burkholder.learning.factory import named_learner
    from burkholder.storage import container, pack

    if model is not None and (loss is not None or option):
        raise BadInput("loss", loss, "a saved model brings its own loss and options; leave them out")
    content, origin = None, ""
    if model is not None:
        content = container.read(model)
        origin = f"a model file, sha256 {content[-32:].hex()}"
    elif loss is not None:
        options = {**parsed(option or []), "max_pending": max_pending}
        content = pack(named_learner(learner, loss, options, intercept))
        origin = f"{learner}, {loss} loss, {', '.join(f'{key}={value}' for key, value in options.items())}, intercept={intercept}"
    elif option:
        raise BadInput("option", option, "say which loss, too")
    run(
        Settings(
            store=str(store),
            model=content,
            origin=origin,
            host=host,
            port=port,
            tokens=Tokens(token_in(token_file), token_in(admin_token_file)),
            limits=Limits(body=max_body, batch=max_batch),
            rhythm=Rhythm(commit=commit_every / 1000.0),
            forget_after=forget_after,
            server=server,
        )
    )
