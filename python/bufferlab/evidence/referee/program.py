"""ns-2 as a program: whether it is there, and one run of it."""

from __future__ import annotations

import shutil
import subprocess
from importlib import resources
from typing import Final

from bufferlab.errors import InputError
from bufferlab.evidence.ns2.reference import Setting

PROGRAM: Final = "ns"
INSTALL: Final = "ns-2 2.35 on the PATH as 'ns' (Debian and Ubuntu: apt-get install ns2)"
SCRIPT: Final = "dumbbell.tcl"


def is_there() -> bool:
    """Whether ns-2 can be run."""
    return shutil.which(PROGRAM) is not None


def arguments(setting: Setting) -> str:
    """What the script is given for a setting: its seed apart, all that tells it from others."""
    words = {
        "cc": setting.stack,
        "rate": f"{setting.rate_bps / 1e6:.10g}",
        "bytes": f"{setting.wire_bytes}",
        "n": f"{setting.flows}",
        "rtt1": f"{setting.rtt_ms[0]:.10g}",
        "rtt2": f"{setting.rtt_ms[1]:.10g}",
        "buf": f"{setting.buffer_packets}",
        "sim": f"{setting.duration_s:g}",
        "warm": f"{setting.warmup_s:g}",
        **dict(setting.options),
    }
    return " ".join(f"{name}={value}" for name, value in words.items())


def run(setting: Setting, seed: int, *also: str) -> dict[str, float] | None:
    """ns-2's measurements of one run; `None` if a signal ended it.

    Args:
        setting: What to run.
        seed: Of the run.
        also: Further arguments of the script, NAME=VALUE.

    Raises:
        InputError: ns-2 is not there, or does not take the setting.
    """
    path = shutil.which(PROGRAM)
    if path is None:
        raise InputError("is not there", file=PROGRAM, accepted=INSTALL)
    with resources.as_file(resources.files("bufferlab.evidence.referee") / SCRIPT) as script:
        return result_of([path, str(script), *arguments(setting).split(), *also, f"seed={seed}"])


def result_of(command: list[str]) -> dict[str, float] | None:
    """What a program prints after RESULT, by name; `None` if a signal ended it.

    Raises:
        InputError: It printed no result.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode < 0:
        return None
    # what ns-2 itself prints may end in the middle of a line, as it has another buffer than Tcl
    line = done.stdout.partition("RESULT ")[2].partition("\n")[0]
    if not line:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise InputError(f"failed: {said[0] if said else done.returncode}", file=" ".join(command))
    return {name: float(value) for name, _, value in (word.partition("=") for word in line.split())}
