"""What a run is to record while it goes on: captures (pcapng) and traces of packets' events."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Final

from bufferlab.errors import InputError
from bufferlab.files import check_utf8, not_written
from bufferlab.results.recording import Recording
from bufferlab.scenario import Scenario

SENDERS: Final = "senders"
RECEIVERS: Final = "receivers"
DEFAULT_LIMIT: Final = 10_000_000
"""Packets in a capture and lines in a trace, at most: some 1.5 GB."""
MAX_LIMIT: Final = 2**63 - 1


class RecordingWarning(UserWarning):
    """A recording does not hold all that it was to hold."""


@dataclass(frozen=True)
class Request:
    """What is to be recorded.

    Attributes:
        pcap: The capture's file.
        at: Where packets are captured: "senders", "receivers" or names of links.
        trace: The trace's file; with the suffix .csv a table, otherwise as ns-2 writes it.
        groups: Names of the groups to record; `None` for all.
        limit: Packets in the capture, and lines in the trace, at most.
    """

    pcap: Path | None
    at: tuple[str, ...]
    trace: Path | None
    groups: tuple[str, ...] | None
    limit: int

    @property
    def paths(self) -> list[Path]:
        """The files, the capture first."""
        return [path for path in (self.pcap, self.trace) if path is not None]

    def of_seed(self, seed: int) -> Request:
        """The same into files of a seed's own."""
        named = [path and path.with_stem(f"{path.stem}-{seed}") for path in (self.pcap, self.trace)]
        return replace(self, pcap=named[0], trace=named[1])

    def as_json(self, scenario: Scenario) -> str:
        """The request as the engine takes it."""
        flows = [flow["name"] for flow in scenario.flows]
        links = [link["name"] for link in scenario.links]
        document = {
            "groups": self.groups and [flows.index(name) for name in self.groups],
            "pcap": self.pcap
            and {
                "path": str(self.pcap),
                "senders": SENDERS in self.at,
                "receivers": RECEIVERS in self.at,
                "links": [index for index, name in enumerate(links) if name in self.at],
                "most": self.limit,
            },
            "trace": self.trace
            and {
                "path": str(self.trace),
                "csv": self.trace.suffix.lower() == ".csv",
                "most": self.limit,
            },
        }
        return json.dumps(document)

    def finished(self, reports: Iterable[tuple[int, int, int, str | None]]) -> tuple[Recording, ...]:
        """What the engine says has become of the files."""
        units = ["packets"] * (self.pcap is not None) + ["lines"] * (self.trace is not None)
        return tuple(
            Recording(path, unit, *report)
            for path, unit, report in zip(self.paths, units, reports, strict=True)
        )


def request(
    scenario: Scenario,
    *,
    pcap: str | PathLike[str] | None,
    pcap_at: str | Sequence[str],
    trace: str | PathLike[str] | None,
    groups: str | Sequence[str] | None,
    limit: int,
) -> Request | None:
    """Check what is to be recorded; `None` if nothing is.

    Raises:
        InputError: If a place or a group is unknown, or the limit is not positive.
    """
    if pcap is None and trace is None:
        return None
    links, names = [link["name"] for link in scenario.links], [flow["name"] for flow in scenario.flows]
    at = _known("pcap_at", pcap_at, [SENDERS, RECEIVERS, *links])
    wanted = None if groups is None else _known("record_flows", groups, names)
    if not 1 <= limit <= MAX_LIMIT:
        raise InputError("is not a usable limit", key="record_limit", value=limit, accepted="1 or more")
    pcap, trace = (None if path is None else check_utf8(Path(path)) for path in (pcap, trace))
    if pcap is not None and trace is not None and pcap.absolute() == trace.absolute():
        raise InputError("is the capture's file, too", key="trace", value=str(trace), accepted="another file")
    return Request(pcap, at, trace, wanted, limit)


def by_seed(asked: Request | None, seeds: Sequence[int]) -> dict[int, Request]:
    """What is recorded of each seed, several into files of their own."""
    if asked is None:
        return {}
    return {seed: asked.of_seed(seed) if len(seeds) > 1 else asked for seed in seeds}


def check_spared(scenario: object, *recordings: str | PathLike[str] | None) -> None:
    """Refuse to record into the scenario's own file.

    Raises:
        InputError: A recording is `scenario`, if that is a path.
    """
    if not isinstance(scenario, str | PathLike):
        return
    for path in (path for path in recordings if path is not None):
        try:
            is_same = Path(path).samefile(scenario)
        except (OSError, ValueError):  # what cannot be looked at is reported by whoever opens it
            continue
        if is_same:
            raise InputError("is the scenario's file", file=path, accepted="another file to record into")


def check_writable(requests: Iterable[Request]) -> None:
    """Make sure that the files can be written, before any work is wasted.

    Raises:
        OutputError: If one cannot.
    """
    for path in (path for asked in requests for path in asked.paths):
        if path.exists() and not (path.is_file() or path.is_dir()):
            continue  # a pipe is opened once, by who writes
        try:
            path.open("ab").close()
        except OSError as error:
            raise not_written(path, error) from error


def warn(recordings: Iterable[Recording]) -> None:
    """Warn of those that were cut off."""
    for recording in recordings:
        if recording.problem is not None:
            warnings.warn(str(recording), RecordingWarning, stacklevel=3)


def _known(key: str, given: str | Sequence[str], accepted: list[str]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if name not in accepted:
            raise InputError("is unknown", key=key, value=name, accepted=", ".join(accepted))
    if not names:
        raise InputError("names nothing", key=key, value="", accepted=", ".join(accepted))
    return names
