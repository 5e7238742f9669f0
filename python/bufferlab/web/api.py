"""What the served page asks the server for: commands that run here, and their files."""

from __future__ import annotations

import json
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bufferlab.errors import InputError, OutputError
from bufferlab.web import documents
from bufferlab.web.jobs import Asked, Job, Jobs
from bufferlab.web.runs import Runs

MOST_BYTES: Final = 1_000_000
"""Of a request's body."""

_SHOWN: Final = frozenset({".png", ".svg", ".txt", ".toml", ".csv", ".json"})
"""Files that a browser may show in place of saving them; the policy forbids scripts in an SVG."""


def routes(jobs: Jobs, runs: Runs) -> list[BaseRoute]:
    """The paths below `api/`."""
    return [*_of_jobs(jobs, runs), *_of_runs(runs), *documents.routes()]


def _of_jobs(jobs: Jobs, runs: Runs) -> list[BaseRoute]:
    async def listed(_: Request) -> Response:
        return JSONResponse(jobs.states())

    async def begun(request: Request) -> Response:
        asked = await _asked(request)
        try:
            job = jobs.begin(asked)
        except InputError as error:
            return _refused(error)
        await run_in_threadpool(runs.keep, asked.text)
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


def _of_runs(runs: Runs) -> list[BaseRoute]:
    async def stored(request: Request) -> Response:
        asked = request.query_params
        conditions = [text for text in asked.getlist("where") if text.strip()]
        try:
            means, figure = asked.get("means") == "1", asked.get("figure")
            found = await run_in_threadpool(runs.listed, conditions, means=means, figure=figure)
        except (InputError, OutputError) as error:
            return _refused(error)
        return JSONResponse(found)

    async def scenario(request: Request) -> Response:
        try:
            text = await run_in_threadpool(runs.scenario_of, request.path_params["identity"])
        except InputError as error:
            return _refused(error)
        return JSONResponse({"text": text})

    return [Route("/runs", stored), Route("/runs/scenarios/{identity}", scenario)]


def _refused(error: Exception) -> Response:
    return JSONResponse({"problem": str(error)}, status_code=409)


async def _asked(request: Request) -> Asked:
    """A command and its scenario; JSON only, which pages of other origins cannot send unasked."""
    if request.headers.get("content-type") != "application/json":
        raise HTTPException(415)
    received = bytearray()
    async for part in request.stream():
        received += part
        if len(received) > MOST_BYTES:
            raise HTTPException(413)
    try:
        asked = _read(json.loads(received))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise HTTPException(400) from None
    return asked


def _read(document: Any) -> Asked:  # noqa: ANN401 - whatever was sent
    """A command of a request.

    Raises:
        KeyError: A part is missing.
        TypeError: A part is of another type.
    """
    verb, text, about = document["verb"], document["text"], document.get("about", "")
    vary, seeds, changed = document.get("vary", []), document.get("seeds", 1), document.get("changed", {})
    today = document.get("today", False)
    if not isinstance(vary, list) or not isinstance(changed, dict) or type(seeds) is not int:
        raise TypeError
    if type(today) is not bool:
        raise TypeError
    if not all(isinstance(each, str) for each in (verb, text, about, *vary, *changed.values())):
        raise TypeError
    return Asked(verb, text, tuple(vary), seeds, changed, about, today)
