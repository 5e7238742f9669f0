"""ns-3 as a program: compiled once, then one run of it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import threading
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from bufferlab.errors import InputError
from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.referee.program import arguments, result_of
from bufferlab.files import cache_folder

SOURCE: Final = "dumbbell.cc"
VERSION: Final = "3.44"
INSTALL: Final = f"ns-3's package for this Python (pip install ns3=={VERSION}.post0) and g++"

_LIBRARIES: Final = (
    "internet", "applications", "point-to-point", "traffic-control", "network", "core", "stats",
)  # fmt: skip
_LOCK: Final = threading.Lock()


def is_there() -> bool:
    """Whether ns-3's program can be compiled."""
    return find_spec("ns3") is not None and shutil.which("g++") is not None


def run(setting: Setting, seed: int) -> dict[str, float] | None:
    """ns-3's measurements of one run; `None` if a signal ended it.

    Raises:
        InputError: ns-3 is not there, or does not take the setting.
    """
    words = [f"--{word}" for word in arguments(setting).split()]
    return result_of([str(_program()), *words, f"--seed={seed}"])


def _package() -> list[str]:
    """Where headers and libraries of the package are, as the compiler takes them."""
    spec = find_spec("ns3")
    folder = Path(next(iter((spec and spec.submodule_search_locations) or ())))
    libraries = folder / "lib64"
    return [
        f"-I{folder / 'include'}",
        f"-L{libraries}",
        f"-Wl,-rpath,{libraries}",
        *(f"-lns{VERSION}-{each}" for each in _LIBRARIES),
    ]


def _program() -> Path:
    with _LOCK:
        return _compiled()


@cache
def _compiled() -> Path:
    """The program, in the cache folder under a name that its source determines."""
    if not is_there():
        raise InputError("is not there", file="ns-3", accepted=INSTALL)
    with resources.as_file(resources.files("bufferlab.evidence.referee.ns3") / SOURCE) as source:
        name = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
        done = cache_folder() / "ns3" / f"dumbbell-{name}"
        if done.exists():
            return done
        done.parent.mkdir(parents=True, exist_ok=True)
        partial = done.with_suffix(f".{os.getpid()}")
        command = ["g++", "-O2", "-std=c++20", "-o", str(partial), str(source), *_package()]
        compiled = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if compiled.returncode:
        lines = compiled.stderr.strip().splitlines() or [str(compiled.returncode)]
        raise InputError(f"does not compile: {lines[0]}", file=" ".join(command), accepted=INSTALL)
    partial.replace(done)
    return done
