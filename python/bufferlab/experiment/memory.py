"""What a run needs of memory, estimated before it begins: the rows that pings and recorded datagrams make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from bufferlab.errors import InputError

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario

_ROW_BYTES: Final = 280
"""Most that a row of the exchanges took, B, in the engine and in the tables: 1, 5 and 10 million pings."""

_SMALL_BYTES: Final = 200 * 10**6
"""Less than that is not looked at, B."""


def check_memory(resolved: ResolvedScenario) -> None:
    """Refuse a run whose rows do not fit into the memory that is free now.

    Raises:
        InputError: They do not; it says what they need and what to change.
    """
    rows = exchange_rows(resolved)
    needed = rows * _ROW_BYTES
    if needed < _SMALL_BYTES:
        return
    free = free_memory()
    if free is not None and needed > free:
        raise InputError(
            f"the run makes {rows:,} rows of exchanges, which take about {needed / 1e9:.1f} GB of memory; "
            f"{free / 1e9:.1f} GB are free",
            accepted="a longer interval of pings or recorded datagrams, fewer of such flows, a shorter run, "
            "or fewer --threads",
        )


def exchange_rows(resolved: ResolvedScenario) -> int:
    """How many rows pings and recorded datagrams make."""
    return sum(
        flow["count"] * (resolved["run"]["duration_ps"] // max(application["interval_ps"], 1))
        for flow in resolved["flows"]
        if (application := flow["application"])["kind"] == "ping"
        or (application["kind"] == "udp" and application["record"])
    )


def free_memory() -> int | None:
    """Memory that programs can have now, B; `None` if the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return None
    words = dict(line.split(":", 1) for line in lines if ":" in line).get("MemAvailable", "").split()
    free = int(words[0]) * 1024 if words else None
    limits = [each for each in (free, _left_of_address_space()) if each is not None]
    return min(limits, default=None)


def _left_of_address_space() -> int | None:
    """What a limit of the process (`ulimit -v`) leaves, B; `None` without one."""
    import resource  # noqa: PLC0415 - for large runs only

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    return max(0, limit - pages * resource.getpagesize())
