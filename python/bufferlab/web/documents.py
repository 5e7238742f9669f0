"""Documents that explain answers, as pages for a browser: where the source tree that has them is at hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

DOCS: Final = Path(__file__).parents[3] / "docs"
"""Of a source tree; a wheel has none."""

_EXPLAINED: Final[Mapping[str, str]] = {
    "advise": "advise.md",
    "size": "sizing.md",
    "compare": "compare.md",
    "run": "metrics.md",
    "sweep": "sweep.md",
}
"""By command."""

_POLICY: Final = "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'"

_STYLE: Final = (
    ":root { color-scheme: light dark } body { font: 1rem/1.5 sans-serif; max-width: 60rem; margin: auto; "
    "padding: 1rem } table { border-collapse: collapse; display: block; overflow-x: auto } "
    "td, th { border: 1px solid gray; padding: 0.2rem 0.5rem; text-align: left } "
    "pre { overflow-x: auto } img { max-width: 100% }"
)

_OWN: Final = re.compile(r"[\w-]+\.md(#.*)?|#.*|https://.*")
"""Links that lead somewhere from a document that stands without the source tree around it."""


def document_of(verb: str) -> str:
    """The document that explains a command's answers, empty if it is not at hand."""
    name = _EXPLAINED.get(verb, "")
    return name if name and (DOCS / name).is_file() else ""


def routes() -> list[BaseRoute]:
    """The paths below `docs/`: documents with their pictures."""

    async def document(request: Request) -> Response:
        path = DOCS / f"{request.path_params['name']}.md"
        if path.parent != DOCS or not path.is_file():
            raise HTTPException(404)
        text = path.read_text(encoding="utf-8")
        return HTMLResponse(page_of(text), headers={"Content-Security-Policy": _POLICY})

    images = StaticFiles(directory=DOCS / "images", check_dir=False)
    return [Route("/docs/{name}.md", document), Mount("/docs/images", images)]


def page_of(text: str) -> str:
    """A document as a page: its headings can be linked to, as elsewhere."""
    reader = MarkdownIt("commonmark").enable("table")
    tokens = reader.parse(text)
    _name_headings(tokens)
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open" and not _OWN.fullmatch(str(child.attrs["href"])):
                del child.attrs["href"]
    title = escape(text.partition("\n")[0].lstrip("# "))
    body = reader.renderer.render(tokens, reader.options, {})
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    head += f"<title>{title}</title><style>{_STYLE}</style>"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'


def _name_headings(tokens: Sequence[Token]) -> None:
    """Give headings the names that GitHub gives them."""
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            name = re.sub(r"[^\w\- ]", "", content.content.lower()).replace(" ", "-")
            token.attrSet("id", name)
