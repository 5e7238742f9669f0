"""What a run needs of memory, estimated before it begins: rows of exchanges, and recorded packets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bufferlab.errors import InputError
from bufferlab.plan import Plan
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedApplication, ResolvedScenario

_ROW_BYTES: Final = 280
"""Most that a row of the exchanges took, B, in the engine and in the tables: 1, 5 and 10 million pings."""

_FLIGHT_BYTES: Final = 350
"""What a recorded packet takes while it is in flight, B: 13 million took 4.5 GB, whatever the limit."""

_SMALL_BYTES: Final = 200 * 10**6
"""Less than that is not looked at, B."""


def check_memory(resolved: ResolvedScenario) -> None:
    """Refuse a run whose rows do not fit into the memory that is free now.

    Raises:
        InputError: They do not; it says what they need and what to change.
    """
    rows = exchange_rows(resolved)
    _refuse_beyond_free(
        rows * _ROW_BYTES,
        lambda needed: f"the run makes {rows:,} rows of exchanges, which take about {needed} of memory",
        "a longer interval of pings or recorded datagrams, fewer of such flows, a shorter run, "
        "or fewer --threads",
    )


def check_recording(plan: Plan) -> None:
    """Refuse to record a run whose packets in flight do not fit into the memory that is free now.

    Raises:
        InputError: They do not; it says what they need and what to change.
    """
    packets = packets_in_flight(plan)
    _refuse_beyond_free(
        packets * _FLIGHT_BYTES,
        lambda needed: (
            f"up to {packets:,} packets are in flight, which take about {needed} of memory "
            "while they are recorded"
        ),
        "no --pcap or --trace, a lower rate, shorter round trips, smaller buffers or windows, "
        "or fewer --threads",
    )


def _refuse_beyond_free(needed: int, why: Callable[[str], str], accepted: str) -> None:
    """Refuse what needs more memory than is free now, B."""
    if needed < _SMALL_BYTES:
        return
    free = free_memory()
    if free is not None and needed > free:
        text = why(f"{needed / 1e9:.1f} GB")
        raise InputError(f"{text}; {free / 1e9:.1f} GB are free", accepted=accepted)


def packets_in_flight(plan: Plan) -> int:
    """How many packets may be in flight at once, at most: what the slowest links and the windows let be."""
    flows = plan["flows"]
    counts: dict[int, int] = defaultdict(int)
    longest: dict[int, int] = defaultdict(int)
    ways = ("source_delay_ps", "sink_delay_ps", "return_delay_ps", "home_delay_ps")
    for group, *delays in zip(flows["group"], *(flows[way] for way in ways), strict=True):
        counts[group] += 1
        longest[group] = max(longest[group], sum(delays))
    offered: dict[int, int] = defaultdict(int)
    carried: dict[int, int] = defaultdict(int)
    for index, count in counts.items():
        group = plan["groups"][index]
        slowest = min(group["forward"], key=lambda link: plan["links"][link]["rate_bps"])
        path = [*group["forward"], *group["reverse"]]
        rtt_ps = longest[index] + sum(plan["links"][link]["delay_ps"] for link in path)
        time_ps = min(rtt_ps, plan["duration_ps"])
        packet_bytes, most = _of_flow(group["source"], time_ps)
        offered[slowest] += count * most
        rate_bps = plan["links"][slowest]["rate_bps"]
        carried[slowest] = max(carried[slowest], rate_bps * time_ps // (8 * packet_bytes * PS_PER_S))
    return sum(
        min(offered[link], carried[link] + _room(plan["links"][link], offered[link])) for link in offered
    )


def _of_flow(source: Mapping[str, Any], time_ps: int) -> tuple[int, int]:
    """Size of a flow's packets, B, and how many of them it has in flight at most."""
    if source["kind"] == "udp":
        return source["packet_bytes"], time_ps // max(source["interval_ps"], 1) + 1
    if source["kind"] == "video_call":
        packet_bytes = source["packet_bytes"]
        return packet_bytes, time_ps * source["max_bps"] // (8 * packet_bytes * PS_PER_S) + 1
    segment_bytes = source["mss_bytes"]
    segments = source["receive_window_bytes"] // max(segment_bytes, 1)
    if source["transfer_bytes"] is not None:
        segments = min(segments, -(-source["transfer_bytes"] // max(segment_bytes, 1)))
    return segment_bytes + source["header_bytes"], max(segments, 1)


def _room(link: Mapping[str, Any], offered: int) -> int:
    """Packets that wait at a link at most."""
    limit = link["discipline"]["limit"]
    if not isinstance(limit, dict):
        return offered
    return int(limit["packets"] if "packets" in limit else limit["bytes"] // 40)


def exchange_rows(resolved: ResolvedScenario) -> int:
    """How many rows pings, recorded datagrams and video calls make, at most."""
    rows = 0
    for flow in resolved["flows"]:
        interval_ps = _interval_ps(flow["application"])
        if interval_ps is not None:
            rows += flow["count"] * (resolved["run"]["duration_ps"] // max(interval_ps, 1))
    return rows


def _interval_ps(application: ResolvedApplication) -> int | None:
    """Least time between what makes rows of its own; `None` if nothing does."""
    if application["kind"] == "video-call":
        return 8 * application["packet_bytes"] * PS_PER_S // application["max_rate_bps"]
    if application["kind"] == "ping" or (application["kind"] == "udp" and application["record"]):
        return application["interval_ps"]
    return None


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
