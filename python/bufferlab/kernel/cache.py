"""The kernels that were built on this machine."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bufferlab.errors import InputError, OutputError
from bufferlab.files import cache_folder, not_written

BUILD: Final = "bufferlab kernel build"
_PROGRAM: Final = "linux"
_ABOUT: Final = "kernel.json"


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built.

    Attributes:
        name: Its key: version of the sources, ticks a second, hash of configuration and changes.
        folder: Where it is kept.
        about: Where it came from.
    """

    name: str
    folder: Path
    about: dict[str, Any]

    @property
    def program(self) -> Path:
        """The kernel as a program."""
        return self.folder / _PROGRAM

    @property
    def title(self) -> str:
        """The name that results give for their source."""
        return f"Linux {self.about['release']} (User-Mode Linux, HZ {self.about['hz']}, {self.name})"


def kernels_folder() -> Path:
    """The folder of all kernels, which need not be there.

    Raises:
        InputError: There is no home to have a cache in.
    """
    return cache_folder() / "kernels"


def kernels() -> list[Kernel]:
    """Those that can be booted, the newest first."""
    found = []
    for about in kernels_folder().glob(f"*/{_ABOUT}"):
        try:
            found.append(Kernel(about.parent.name, about.parent, json.loads(about.read_text("utf-8"))))
        except (OSError, ValueError):  # half written, or another's
            continue
    return sorted(found, key=lambda kernel: str(kernel.about.get("built")), reverse=True)


def kernel(name: str | None = None) -> Kernel:
    """The newest kernel, or the one of a name.

    Raises:
        InputError: There is none.
    """
    known = kernels()
    if name is None and known:
        return known[0]
    for each in known:
        if each.name == name:
            return each
    accepted = ", ".join(each.name for each in known) or f"one made by '{BUILD}'; there is none yet"
    raise InputError(
        "is no kernel that was built", key="kernel", value=name or "the newest", accepted=accepted
    )


def keep(name: str, program: Path, about: dict[str, Any]) -> Kernel:
    """Keep what was built; an older one of the same name is replaced.

    Raises:
        OutputError: It cannot be written.
    """
    folder = kernels_folder() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f".{_PROGRAM}.partial"
        shutil.copy2(program, fresh)
        fresh.replace(folder / _PROGRAM)
        (folder / _ABOUT).write_text(json.dumps(about, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    except OSError as error:
        raise not_written(folder, error) from error
    return Kernel(name, folder, about)


def remove(name: str) -> Path:
    """Remove a kernel; return the folder that is gone.

    Raises:
        InputError: There is none of this name.
        OutputError: It cannot be removed.
    """
    folder = kernel(name).folder
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be removed ({error.strerror})") from error
    return folder
