"""Searches a scenario's least buffer: which runs, in rounds that follow from what earlier ones measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from bufferlab.errors import InputError
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import ScenarioLike, prepare
from bufferlab.results.links import choose_link
from bufferlab.results.links import packet_bytes as full_packet_bytes
from bufferlab.scenario import Scenario, Seeded, check_buffer
from bufferlab.studies.search.answer import Mode, Searched
from bufferlab.studies.search.goal import TARGETS, Goal
from bufferlab.studies.search.least import (
    SCAN_ROUNDS,
    SCAN_SIZES,
    Effort,
    Evaluate,
    Found,
    search_least,
    size_grid,
)
from bufferlab.studies.search.live import Live, Simulated, timing_for
from bufferlab.studies.search.restart import Restarts, with_buffer
from bufferlab.studies.search.settling import ROUND_TRIPS, Settling, settling
from bufferlab.units import MAX_TIME_PS, PS_PER_S

if TYPE_CHECKING:
    pass

DEFAULT_BOUNDS: Final = "1..1bdp"
BOUNDS_ACCEPTED: Final = "two buffers, the smaller one first, such as 1..1bdp or 10..500 packets"

FULL: Final = 0.995
"""A calibrated rate below this share of the link's is worth a word."""


def search(
    scenario: ScenarioLike,
    goal: Goal,
    *,
    link: str | None = None,
    bounds: str = DEFAULT_BOUNDS,
    effort: Effort | None = None,
    mode: Mode = "restart",
    threads: int | None = None,
    progress: bool | None = None,
    overrides: Mapping[str, Any] | None = None,
    runner: Runner | None = None,
) -> Searched:
    """Search the least buffer of a link that meets a goal; if it is a delay alone, the largest that keeps it.

    Args:
        scenario: A scenario, the path of its file, or its content as nested mappings.
        goal: What is asked.
        link: Whose buffer; default the slowest that data crosses.
        bounds: Where to search: two buffers with ".." between them; a number alone is packets.
        effort: How sure and how exact the answer shall be.
        mode: "restart" measures each buffer in a run of its own; "live" changes the buffer of one run, as
            testbeds do.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        overrides: Values that replace those of the scenario, by path.
        runner: Runs the simulations; default a plain one with `threads` and `progress`. In the mode "live"
            nothing is kept in its store: where a search goes on depends on all that the one run has seen.

    Raises:
        InputError: If the scenario or an argument cannot be used.
        RunInterrupted: At Ctrl-C, with what was found until then; `None` before the calibration is over.
    """
    effort = checked(effort or Effort())
    base = prepare(scenario, overrides)
    if base.probes is not None:  # nobody looks at time series of measurements
        base = base.with_overrides({"probes": None})
    seeded = base.seeded()
    index = 0 if link is None and len(base.links) == 1 else choose_link(seeded.resolved, link)
    packet_bytes = full_packet_bytes(seeded.resolved, index)
    low, high = parse_bounds(bounds, base, index, packet_bytes)
    plenty = max(high, _packets("1 bdp", base, index, packet_bytes))
    times = settling(seeded, index, plenty, packet_bytes)
    sizes = size_grid(low, high, effort.resolution)

    def searched(found: Found) -> Searched:
        short = _short_runs(base, times) if mode == "restart" else []
        warnings = (*found.warnings, *short, *_calibration(found, base.links[index]["rate_bps"]))
        return Searched(
            name=base.title,
            link=base.links[index]["name"],
            resolved=seeded.resolved,
            mode=mode,
            rate_bps=base.links[index]["rate_bps"],
            packet_bytes=packet_bytes,
            settling=times,
            found=dataclasses.replace(found, warnings=warnings),
        )

    with runner or Runner(threads=threads, progress=progress) as keeping:
        if mode == "live":
            evaluate = _live(base, seeded, index, plenty=plenty, times=times, effort=effort)
        else:
            evaluate = Restarts(base, index, base.run["seed"], keeping).evaluate
        with keeping.bar(base.title) as bar:
            try:
                return searched(search_least(evaluate, goal, sizes, plenty, effort=effort, bar=bar))
            except RunInterrupted as interrupted:
                if isinstance(interrupted.finished, Found):
                    raise interrupted.concluded(searched(interrupted.finished)) from interrupted
                raise interrupted.concluded(None) from interrupted


