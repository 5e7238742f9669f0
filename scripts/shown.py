"""Run the commands that documents show, and put what they print now in the place of what is shown.

A block that begins with `$ bufferlab ...` shows how that command's output begins, up to the line that
begins as the last one shown. `$ COLUMNS=120 bufferlab ...` is for a wider terminal. A capture that they read
is made by a block of its own: `bufferlab run SCENARIO --pcap FILE`.

    python scripts/shown.py docs/sizing.md README.md     # simulates
    python scripts/shown.py --check docs/*.md            # only says what is no longer printed
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]

BLOCK: Final = re.compile(
    r"^```\n\$ (?:COLUMNS=(\d+) )?bufferlab ((?:[^\n]*\\\n)*[^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL
)

CAPTURE: Final = re.compile(r"^```sh\nbufferlab (run \S+ --pcap \S+)\n```", re.MULTILINE)

BEGINS: Final = 16
"""Characters by which the last line is found again."""


def printed(words: str, columns: str | None, folder: Path) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "bufferlab", *shlex.split(words.replace("\\\n", " "))]
    environment = os.environ | {"COLUMNS": columns or "80"}
    ended = subprocess.run(  # noqa: S603 - the commands are the documents' own
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return "\n".join(line.rstrip() for line in ended.stdout.splitlines())


def shortened(out: str, shown: str) -> str:
    """As much of an output as was shown of it."""
    last = shown.rstrip("\n").splitlines()[-1][:BEGINS]
    times = sum(line.startswith(last) for line in shown.splitlines())
    kept = []
    for line in out.splitlines():
        kept.append(line)
        times -= line.startswith(last)
        if times == 0:
            return "\n".join(kept) + "\n"
    raise SystemExit(f"no line begins with {last!r} any more")


def renewed(text: str, folder: Path) -> str:
    """A document with what its commands print now."""

    def block(found: re.Match[str]) -> str:
        columns, words, shown = found.groups()
        command = found[0].partition("\n")[2][: -len(shown) - 3]
        return f"```\n{command}{shortened(printed(words, columns, folder), shown)}```"

    for words in CAPTURE.findall(text):
        printed(words, None, folder)
    return BLOCK.sub(block, text)


def main() -> None:
    """Renew or check documents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("documents", type=Path, nargs="+")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something is other")
    asked = parser.parse_args()
    stale = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        for path in asked.documents:
            old = path.read_text(encoding="utf-8")
            new = renewed(old, folder)
            if asked.check:
                before, now = (text.splitlines(keepends=True) for text in (old, new))
                sys.stdout.writelines(difflib.unified_diff(before, now, str(path)))
            else:
                path.write_text(new, encoding="utf-8")
            stale |= old != new
    raise SystemExit(asked.check and stale)


if __name__ == "__main__":
    main()
