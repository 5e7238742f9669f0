"""What the served page asks the server for: commands that run here, and their files."""

from __future__ import annotations

import json
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bufferlab.errors import InputError
from bufferlab.web.jobs import Job, Jobs

MOST_BYTES: Final = 1_000_000
"""Of a request's body."""

_SHOWN: Final = frozenset({".png", ".svg", ".txt", ".toml", ".csv", ".json"})
"""Files that a browser may show in place of saving them; the policy forbids scripts in an SVG."""


def routes(jobs: Jobs) -> list[BaseRoute]:
    """The paths below `api/`."""

    async def listed(_: Request) -> Response:
        return JSONResponse(jobs.states())

    async def begun(request: Request) -> Response:
        verb, text = await _asked(request)
        try:
            job = jobs.begin(verb, text)
        except InputError as error:
            return JSONResponse({"problem": str(error)}, status_code=409)
        return JSONResponse(job.state(), status_code=201)

    async def shown(request: Request) -> Response:
        return JSONResponse(_job(request).state())

    async def canceled(request: Request) -> Response:
        job = _job(request)
        job.cancel()
        return JSONResponse(job.state())

    async def file(request: Request) -> Response:
        path = _job(request).file(request.path_params["path"])
        if path is None:
            raise HTTPException(404)
        kind = "inline" if path.suffix in _SHOWN else "attachment"
        headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
        return FileResponse(path, filename=path.name, content_disposition_type=kind, headers=headers)

    def _job(request: Request) -> Job:
        job = jobs.get(request.path_params["name"])
        if job is None:
            raise HTTPException(404)
        return job

    return [
        Route("/jobs", listed),
        Route("/jobs", begun, methods=["POST"]),
        Route("/jobs/{name}", shown),
        Route("/jobs/{name}/cancel", canceled, methods=["POST"]),
        Route("/jobs/{name}/files/{path:path}", file),
    ]


async def _asked(request: Request) -> tuple[str, str]:
    """A verb and a scenario; JSON only, which pages of other origins cannot send unasked."""
    if request.headers.get("content-type") != "application/json":
        raise HTTPException(415)
    received = bytearray()
    async for part in request.stream():
        received += part
        if len(received) > MOST_BYTES:
            raise HTTPException(413)
    try:
        asked = json.loads(received)
        verb, text = asked["verb"], asked["text"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise HTTPException(400) from None
    if not (isinstance(verb, str) and isinstance(text, str)):
        raise HTTPException(400)
    return verb, text
