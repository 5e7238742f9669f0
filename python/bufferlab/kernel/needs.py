"""What building and running a kernel needs of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bufferlab.errors import InputError

_TO_BUILD: Final[Mapping[str, str]] = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "perl": "perl",
    "strip": "binutils",
    "tar": "tar",
    "xz": "xz-utils",
    "bzip2": "bzip2",
}
"""Programs, and the packages of Debian and Ubuntu that have them (Documentation/process/changes.rst)."""

_TO_RUN: Final[Mapping[str, str]] = {
    "setarch": "util-linux",
    "setpriv": "util-linux",
    "ip": "iproute2",
    "tc": "iproute2",
}
_HEADERS: Final[Mapping[str, str]] = {"libelf.h": "libelf-dev", "stdio.h": "libc6-dev"}
_SYSTEM_PATH: Final = "/usr/sbin:/sbin:/usr/bin:/bin"

LEAST_DISK_BYTES: Final = 4 * 10**9
"""The unpacked sources of Linux 6.12 have 1.6 GB, what is built of them 0.4, the packed ones 0.15 twice."""

LEAST_MEMORY_BYTES: Final = 10**9


def missing_to_build() -> dict[str, str]:
    """What building lacks, each with its package."""
    lacking = _missing(_TO_BUILD)
    if "gcc" not in lacking:
        lacking |= {header: package for header, package in _HEADERS.items() if not _has_header(header)}
    return lacking


def missing_to_run() -> dict[str, str]:
    """What running lacks, each with its package."""
    return _missing(_TO_RUN)


def command_for(lacking: Mapping[str, str]) -> list[str]:
    """The command that installs what is lacking."""
    return ["apt-get", "install", "--yes", "--no-install-recommends", *sorted(set(lacking.values()))]


def install(lacking: Mapping[str, str]) -> None:
    """Install what is lacking, if this is root on Debian or Ubuntu.

    Raises:
        InputError: It cannot be installed from here; the message has the command.
    """
    words = command_for(lacking)
    named = ", ".join(lacking)
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise InputError(f"needs {named}", file="kernel build", accepted=f"after 'sudo {' '.join(words)}'")
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise InputError(
            f"could not install {named} ({last})", file=" ".join(words), accepted="a working apt"
        )


def check_room(folder: Path) -> None:
    """Check that there is disk and memory enough.

    Raises:
        InputError: There is not.
    """
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < LEAST_DISK_BYTES:
        raise InputError(
            f"has {free / 1e9:.1f} GB free", file=existing, accepted=f"{LEAST_DISK_BYTES / 1e9:g} GB"
        )
    memory = available_memory()
    if memory is not None and memory < LEAST_MEMORY_BYTES:
        raise InputError(
            f"has {memory / 1e9:.1f} GB available", key="memory", accepted=f"{LEAST_MEMORY_BYTES / 1e9:g} GB"
        )


def available_memory() -> int | None:
    """Memory that programs can have, bytes; `None` if the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return None
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    words = values.get("MemAvailable", "").split()
    return int(words[0]) * 1024 if words else None


def _missing(programs: Mapping[str, str]) -> dict[str, str]:
    path = f"{os.environ.get('PATH', '')}:{_SYSTEM_PATH}"
    return {name: package for name, package in programs.items() if shutil.which(name, path=path) is None}


def _has_header(name: str) -> bool:
    words = ["gcc", "-E", "-x", "c", "-"]
    asked = f"#include <{name}>\n"
    return subprocess.run(words, input=asked, capture_output=True, text=True, check=False).returncode == 0  # noqa: S603
