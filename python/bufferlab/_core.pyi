"""The engine, compiled. Tables follow the Arrow PyCapsule interface: `polars.DataFrame(table)` reads them."""

from typing import Final, final

__all__ = [
    "ALL_CLASSES",
    "ALL_GROUPS",
    "PLAN_VERSION",
    "Control",
    "FlowState",
    "LinkCounters",
    "Outcome",
    "Session",
    "Table",
    "engine_fingerprint",
    "engine_version",
    "simulate",
]

ALL_GROUPS: Final[int]
"""Stands for "all groups" in the column `group` of queues and histograms."""

ALL_CLASSES: Final[int]
"""Stands for "all classes" in the column `class` of class samples."""

PLAN_VERSION: Final[int]
"""The format of plans that this engine reads."""

engine_version: Final[str]

engine_fingerprint: Final[str]
"""Hash of the engine's sources, 16 hexadecimal digits: two engines of one version differ in it."""

@final
class Control:
    """A handle on a running simulation, for any thread."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None: ...
    def reached_ps(self) -> int: ...

@final
class Table:
    """Columns on their way to a data frame, without a copy."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...

@final
class Outcome:
    """What a run measured; the columns are those of `crates/simulator/src/outcome.rs`."""

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

def simulate(plan_json: str, control: Control | None = None, recording_json: str | None = None) -> Outcome:
    """Run a plan to its end, or until `control` cancels it; other Python threads run meanwhile.

    Raises:
        ValueError: If the plan is not valid; the message is one line.
        OSError: If a recording's file cannot be opened.
        RuntimeError: If the engine has a bug.
    """
