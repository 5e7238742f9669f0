"""Puts the site's sources together in target/site: documents, files that they link to, generated pages.

    python scripts/site.py && mkdocs build --strict

Generated are the commands' reference, from their help, and the gallery, from the documents' figures. The page
for browsers comes along. Linked files do, too; folders are named only.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer

from bufferlab.cli import VERBS, build_app

ROOT: Final = Path(__file__).parents[1]
STAGE: Final = ROOT / "target" / "site"
PAGE: Final = ROOT / "python" / "bufferlab" / "web" / "page"
DOCUMENTS: Final = ("*.md", "docs/**/*.md", "benchmarks/*.md")
COPIED: Final = ("docs/images/*", "docs/*.json", "examples/*.toml", "examples/*.csv", "LICENSE")
LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FIGURE: Final = re.compile(r"^!\[(?P<alt>[^\]]*)\]\(images/(?P<file>[\w.-]+)\)$", re.MULTILINE)
OTHERS: Final = re.compile(r"https://unpkg\.com/[^\"'`\s]*")
WIDTH: Final = "100"


def main() -> None:
    """Write the folder anew."""
    shutil.rmtree(STAGE, ignore_errors=True)
    for pattern in COPIED:
        for path in sorted(ROOT.glob(pattern)):
            _copy(path)
    for path in documents():
        _write(path.relative_to(ROOT), _prepared(path.read_text(encoding="utf-8"), path))
    _write(Path("docs/cli.md"), commands())
    _write(Path("docs/gallery.md"), gallery())
    if PAGE.exists():
        shutil.copytree(PAGE, STAGE / "lab")
    else:
        sys.stderr.write("site: the page for browsers is not built, so the site has none\n")


def on_post_build(config: Any) -> None:  # noqa: ANN401 - MkDocs', which calls it
    """Take the addresses of others out of the theme's scripts, which would load what we do not use."""
    for script in Path(config["site_dir"]).glob("assets/javascripts/bundle.*.js"):
        text = script.read_text(encoding="utf-8")
        script.write_text(OTHERS.sub("data:text/javascript,", text), encoding="utf-8")


def documents() -> list[Path]:
    """All that is part of the site."""
    return sorted({path for pattern in DOCUMENTS for path in ROOT.glob(pattern)})


def commands() -> str:
    """The reference of the commands: what each says of itself."""
    parts = ["# Commands", "What `bufferlab COMMAND --help` prints."]
    os.environ["COLUMNS"] = WIDTH
    for verb in VERBS:
        command = typer.main.get_command(build_app(verb)).commands[verb]  # type: ignore[attr-defined]
        context = command.make_context(f"bufferlab {verb}", [], resilient_parsing=True)
        parts += [f"## {verb}", f"```text\n{command.get_help(context).replace(chr(8), '').strip()}\n```"]
    return "\n\n".join(parts) + "\n"


def gallery() -> str:
    """All figures of the documents, each with its words and the document that explains it."""
    lab = (
        " They can be had live, packet by packet, in the [laboratory](../lab/index.html#gallery)."
        if PAGE.exists()
        else ""
    )
    parts = ["# Gallery", f"Figures of the documents.{lab}"]
    for path in documents():
        text = path.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ").strip()
        if path.parent.name == "docs":
            parts += [_shown(found, f"[{title}]({path.name})") for found in FIGURE.finditer(text)]
    return "\n\n".join(parts) + "\n"


def _shown(found: re.Match[str], source: str) -> str:
    return f"## {found['alt']}\n\n![{found['alt']}](images/{found['file']})\n\nFrom {source}."


def _prepared(text: str, path: Path) -> str:
    """A document as Python-Markdown reads what GitHub does."""
    return "".join(_spaced(LINK.sub(lambda link: _linked(link, path), text).splitlines(keepends=True)))


def _linked(link: re.Match[str], path: Path) -> str:
    """A link to a file, which comes along; to a folder, its words."""
    target = link[3].partition("#")[0]
    if not target or "://" in target or target.startswith("mailto:"):
        return link[0]
    file = (path.parent / target).resolve()
    if file.is_dir():
        return link[2]
    if file.is_file() and file.is_relative_to(ROOT) and file.suffix != ".md":
        _copy(file)
    return link[0]


def _spaced(lines: list[str]) -> Iterator[str]:
    """Lines with one that is empty before each list, and lists within lists indented by four."""
    before, fenced = "", False
    for line in lines:
        fenced ^= line.startswith("```")
        item = re.match(r"( *)(?:[-*]|\d+\.) ", line)
        starts = item and not fenced and before.strip() and not re.match(r" *(?:[-*]|\d+\.) | {2,}", before)
        if starts and not before.startswith(("|", "#")):
            yield "\n"
        yield line if fenced or not item else " " * len(item[1]) + line
        before = line


def _copy(path: Path) -> None:
    target = STAGE / path.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def _write(place: Path, text: str) -> None:
    (STAGE / place).parent.mkdir(parents=True, exist_ok=True)
    (STAGE / place).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