def _live(
    scenario: Scenario, seeded: Seeded, link: int, *, plenty: int, times: Settling, effort: Effort
) -> Evaluate:
    """A run that continues until the search is over, from the moment at which all flows have started."""
    timing = timing_for(times)
    started_s = max(max(drawn["start_ps"]) for drawn in seeded.draws) / PS_PER_S
    measurements = SCAN_ROUNDS * (SCAN_SIZES + 1) + effort.rounds * effort.sizes_a_round
    duration_s = started_s + timing.settle_s + measurements * timing.measurement_s
    if duration_s * PS_PER_S > MAX_TIME_PS:
        raise InputError(
            f"may take {duration_s:.3g} s of simulated time, as a flow's cycle takes {times.cycle_s:.3g} s",
            key="mode",
            value="live",
            accepted=f"fewer --seeds, for at most {MAX_TIME_PS / PS_PER_S:g} s, or --mode restart",
        )
    engine = Simulated(scenario, link, scenario.run["seed"], duration_s=duration_s, packets=plenty)
    engine.advance(started_s)
    return Live(engine, timing).evaluate


def checked(effort: Effort) -> Effort:
    """The same effort, if it can be made.

    Raises:
        InputError: A value out of bounds.
    """
    limits = (
        ("confidence", 0.5 <= effort.confidence < 1.0, "from 0.5 to below 1, such as 0.95"),
        ("resolution", 0.01 <= effort.resolution <= 1.0, "from 0.01 to 1, such as 0.1 for 10 %"),
        ("seeds", effort.rounds > SCAN_ROUNDS, f"more than {SCAN_ROUNDS}, which the calibration takes"),
    )
    values = {"confidence": effort.confidence, "resolution": effort.resolution, "seeds": effort.rounds}
    for key, fits, accepted in limits:
        if not fits:
            raise InputError("is out of bounds", key=key, value=values[key], accepted=accepted)
    return effort


def parse_bounds(text: str, scenario: Scenario, link: int, packet_bytes: int) -> tuple[int, int]:
    """Least and most packets of the search.

    Raises:
        InputError: If they are none, or crossed.
    """
    ends = [part.strip() for part in text.split("..")]
    if len(ends) != 2 or not all(ends):
        raise InputError("is not a range of buffers", key="bounds", value=text, accepted=BOUNDS_ACCEPTED)
    low, high = (
        _packets(f"{end} packets" if end.isdecimal() else end, scenario, link, packet_bytes) for end in ends
    )
    if low >= high:
        raise InputError(
            f"is no range: {low} packets up to {high} packets",
            key="bounds",
            value=text,
            accepted=BOUNDS_ACCEPTED,
        )
    return low, high


def _packets(text: str, scenario: Scenario, link: int, packet_bytes: int) -> int:
    """A buffer as written, in packets, at least one."""
    try:
        check_buffer(text)
    except InputError as error:
        raise error.at(key="bounds") from None
    limit = with_buffer(scenario, link, text).seeded().resolved["links"][link]["buffer"]["limit"]
    if limit is None or limit == "unlimited":
        raise InputError("has no end", key="bounds", value=text, accepted=BOUNDS_ACCEPTED)
    return limit["packets"] if "packets" in limit else max(1, limit["bytes"] // packet_bytes)


def _short_runs(scenario: Scenario, times: Settling) -> list[str]:
    """Warnings about runs that are too short."""
    warmup_s = scenario.run["warmup_ps"] / PS_PER_S
    measured_s = scenario.run["duration_ps"] / PS_PER_S - warmup_s
    found = []
    if warmup_s < times.settle_s:
        found.append(
            f"the warm-up of {warmup_s:g} s is shorter than a timeout and {ROUND_TRIPS} round trips, "
            f"{times.settle_s:.3g} s: use --set run.warmup='{times.settle_s * 2:.2g} s' or more"
        )
    if measured_s < 2 * times.cycle_s:
        found.append(
            f"only {measured_s:g} s are measured, but a flow takes up to {times.cycle_s:.3g} s from loss to "
            "loss: use longer runs"
        )
    return found


def _calibration(found: Found, rate_bps: int) -> list[str]:
    """A warning about a link that no buffer fills."""
    share = found.full_rate_bps / rate_bps
    if found.goal.utilization is None or share >= FULL:
        return []
    used = TARGETS["utilization"].unit
    return [
        f"even with a large buffer ({found.calibrated_at} packets) the link carries only "
        f"{used.quantity(share)} of its rate; that counts as {used.quantity(1)}"
    ]
