"""The engine, compiled. Tables follow the Arrow PyCapsule interface: `polars.DataFrame(table)` reads them."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

__all__ = [
    "ALL_CLASSES",
    "ALL_GROUPS",
    "NOUNS",
    "PLAN_VERSION",
    "SPLITBUFF_CAP",
    "Control",
    "FlowState",
    "Forwarder",
    "LinkCounters",
    "Observation",
    "Outcome",
    "Scenario",
    "Seeded",
    "Session",
    "Table",
    "anonymize",
    "canonical_plan",
    "check_word",
    "datagrams",
    "engine_fingerprint",
    "engine_version",
    "format_quantity",
    "hash_plan",
    "observe",
    "parse_quantity",
    "parse_value",
    "plain",
    "queue_words",
    "simulate",
    "size_unit",
    "split_override",
    "turns",
]

ALL_GROUPS: Final[int]
"""Stands for "all groups" in the column `group` of queues and histograms."""

ALL_CLASSES: Final[int]
"""Stands for "all classes" in the column `class` of class samples."""

PLAN_VERSION: Final[int]
"""The format of plans that this engine reads."""

NOUNS: Final[Mapping[str, str]]
"""What parameters of connections and queues count, by name: {"initial_window": "segments"}."""

SPLITBUFF_CAP: Final[str]
"""Buffer of a SplitBuff that is given none."""

engine_version: Final[str]

engine_fingerprint: Final[str]
"""Hash of the engine's sources, 16 hexadecimal digits: two engines of one version differ in it."""

@final
class Control:
    """A handle on a running simulation, for any thread."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None: ...
    def is_canceled(self) -> bool: ...
    def reached_ps(self) -> int: ...

@final
class Table:
    """Columns on their way to a data frame, without a copy."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...

@final
class Outcome:
    """What a run measured, in the columns of `crates/simulator/src/outcome.rs`. A new one has no rows."""

    def __new__(cls) -> Outcome: ...
    @property
    def reached_ps(self) -> int: ...
    @property
    def canceled(self) -> bool: ...
    @property
    def events(self) -> int: ...
    @property
    def packets(self) -> int: ...
    @property
    def recordings(self) -> list[tuple[int, int, int, str | None]]: ...
    def flows(self) -> Table: ...
    def queues(self) -> Table: ...
    def histograms(self) -> Table: ...
    def classes(self) -> Table: ...
    def class_histograms(self) -> Table: ...
    def queue_samples(self) -> Table: ...
    def class_samples(self) -> Table: ...
    def sender_samples(self) -> Table: ...
    def receiver_samples(self) -> Table: ...
    def exchanges(self) -> Table: ...
    def segments(self) -> Table: ...

