"""The page, served to browsers of this machine.

Who may ask this computer for anything is who has the address: it holds a token. Without it there is the page
as on any web host, which simulates in the browser and asks for nothing, so that a link to share leads there.
Requests with another Host are refused, so that a foreign name that is made to point here (DNS rebinding)
leads nowhere, and so are requests from pages of other origins.
"""

from __future__ import annotations

import secrets
import socket
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bufferlab.errors import InputError
from bufferlab.web import api, built_page
from bufferlab.web.documents import DOCS
from bufferlab.web.jobs import Jobs
from bufferlab.web.runs import Runs

_HEADERS: Final = {
    "Content-Security-Policy": "frame-ancestors 'none'",  # the rest is in the page, for any web host
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_NOT_FOUND: Final = PlainTextResponse("Not found\n", status_code=404)

_SERVED: Final = '<meta name="bufferlab-api" content="api" />'
"""Tells the page that there is a server: as files on a host it has none, and asks for nothing."""

_WITH_DOCS: Final = '<meta name="bufferlab-docs" content="api/docs" />'
"""And that it has documents, in a source tree."""


class Guard:
    """Lets requests through that come from the page itself.

    Args:
        app: What answers them.
        public: What answers them without the token.
        hosts: Values of Host that are this server, with the port.
        token: The first part of every path of `app`.
    """

    def __init__(self, app: ASGIApp, public: ASGIApp, hosts: frozenset[str], token: str) -> None:
        self._app = app
        self._public = public
        self._hosts = hosts
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._answering(scope)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await answer(scope, receive, guarded)

    def _answering(self, scope: Scope) -> ASGIApp:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        is_own = origin is None or origin.removeprefix("http://") in self._hosts
        if headers.get("host") not in self._hosts or not is_own:
            return _NOT_FOUND
        token = scope["path"].split("/")[1] if scope["path"].startswith("/") else ""
        if secrets.compare_digest(token.encode(), self._token):
            return self._app
        return self._public if scope["method"] in {"GET", "HEAD"} else _NOT_FOUND


def make_app(host: str, port: int, token: str, jobs: Jobs, runs: Runs) -> Starlette:
    """The page below `/TOKEN/`, and what it asks for below `/TOKEN/api/`; without a token the page's files.

    Raises:
        InputError: It was not built.
    """
    page = built_page()
    text = (page / "index.html").read_text(encoding="utf-8")
    text = text.replace("<head>", f"<head>{_SERVED}{_WITH_DOCS if DOCS.is_dir() else ''}", 1)

    async def index(_: Request) -> Response:
        return HTMLResponse(text)

    public = Starlette(routes=[Mount("/", StaticFiles(directory=page, html=True))])
    names = {host, "127.0.0.1", "localhost"}
    hosts = frozenset(f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names)
    return Starlette(
        routes=[
            Route(f"/{token}/", index),
            Route(f"/{token}/index.html", index),
            Mount(f"/{token}/api", routes=api.routes(jobs, runs)),
            Mount(f"/{token}", StaticFiles(directory=page, html=True)),
        ],
        middleware=[Middleware(Guard, public=public, hosts=hosts, token=token)],
    )


def listening(host: str, port: int) -> socket.socket:
    """A socket at an address.

    Raises:
        InputError: There is no such address here, or it is taken.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise InputError(f"cannot be listened at ({reason})", value=f"{host}:{port}") from None


def serve(app: Starlette, listener: socket.socket) -> None:
    """Serve until Ctrl-C."""
    config = uvicorn.Config(app, log_level="warning", ws="none", lifespan="off", server_header=False)
    uvicorn.Server(config).run(sockets=[listener])
