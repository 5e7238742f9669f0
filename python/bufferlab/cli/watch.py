"""`bufferlab run --watch`: whether one can look on."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from rich.console import Console

from bufferlab.cli.common import say
from bufferlab.errors import InputError


def may_watch(seeds: int, speed: float | None, recording: Path | None) -> bool:
    """Whether a run can have a live view; prints a line if there is no terminal to show it on.

    Raises:
        InputError: If it is more than one run, the speed is none, or packets are to be recorded.
    """
    if seeds != 1:
        raise InputError("is more than one can watch", key="seeds", value=seeds, accepted="1 seed")
    if speed is not None and not (speed > 0 and math.isfinite(speed)):
        raise InputError("is no speed", key="watch-speed", value=speed, accepted="a number above 0")
    if recording is not None:
        raise InputError(
            "cannot be written by a run that is watched", file=recording, accepted="a run of its own"
        )
    if not Console(file=sys.stdout).is_terminal:
        say("standard output is not a terminal: running without the live view")
        return False
    return True
