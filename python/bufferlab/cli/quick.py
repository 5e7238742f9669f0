"""What is asked about: a scenario's file, or a few numbers that stand for one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bufferlab.cli.size_input import read_groups
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.size import quick_scenario

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
        help="Number of long-lived flows: 200, or by protocol: reno:42,bic:51,cubic-0.8:30.",
        show_default=False,
    ),
]
Mix = Annotated[
    str | None,
    typer.Option(help="With --flows N: shares of the protocols, reno:40%,cubic:60%.", show_default=False),
]
Spread = Annotated[
    float, typer.Option(help="With --rate: round-trip times are spaced evenly over rtt*(1 +- spread).")
]

Stack = Annotated[str, typer.Option(help="With --rate: preset of the TCP keys.")]


@dataclass(frozen=True)
class Quick:
    """The options that stand for a scenario file.

    Attributes:
        rate: Rate of the link.
        rtt: Mean round-trip time.
        flows: Numbers of flows.
        mix: Shares of the protocols.
        details: Other arguments of `quick_scenario`.
    """

    rate: str | None
    rtt: str | None
    flows: str | None
    mix: str | None
    details: dict[str, Any]

    def given(self) -> list[str]:
        """Those that were given."""
        return [f"--{name}" for name in ("rate", "rtt", "flows", "mix") if getattr(self, name) is not None]


def load(scenario: Path | None, quick: Quick, *, to: str) -> Scenario:
    """The scenario of a file or of the numbers.

    Args:
        scenario: The file.
        quick: The numbers.
        to: What is to be done with it, for the error if there is nothing.

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
        return Scenario.load(scenario)
    if quick.rate is None or quick.rtt is None or quick.flows is None:
        raise InputError(f"nothing to {to}", accepted="a scenario file, or all of --rate, --rtt and --flows")
    groups = read_groups(quick.flows, quick.mix)
    content = quick_scenario(quick.rate, quick.rtt, groups, **quick.details)
    return Scenario.from_dict(content, file="--rate/--rtt/--flows")