@final
class Observation:
    """What a capture tells, in the columns of `crates/observe/src/observation.rs`."""

    @property
    def canceled(self) -> bool: ...
    @property
    def totals(self) -> dict[str, int]: ...
    @property
    def format(self) -> str: ...
    @property
    def other_frames(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def skipped_bytes(self) -> int: ...
    @property
    def compressed(self) -> bool: ...
    @property
    def interfaces(self) -> list[tuple[str | None, int, int | None, int | None, int | None]]: ...
    @property
    def warnings(self) -> list[tuple[str, int, int]]: ...
    def connections(self) -> Table: ...
    def directions(self) -> Table: ...
    def links(self) -> Table: ...
    def trips(self) -> Table: ...
    def losses(self) -> Table: ...
    def seconds(self) -> Table: ...
    def queueing(self) -> Table: ...
    def moments(self) -> Table: ...
    def distributions(self) -> Table: ...

@final
class LinkCounters:
    """What a link has counted by a moment: since the run's start, but waits since the warm-up's end."""

    @property
    def arrived_packets(self) -> int: ...
    @property
    def dropped_packets(self) -> int: ...
    @property
    def departed_packets(self) -> int: ...
    @property
    def departed_bytes(self) -> int: ...
    @property
    def backlog_packets(self) -> int: ...
    @property
    def backlog_bytes(self) -> int: ...
    @property
    def served_packets(self) -> int: ...
    @property
    def waited_ps(self) -> int: ...

@final
class Forwarder:
    """A plan's link for packets that a kernel sends. Times are nanoseconds since the run's start."""

    def __new__(cls, plan_json: str, first_port: int, program_group: int | None = None) -> Forwarder: ...
    def arrive(self, now_ns: int, packet: bytes) -> None:
        """A packet comes; `ValueError` if it is of no flow."""

    def state(self, flow: int, rtt_us: int) -> None:
        """A flow's sender states this round-trip time from now on."""

    def next_ns(self) -> int | None:
        """When to ask for packets."""

    def take(self, now_ns: int) -> bytes | None:
        """The next packet that has left by now, with the mark that it was given."""

    def counters(self, now_ns: int) -> list[int]:
        """Bytes and packets that left, packets and bytes that wait, drops, marks."""

    def finish(self, now_ns: int = ...) -> str:
        """The link's tables as of now, or of the plan's end if that comes first, as JSON."""

@final
class FlowState:
    """A flow's sender at a moment, by its own clock; without a window if it sends datagrams."""

    @property
    def cwnd_segments(self) -> float: ...
    @property
    def srtt_ps(self) -> int: ...
    @property
    def inflight_segments(self) -> int: ...
    @property
    def acknowledged_segments(self) -> int: ...
    @property
    def sent_packets(self) -> int: ...
    @property
    def retransmissions(self) -> int: ...

@final
class Session:
    """A run that stops at moments, to be looked at and changed; one thread at a time works on it.

    Taken to its end in whatever steps it gives what `simulate` gives; a limit that is set gives what the same
    change in the plan gives. Methods raise `ValueError` if an argument is not valid or the session is over,
    `RuntimeError` if the engine has a bug.
    """

    def __new__(cls, plan_json: str) -> Session: ...
    @property
    def now_ps(self) -> int: ...
    def advance(self, until_ps: int, control: Control | None = None) -> bool: ...
    def set_limit(self, link: int, limit_json: str) -> None: ...
    def counters(self, link: int) -> LinkCounters: ...
    def flow(self, flow: int) -> FlowState: ...
    def finish(self, control: Control | None = None) -> Outcome: ...

def datagrams(plan_json: str, most: int) -> list[list[tuple[int, int]]]:
    """When each datagram of each flow leaves, ps, and its size on the wire; at most `most` of a flow."""

def turns(plan_json: str, count: int) -> list[list[tuple[int, int]]]:
    """The first turns of each flow that has data by turns: bytes, and how long it is silent then, ps."""

def write_capture(
    path: str,
    comment: str,
    places: list[tuple[str, str, int | None]],
    packets: list[tuple[int, int, bool, bytes, int]],
    most: int,
) -> tuple[int, int, int, str | None]:
    """Write packets that a kernel sent as a capture: records, those left out, bytes, what ended it early.

    Places are names with what is seen there and a link's rate; packets are time in ns, place, whether it left
    there, first bytes, and size.
    """

def simulate(plan_json: str, control: Control | None = None, recording_json: str | None = None) -> Outcome:
    """Run a plan to its end, or until `control` cancels it; other Python threads run meanwhile.

    Raises:
        ValueError: If the plan is not valid; the message is one line.
        OSError: If a recording's file cannot be opened.
        RuntimeError: If the engine has a bug.
    """

def anonymize(addresses: Sequence[str], key: bytes) -> list[str]:
    """Addresses in place of others, in the same order, by Crypto-PAn: two share as many first bits as before.

    Args:
        addresses: Of IPv4 and IPv6.
        key: 32 bytes.

    Raises:
        ValueError: The key has another length, or a text is no address.
    """

def observe(
    source: bytes | str | os.PathLike[str],
    control: Control | None = None,
    *,
    joined: bool = False,
    inside: Sequence[str] = (),
    only: Sequence[str] = (),
    flows: int | None = None,
) -> Observation:
    """Analyze a capture, its content or a file ("-" is standard input), until `control` cancels it.

    Other Python threads run meanwhile. A canceled one gives what was read so far.

    Args:
        source: pcap or pcapng.
        control: Cancels it.
        joined: Whether interfaces are the ports of one tap.
        inside: Networks on the near side of the link, such as "192.0.2.0/24".
        only: Networks of which a packet has an end; others are left out.
        flows: Connections that are followed at a time; 65,536 without it.

    Raises:
        ValueError: If it is no capture, or a network is not valid; the message is one line.
        OSError: If the file cannot be opened or read.
        RuntimeError: If the analysis has a bug.
    """

@final
class Scenario:
    """A scenario: what was given, and what it means. `bufferlab.Scenario` is this class, documented."""

    @staticmethod
    def from_text(
        text: str, file: str | None, overrides: Mapping[str, object], read: Callable[[str], tuple[str, str]]
    ) -> Scenario: ...
    @staticmethod
    def from_toml(text: str, file: str | None, read: Callable[[str], tuple[str, str]]) -> Scenario: ...
    @staticmethod
    def from_json(text: str, file: str | None, read: Callable[[str], tuple[str, str]]) -> Scenario: ...
    @staticmethod
    def from_dict(
        table: Mapping[str, object], file: str | None, read: Callable[[str], tuple[str, str]]
    ) -> Scenario: ...
    @staticmethod
    def of_parts(
        parts: tuple[Mapping[str, object], str | None, str | None, Mapping[str, object]],
        read: Callable[[str], tuple[str, str]],
    ) -> Scenario: ...
    def with_overrides(self, overrides: Mapping[str, object]) -> Scenario: ...
    def twin(self, factor: int) -> Scenario: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_toml(self) -> str: ...
    def resolved_json(self) -> str: ...
    def seeded(self, seed: int | None = None) -> Seeded: ...
    def place(self, key: str) -> tuple[int, int] | None: ...
    def is_same(self, other: Scenario) -> bool: ...
    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str | None: ...
    @property
    def file(self) -> str | None: ...
    @property
    def overrides(self) -> dict[str, Any]: ...

@final
class Seeded:
    """A scenario under a seed. `bufferlab.scenario.Seeded` is this class, documented."""

    def plan_json(self) -> str: ...
    def resolved_json(self) -> str: ...
    def draws_json(self) -> str: ...

def parse_value(text: str) -> object: ...
def split_override(text: str) -> tuple[str, str]: ...
def trace_text(
    rate: str, length_ps: int | None, step_ps: int | None, read: Callable[[str], tuple[str, str]]
) -> str: ...
def plain(value: object, key: str) -> object: ...
def parse_quantity(kind: str, value: object, least: int) -> int: ...
def format_quantity(kind: str, amount: int) -> str: ...
def check_word(kind: str, value: object) -> None: ...
def size_unit(unit: str) -> tuple[str, int] | None: ...
def queue_words() -> dict[str, dict[str, Any]]: ...
def canonical_plan(text: str) -> str: ...
def hash_plan(text: str) -> str: ...
