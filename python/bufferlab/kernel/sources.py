"""A kernel's sources: a folder that the user has, or the distribution's package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from bufferlab.errors import InputError

_OLDEST: Final = (6, 6)
_NAME: Final = re.compile(r"^linux-source-(\d+)\.(\d+)\S*$", re.MULTILINE)


def release_of(tree: Path) -> str:
    """The version of unpacked sources, as their Makefile says it.

    Raises:
        InputError: The folder holds no kernel, or one that is too old.
    """
    accepted = f"the sources of Linux {_OLDEST[0]}.{_OLDEST[1]} or newer, unpacked"
    try:
        text = (tree / "Makefile").read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise InputError("is no kernel's source tree", file=tree, accepted=accepted) from None
    found = re.match(
        r"(?:#.*\n)*VERSION = (\d+)\nPATCHLEVEL = (\d+)\nSUBLEVEL = (\d+)\nEXTRAVERSION =[ ]?(\S*)", text
    )
    if found is None or not (tree / "arch/um/Kconfig").is_file():
        raise InputError("is no kernel's source tree", file=tree, accepted=accepted)
    if (int(found[1]), int(found[2])) < _OLDEST:
        raise InputError(f"holds Linux {found[1]}.{found[2]}", file=tree, accepted=accepted)
    return f"{found[1]}.{found[2]}.{found[3]}{found[4]}"


def copy_tree(tree: Path, into: Path) -> None:
    """Copy sources, so that the user's stay as they are."""
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(tree, into, symlinks=True, ignore=shutil.ignore_patterns(".git"))


def newest_package() -> tuple[str, str]:
    """The newest package of sources that the system's archive has, and its version.

    Raises:
        InputError: There is none.
    """
    accepted = "--source DIR with unpacked sources"
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise InputError("this system has no apt", file="kernel build", accepted=accepted)
    said = _output("apt-cache", "search", "--names-only", "^linux-source-[0-9]")
    names = [line.split()[0] for line in said.splitlines() if line.strip()]
    known = [(int(match[1]), int(match[2]), match[0]) for match in map(_NAME.match, names) if match]
    usable = [each for each in known if each[:2] >= _OLDEST]
    if not usable:
        oldest = ".".join(map(str, _OLDEST))
        raise InputError(
            f"the archive has no linux-source-X of {oldest} or newer",
            file="kernel build",
            accepted=f"{accepted}; 'apt-get update' renews what apt knows",
        )
    name = max(usable)[2]
    shown = _output("apt-cache", "show", "--no-all-versions", name)
    version = next((line.split()[1] for line in shown.splitlines() if line.startswith("Version:")), "unknown")
    return name, version


def fetch(package: str, into: Path) -> Path:
    """Download a package; return its file. What is there already is taken.

    Raises:
        InputError: It cannot be downloaded.
    """
    into.mkdir(parents=True, exist_ok=True)
    there = sorted(into.glob(f"{package}_*.deb"))
    if not there:
        done = subprocess.run(  # noqa: S603
            ["apt-get", "download", "-q", package],  # noqa: S607
            cwd=into,
            capture_output=True,
            text=True,
            check=False,
        )
        there = sorted(into.glob(f"{package}_*.deb"))
        if done.returncode or not there:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise InputError(f"could not be downloaded ({last})", key=package, accepted="--source DIR")
    return there[-1]


def unpack(package: Path, into: Path) -> None:
    """Unpack the sources that a package holds.

    Raises:
        InputError: It holds none.
    """
    outer = into.with_name(f"{into.name}.package")
    for folder in (outer, into):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    _output("dpkg-deb", "-x", str(package), str(outer))
    archives = [path for path in outer.glob("usr/src/**/linux-source-*.tar.*") if not path.is_symlink()]
    if not archives:
        raise InputError("holds no sources", file=package, accepted="a package linux-source-X")
    _output("tar", "--strip-components=1", "-C", str(into), "-xf", str(archives[0]))
    shutil.rmtree(outer)


def _output(*words: str) -> str:
    done = subprocess.run(  # noqa: S603
        words, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise InputError(f"failed ({last})", file=" ".join(words[:2]))
    return done.stdout
