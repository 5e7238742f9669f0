"""Builds a copy of the checkout with all chosen mutants in it, less those that do not compile."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from scripts.mutation.rust import ALLOWED, CHOOSER, Mutant, embed

_CHOSEN: Final = re.compile(rb"crate::chosen_mutant\((\d+)\) \{")
_MOST_ROUNDS: Final = 12


class Copy:
    """A copy of the checkout.

    Attributes:
        viable: The mutants that compile, by number.
    """

    def __init__(self, root: Path, folder: Path, mutants: Sequence[Mutant]) -> None:
        self._root, self._folder = root, folder
        self._numbered = dict(enumerate(mutants, 1))
        folder.mkdir(parents=True, exist_ok=True)
        self._known = folder / "unviable.txt"
        refused = set(self._known.read_text("utf-8").splitlines()) if self._known.exists() else set()
        self.viable = {number: each for number, each in self._numbered.items() if repr(each) not in refused}
        asked = ["git", "ls-files", "-z"]
        names = subprocess.run(asked, cwd=root, capture_output=True, check=True).stdout  # noqa: S603
        for name in filter(None, names.decode().split("\0")):
            self._put(name, (root / name).read_bytes())

    def build(self, packages: Sequence[str]) -> dict[str, list[Path]]:
        """Compile until no mutant is in the way; the programs with tests of each package.

        Raises:
            RuntimeError: Something else than a mutant does not compile.
        """
        self._write()
        for _ in range(_MOST_ROUNDS):
            messages, _ = self._cargo("check", packages)
            culprits = self._culprits(messages)
            if not culprits:
                break
            with self._known.open("a", encoding="utf-8") as stream:
                for number in culprits & self.viable.keys():
                    stream.write(f"{self.viable.pop(number)!r}\n")
            self._write()
        messages, status = self._cargo("test", packages, "--no-run")
        if status:
            raise RuntimeError("\n".join(_errors(messages)) or "cargo failed")
        return _programs(messages)

    def _write(self) -> None:
        by_file: dict[str, list[tuple[int, Mutant]]] = {}
        for number, each in self._numbered.items():
            by_file.setdefault(each.path, [])
            if number in self.viable:
                by_file[each.path].append((number, each))
        for name, chosen in by_file.items():
            self._put(name, embed((self._root / name).read_bytes(), chosen))
        for crate in sorted({"/".join(Path(name).parts[:2]) for name in by_file}):
            root = self._folder / crate / "src/lib.rs"
            text = root.read_text("utf-8")
            if CHOOSER not in text:
                root.write_text(f"{ALLOWED}{text}{CHOOSER}", "utf-8")

    def _put(self, name: str, content: bytes) -> None:
        path = self._folder / name
        if Path(name).name == "lib.rs" and Path(name).parts[2:3] == ("src",):
            written = path.read_bytes() if path.exists() else b""
            if content in written:
                return
        elif path.exists() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def _cargo(self, verb: str, packages: Sequence[str], *more: str) -> tuple[list[Mapping[str, Any]], int]:
        asked = ["cargo", verb, "--quiet", "--locked", "--message-format=json", *more]
        asked += ["--tests"] if verb == "check" else []
        for package in packages:
            asked += ["--package", package]
        # apart from the checkout's own: cargo would take the copy's programs for those of the checkout
        settings = os.environ | {"CARGO_TARGET_DIR": str(self._folder / "target")}
        ended = subprocess.run(  # noqa: S603 - cargo
            asked, cwd=self._folder, env=settings, stdout=subprocess.PIPE, check=False
        )
        lines = ended.stdout.decode().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")], ended.returncode

    def _culprits(self, messages: Sequence[Mapping[str, Any]]) -> set[int]:
        found: set[int] = set()
        for message in messages:
            reported = message.get("message", {})
            if reported.get("level") != "error" or not reported.get("spans"):
                continue
            # of two branches that do not agree, the compiler may name the true one first
            spans = sorted(reported["spans"], key=lambda span: not span["is_primary"])
            numbers = {number for span in spans if (number := self._behind(span))}
            if not numbers:
                raise RuntimeError(reported.get("rendered") or str(reported))
            found |= numbers
        return found

    def _behind(self, span: Mapping[str, Any]) -> int | None:
        """The innermost mutant at a place."""
        path = self._folder / span["file_name"]
        if not path.exists():
            return None
        content, place = path.read_bytes(), span["byte_start"]
        inner = None
        for match in _CHOSEN.finditer(content):
            if match.start() <= place < _closing(content, match.end()):
                inner = int(match[1])
        return inner


def _closing(content: bytes, at: int) -> int:
    """Where the bracket closes that was opened just before."""
    depth = 1
    while depth:
        depth += {ord("{"): 1, ord("}"): -1}.get(content[at], 0)
        at += 1
    return at


def _errors(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    reported = (message.get("message", {}) for message in messages)
    return [each["rendered"] for each in reported if each.get("level") == "error"]


def _programs(messages: Sequence[Mapping[str, Any]]) -> dict[str, list[Path]]:
    made: dict[str, list[Path]] = {}
    for message in messages:
        if message.get("executable") and message.get("profile", {}).get("test"):
            package = re.split(r"[/#@]", message["package_id"].split("#")[0])[-1]
            made.setdefault(f"bufferlab-{package.removeprefix('bufferlab-')}", []).append(
                Path(message["executable"])
            )
    return made
