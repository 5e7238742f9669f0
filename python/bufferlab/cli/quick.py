"""What is asked about: a scenario's file, or a few numbers that stand for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from bufferlab.cli.answers import check_figure
from bufferlab.cli.naming import OF_NUMBERS
from bufferlab.errors import NO_VALUE, InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.internet import SPREAD, STACK, about_controls, about_round_trips, spread_of
from bufferlab.units import PS_PER_MS, parse_time

MOST_CALLS: Final = 10_000
"""Calls that can be asked for beside the flows; a scenario file may have more."""

ScenarioFileOrNumbers = Annotated[
    Path | None,
    typer.Argument(
        help="Scenario file, TOML or JSON; or give --rate, --rtt and --flows.", show_default=False
    ),
]
LinkRate = Annotated[str | None, typer.Option(help="Rate of the link: '100 Mbps'.", show_default=False)]
RoundTrip = Annotated[
    str | None, typer.Option(help="Mean round-trip time without queueing: '100 ms'.", show_default=False)
]
FlowCounts = Annotated[
    str | None,
    typer.Option(
        help="Number of long-lived flows: 200 for the Internet's mix of CUBIC and BBR, or by protocol: "
        "cubic:200, reno:42,bic:51.",
        show_default=False,
    ),
]
Mix = Annotated[
    str | None,
    typer.Option(help="With --flows N: shares of the protocols, reno:40%,cubic:60%.", show_default=False),
]
Spread = Annotated[
    float | None,
    typer.Option(
        help="With --rate: round-trip times are spaced evenly over rtt*(1 +- spread). "
        f"[default: {SPREAD:g}, less from a satellite's round trip on, and 0 if --rtt is a law]",
        show_default=False,
    ),
]
Segment = Annotated[
    str | None,
    typer.Option(help="With --rate: payload of a full segment; default the stack's.", show_default=False),
]
Calls = Annotated[
    int | None,
    typer.Option(
        help="With --rate: calls beside the flows (G.711: 200 bytes every 20 ms); default none.",
        show_default=False,
        min=1,
        max=MOST_CALLS,
    ),
]
Stack = Annotated[str, typer.Option(help="With --rate: preset of the TCP keys.")]
WrittenScenario = Annotated[
    Path | None,
    typer.Option(
        "--scenario",
        help="Write the scenario that --rate or --home stand for into this new file, to edit, run and "
        "compare; of advise also a copy of a file, with the answer in place.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Quick:
    """The options that stand for a scenario file.

    Attributes:
        rate: Rate of the link.
        rtt: Mean round-trip time.
        flows: Numbers of flows.
        mix: Shares of the protocols.
        spread: How far round-trip times spread.
        stack: Preset of the TCP keys.
        details: Other arguments of `quick_scenario`.
        call_dscp: What calls are marked with, where the platform sorts by that; `None` for nothing.
    """

    rate: str | None
    rtt: str | None
    flows: str | None
    mix: str | None
    spread: float | None = None
    stack: str = STACK
    details: dict[str, Any] = field(default_factory=dict)
    call_dscp: str | None = None

    def given(self) -> list[str]:
        """Those that were given."""
        names = ("rate", "rtt", "flows", "mix", "spread")
        values = {name: getattr(self, name) for name in names} | self.details
        return [f"--{name}" for name, value in values.items() if value is not None]


def check_new(path: Path | None, given: Path | None = None, plot: Path | None = None) -> None:
    """Check before the work that a scenario can be written: what somebody may have edited is not replaced.

    Args:
        path: Where to, if anywhere.
        given: The scenario that is asked about, if it is a file's.
        plot: Where the figure goes, if anywhere.

    Raises:
        InputError: There is such a file, or will be the figure; or there is nothing to write.
        OutputError: It cannot be written.
    """
    from bufferlab.files import check_writable  # noqa: PLC0415 - slow to import, and no help needs it

    if path is None:
        return
    if given is not None:
        raise InputError(
            "writes what --rate or --home stand for", key="--scenario", value=str(path), accepted="no file"
        )
    check_writable(path)
    if path.exists():
        accepted = f"a new name; or, to go on with it, {path} in place of --scenario, --rate and the like"
        raise InputError("is there already", key="--scenario", value=str(path), accepted=accepted)
    if plot is not None and path.absolute() in {file.absolute() for file in check_figure(plot)}:
        raise InputError("is the figure's file, too", key="--scenario", value=str(path), accepted="another")


@contextmanager
def taken_back(path: Path | None) -> Iterator[None]:
    """Where what is asked is refused, what was written for it goes: the next try may have its name.

    Args:
        path: Where it was written, if anywhere.
    """
    from bufferlab.cli.common import say  # noqa: PLC0415 - slow to import, and no help needs it

    try:
        yield
    except InputError:
        if path is not None:
            path.unlink(missing_ok=True)
            say(f"took {path} away again")
        raise


def write_scenario(
    path: Path | None, scenario: Scenario, assumed: Sequence[str], *, answer: str | None = None
) -> None:
    """Write a scenario of numbers or a file, with what was assumed; tell what can be done with it.

    What other files it names is copied into a folder beside it.

    Args:
        path: Where to, if anywhere.
        scenario: The scenario.
        assumed: What was assumed.
        answer: The answer that it has in place; `None` before there is one.
    """
    from bufferlab.cli.common import say  # noqa: PLC0415 - slow to import, and no help needs it
    from bufferlab.files import make_folder, write_whole  # noqa: PLC0415
    from bufferlab.scenario import beside  # noqa: PLC0415

    if path is None:
        return
    lines = [*([] if answer is None else [f"answer: {answer}"]), *(f"assumed: {line}" for line in assumed)]
    head = "".join(f"# {line}\n" for line in lines)
    text, files = beside(scenario.to_toml(), scenario.files, f"{path.stem}-files")
    for name, content in files.items():
        file = path.parent / name
        make_folder(file.parent)
        write_whole(file, content)
    write_whole(path, f"{head}\n{text}" if head else text)
    if answer is None:
        say(f"wrote {path}: bufferlab run {path} runs it, bufferlab compare {path} compares its queues")
    else:
        say(f"{path} has the answer in place now: bufferlab run {path} --seeds 5 tries it")


def load(
    scenario: Path | None, quick: Quick, overrides: Mapping[str, str], *, to: str, simulates: bool = True
) -> tuple[Scenario, list[str]]:
    """The scenario of a file or of the numbers, and what was assumed that the numbers do not say.

    Args:
        scenario: The file.
        quick: The numbers.
        overrides: What `--set` changes.
        to: What is to be done with it, for the error if there is nothing.
        simulates: Whether it is to be simulated: rules ask for long-lived flows alone.

    Raises:
        InputError: There are both or none, or they cannot be used.
    """
    if scenario is not None:
        if quick.given():
            raise InputError(
                "does not go with a scenario file",
                key=quick.given()[0],
                accepted="--set to change the scenario's values",
            )
        from bufferlab.studies.buffers import prepare_open  # noqa: PLC0415 - slow to import, and no help needs it

        return prepare_open(scenario, overrides), []
    if quick.rate is None or quick.rtt is None or quick.flows is None:
        raise _incomplete(quick, to)
    from bufferlab.cli.size_input import is_number, read_groups  # noqa: PLC0415 - slow to import, and no help needs it
    from bufferlab.experiment.simulation import prepare  # noqa: PLC0415 - slow to import, and no help needs it
    from bufferlab.studies.size.quick import quick_scenario  # noqa: PLC0415 - slow to import, and no help needs it

    groups = read_groups(quick.flows, quick.mix, quick.stack)
    spread = quick.spread
    if spread is None:
        spread = _usual_spread(quick.rtt)
    with _naming_options():
        content = quick_scenario(
            quick.rate,
            quick.rtt,
            groups,
            spread=spread,
            stack=quick.stack,
            duration=overrides.get("run.duration"),
            call_dscp=quick.call_dscp,
            **quick.details,
        )
        made = Scenario.from_dict(content, file=OF_NUMBERS)
    assumed = []
    if is_number(quick.flows) and quick.mix is None and quick.stack == STACK:
        assumed.append(about_controls(int(quick.flows)))
    if quick.spread is None and spread and any(count > 1 for _, count in groups):
        assumed.append(about_round_trips(spread))
    if simulates and quick.details.get("calls") is None:
        assumed.append("no calls, pages or pings: --calls adds calls, a scenario file all of them")
    elif simulates:
        assumed.append("calls and data cross the link in one direction; advise --home answers both of a line")
        if quick.call_dscp is not None:
            assumed.append(f"calls come marked {quick.call_dscp}, and nothing else does")
    return prepare(made, overrides), assumed


def _usual_spread(rtt: str) -> float:
    """How far round-trip times spread if nobody said it."""
    if _is_law(rtt):
        return 0.0
    try:
        return spread_of(parse_time(rtt) / PS_PER_MS)
    except InputError:  # the scenario that is made of it refuses it, and names the option
        return SPREAD


def _incomplete(quick: Quick, to: str) -> InputError:
    """That numbers are missing which stand for a scenario: which, if some are there."""
    known = {"--rate": quick.rate, "--rtt": quick.rtt, "--flows": quick.flows}
    missing = [option for option, value in known.items() if value is None]
    accepted = "a scenario file, or all of --rate, --rtt and --flows"
    if len(missing) == len(known):
        return InputError(f"nothing to {to}", accepted=accepted)
    return InputError(f"nothing to {to}: {' and '.join(missing)} missing", accepted=accepted)


def _is_law(rtt: str) -> bool:
    """Whether round-trip times are drawn, as with "uniform(20 ms, 60 ms)": they spread by themselves then."""
    return "(" in rtt


def may_lengthen(scenario: Path | None, overrides: Mapping[str, str]) -> bool:
    """Whether runs may be longer than at first: if nobody has said how long they are.

    Args:
        scenario: The file, which says so.
        overrides: What `--set` changes.
    """
    return scenario is None and not {"run", "run.duration", "run.warmup"} & overrides.keys()


_OPTIONS: Final = {
    "bottleneck.rate": "--rate",
    "rtt": "--rtt",
    "count": "--flows",
    "rtt_spread": "--spread",
    "segment": "--segment",
    "run.stack": "--stack",
}
"""The options by what they become; of flows by the last part of the key."""


@contextmanager
def _naming_options() -> Iterator[None]:
    """Have errors name the option in place of what it becomes, once for all groups of flows."""
    try:
        yield
    except InputError as error:
        named = {str(each): each for each in map(_named, (error, *error.others))}
        raise InputError.of(list(named.values())) from None


def _named(mistake: InputError) -> InputError:
    key = mistake.key or ""
    option = _OPTIONS.get(key.rpartition(".")[2] if key.startswith("flows[") else key)
    if option is None:
        return mistake
    value = NO_VALUE if option == "--flows" else mistake.value  # which names a group's share of them
    return InputError(mistake.problem, key=option, value=value, accepted=mistake.accepted)
