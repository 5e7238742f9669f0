"""`bufferlab serve`: the laboratory in a browser."""

from __future__ import annotations

import secrets
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final

import typer

from bufferlab.cli.common import say
from bufferlab.errors import InputError

_EXAMPLES: Final = """\b
Examples:
  bufferlab serve
  bufferlab serve --store home-gateway-runs     # lists these runs, and adds to them
  bufferlab serve --export public/bufferlab     # files for any web host
"""
_ANY: Final = {"", "0.0.0.0", "::"}  # noqa: S104 - refused


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("serve", epilog=_EXAMPLES)(serve)


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8010,
    host: Annotated[
        str, typer.Option(help="Address to listen at. Other machines reach only one that is not loopback.")
    ] = "127.0.0.1",
    export: Annotated[
        Path | None,
        typer.Option(help="Write the page as files into this new folder, and end.", show_default=False),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the store of runs that the page lists and its commands fill; default "
            "~/.cache/bufferlab/runs.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show runs live in a browser.

    Every packet is simulated in the page. It can also ask this computer to advise, size, compare, run and
    sweep, and lists the runs that it keeps.
    Prints the page's address, which holds a token: who does not have it sees nothing. Ctrl-C ends it.
    """
    from bufferlab.web import built_page, export_page  # noqa: PLC0415 - slow

    if export is not None:
        export_page(export)
        say(f"the page is in {export}: give the folder to a web host, or see it with python -m http.server")
        return
    if host in _ANY:
        accepted = "one address of this machine, such as 127.0.0.1"
        raise InputError("is any address", key="--host", value=host, accepted=accepted)
    built_page()
    from bufferlab.cli.running import cache  # noqa: PLC0415 - slow
    from bufferlab.web import server  # noqa: PLC0415
    from bufferlab.web.jobs import Jobs  # noqa: PLC0415
    from bufferlab.web.runs import Runs  # noqa: PLC0415

    token = secrets.token_urlsafe(16)
    with server.listening(host, port) as listener:
        port = listener.getsockname()[1]
        name = f"[{host}]" if ":" in host else host
        with TemporaryDirectory(prefix="bufferlab-") as folder:
            kept = store or cache() or Path(folder) / "runs"
            runs = Runs(kept)
            jobs = Jobs(Path(folder), kept)
            application = server.make_app(host, port, token, jobs, runs)
            print(f"http://{name}:{port}/{token}/", flush=True)  # noqa: T201
            try:
                server.serve(application, listener)
            finally:
                jobs.close()
