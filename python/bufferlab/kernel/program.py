"""A user's program as traffic, in the place of the first group of flows."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from bufferlab.errors import InputError
from bufferlab.experiment.recording import RECEIVERS, SENDERS
from bufferlab.kernel.guest.programs import OUTPUTS
from bufferlab.scenario import Scenario
from bufferlab.units import PS_PER_S

HERE: Final = "BUFFERLAB_HERE"
PEER: Final = "BUFFERLAB_PEER"
"""Environment variables with the addresses of this side and of the other."""

PROGRAM: Final = "program"
"""The kind of a report's row about it."""

_NS_PER_S: Final = 1e9
_EARLIEST_PS: Final = PS_PER_S
"""When it starts at the earliest: its counterpart listens then, and `ping` errs in a clock's first second."""


class Ending(NamedTuple):
    """How a program ended.

    Attributes:
        status: Its exit status, negative for a signal; `None` if it was ended with the run.
        lasted_s: How long it ran, s.
    """

    status: int | None
    lasted_s: float

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> Ending:
        """What a kernel reported of it."""
        said = next(json.loads(row["tables"]) for row in rows if row["kind"] == PROGRAM)
        return cls(said["status"], said["lasted_ns"] / _NS_PER_S)

    def __str__(self) -> str:
        if self.status is None:
            return f"it was ended with the run, after {self.lasted_s:.3f} s"
        return f"it ended with status {self.status} after {self.lasted_s:.3f} s"


@dataclass(frozen=True)
class Program:
    """A program that runs beside the flows of a scenario, in the place of the first group.

    Attributes:
        words: The program and its arguments.
        at: Where it runs: "senders", whose packets cross the link, or "receivers".
        peer: A command line, for the shell, that runs on the other side from the run's begin.
        output: Where its standard output goes.
        errors: Where its standard error goes.
        endings: How it ended, run by run.
    """

    words: tuple[str, ...]
    at: str = SENDERS
    peer: str | None = None
    output: IO[str] = field(default_factory=lambda: sys.stdout)
    errors: IO[str] = field(default_factory=lambda: sys.stderr)
    endings: list[Ending] = field(default_factory=list)

    def check(self) -> None:
        """Check that it can be started.

        Raises:
            InputError: There is no such program, or no such place.
        """
        if self.at not in {SENDERS, RECEIVERS}:
            raise InputError("is no side", file="--at", value=self.at, accepted=f"{SENDERS}, {RECEIVERS}")
        if shutil.which(self.words[0]) is None:
            raise InputError("is no program", file="COMMAND", value=self.words[0], accepted="one in PATH")

    @contextmanager
    def relay(self) -> Iterator[Callable[[Path], None]]:
        """What passes on what the program has written so far, from a run's folder, whenever it is called."""
        with ExitStack() as stack:
            files: dict[str, IO[bytes]] = {}

            def pass_on(folder: Path) -> None:
                for name, stream in zip(OUTPUTS, (self.output, self.errors), strict=True):
                    if name not in files and (folder / name).exists():
                        files[name] = stack.enter_context((folder / name).open("rb"))
                    if name in files and (said := files[name].read()):
                        stream.write(said.decode("utf-8", "replace"))
                        stream.flush()

            yield pass_on

    def prepared(self, scenario: Scenario) -> Scenario:
        """The scenario with the moment at which the program starts: its warm-up's end, if others warm up."""
        own_ps = scenario.run["warmup_ps"] if len(scenario.flows) > 1 else 0
        warmup_ps = max(own_ps, _EARLIEST_PS)
        return scenario.with_overrides({"run.warmup": f"{warmup_ps} ps"})

    def job(self, places: Mapping[str, tuple[str, str]], starts_ns: int) -> dict[str, Any]:
        """What the kernel is reported.

        Args:
            places: Namespace and address of the senders and of the receivers.
            starts_ns: When it starts.
        """
        other = RECEIVERS if self.at == SENDERS else SENDERS

        def of(place: str, words: list[str]) -> dict[str, Any]:
            (namespace, here), (_, there) = places[place], places[RECEIVERS if place == SENDERS else SENDERS]
            environment = dict(os.environ) | {HERE: here, PEER: there}
            return {"words": words, "namespace": namespace, "environment": environment}

        return {
            "program": of(self.at, list(self.words)),
            "peer": None if self.peer is None else of(other, ["/bin/sh", "-c", self.peer]),
            "folder": str(Path.cwd()),
            "starts_ns": starts_ns,
        }
