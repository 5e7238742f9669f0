"""Simulate one run: a scenario and a seed, or a plan."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment import recording
from bufferlab.experiment.memory import check_memory, check_recording
from bufferlab.files import not_written
from bufferlab.plan import Plan, plan_hash, plan_json, plan_of
from bufferlab.results.engine_frames import from_outcome
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario

MAX_SEEDS: Final = 100_000
"""Most seeds in one call."""

ScenarioLike = Scenario | str | PathLike[str] | Mapping[str, Any]
"""A scenario, the path of its file, or its content as nested mappings."""


Engine = Callable[[str, _core.Control | None, str | None], _core.Outcome]
"""Runs a plan, given as JSON, to its end or until the control cancels it, and records what is asked."""


def prepare(scenario: ScenarioLike, overrides: Mapping[str, Any] | None = None) -> Scenario:
    """Read and check a scenario, with overrides applied.

    Raises:
        InputError: If it cannot be used.
    """
    if isinstance(scenario, Mapping):
        scenario = Scenario.from_dict(scenario)
    elif not isinstance(scenario, Scenario):
        try:
            path = Path(scenario)
        except TypeError:
            accepted = "a Scenario, the path of its file, or a mapping"
            raise InputError("is no scenario", key="scenario", value=scenario, accepted=accepted) from None
        return Scenario.load(path, overrides)
    return scenario.with_overrides(overrides) if overrides else scenario


def seed_list(seeds: int | Sequence[int], first: int) -> list[int]:
    """The seeds meant by a number of seeds, counted up from `first`, or by a list of them.

    Raises:
        InputError: If there are none, too many, or the same twice.
    """
    if not isinstance(seeds, int | Iterable):
        raise InputError(
            "is no number of seeds",
            key="seeds",
            value=seeds,
            accepted=f"1 to {MAX_SEEDS}, or a list of seeds",
        )
    wanted = (
        [first + index for index in range(min(seeds, MAX_SEEDS + 1))]
        if isinstance(seeds, int)
        else list(seeds)
    )
    if not 1 <= len(wanted) <= MAX_SEEDS:
        raise InputError(
            "is not a usable number of seeds",
            key="seeds",
            value=seeds if isinstance(seeds, int) else len(wanted),
            accepted=f"1 to {MAX_SEEDS}",
        )
    if len(set(wanted)) != len(wanted):
        raise InputError("names a seed twice", key="seeds", value=wanted, accepted="different seeds")
    return wanted


def simulate(
    scenario: Scenario,
    seed: int,
    control: _core.Control | None = None,
    asked: recording.Request | None = None,
    engine: Engine = _core.simulate,
) -> Result | None:
    """Simulate one seed in this thread, recording what is asked; `None` if `control` canceled it.

    Raises:
        InputError: If the engine refuses the plan.
        OutputError: If a recording's file cannot be opened.
    """
    seeded = scenario.seeded(seed)
    return simulate_plan(
        plan_of(seeded),
        control,
        resolved=seeded.resolved,
        name=scenario.title,
        scenario=scenario.to_toml(),
        overrides=scenario.overrides,
        file=scenario.file,
        files=scenario.files,
        record=(asked, asked.as_json(scenario)) if asked else None,
        engine=engine,
    )


_OF_GROUP: Final = re.compile(r"plan: groups\[(\d+)\]\.(?:source\.)?(\w+): (.*); accepted: (.*)")
_KEYS: Final = {"mss_bytes": "segment"}
"""Keys of a flow in a scenario, where the plan's have other names."""


def _refused(resolved: ResolvedScenario, message: str, file: str | None) -> InputError:
    """What the engine says of a plan; of a flow group with the scenario's names in place of the plan's."""
    found = _OF_GROUP.fullmatch(message)
    if found is None:
        return InputError(message, file=file)
    group, key, problem, accepted = found.groups()
    name = resolved["flows"][int(group)]["name"]
    return InputError(problem, file=file, key=f"flows.{name}.{_KEYS.get(key, key)}", accepted=accepted)


def simulate_plan(
    plan: Plan,
    control: _core.Control | None = None,
    *,
    resolved: ResolvedScenario,
    name: str,
    scenario: str,
    overrides: Mapping[str, Any],
    file: str | None = None,
    files: Mapping[str, str] | None = None,
    brief: bool = False,
    record: tuple[recording.Request, str] | None = None,
    engine: Engine = _core.simulate,
) -> Result | None:
    """Simulate a plan in this thread; `None` if `control` canceled it.

    Args:
        plan: The plan.
        control: Cancels it, and tells how far it is.
        resolved: The scenario under the plan's seed.
        name: Title of the scenario, for the result.
        scenario: The scenario as TOML, for the result.
        overrides: Its overrides by path, for the result.
        file: The scenario's file, for messages.
        files: What the files hold that the scenario names, for the result.
        brief: Only the frames that a summary needs, for runs that take no longer than their other frames.
        record: What to record, and the same as the engine takes it.
        engine: Who runs it.

    Raises:
        InputError: If the engine refuses the plan, or its rows or recorded packets do not fit into memory.
    """
    check_memory(resolved)
    if record:
        check_recording(plan)
    text = plan_json(plan)
    began_s = time.thread_time()
    try:
        outcome = engine(text, control, record[1] if record else None)
    except ValueError as error:
        raise _refused(resolved, str(error), file) from error
    except OSError as error:
        raise not_written(error.filename, error) from error
    cpu_s = time.thread_time() - began_s
    if outcome.canceled:
        return None
    return Result(
        name=name,
        scenario=scenario,
        overrides=overrides,
        resolved=resolved,
        plan=plan,
        plan_hash=plan_hash(text),
        frames=from_outcome(outcome, resolved, plan, brief=brief),
        reached_ps=outcome.reached_ps,
        events=outcome.events,
        packets=outcome.packets,
        cpu_s=cpu_s,
        version=_core.engine_version,
        recordings=record[0].finished(outcome.recordings) if record else (),
        files=files or {},
    )
