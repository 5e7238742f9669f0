"""What `advise` answers for at once: several links of a scenario, or both directions of a home's line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bufferlab.cli.quick import Quick
from bufferlab.configure import PLATFORMS, read_linklayer
from bufferlab.configure.platform import DOWNLOAD, UPLOAD
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.home import (
    RTT,
    SHARE,
    about_home,
    about_shapers,
    home_scenario,
    read_rates,
    read_share,
    shaped_to,
)
from bufferlab.studies.internet import STACK
from bufferlab.studies.words import EACH

if TYPE_CHECKING:
    from bufferlab.studies.advise.joint import Shaped


def complete_links(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes names of links, with commas between them: those of the scenario file that is given."""
    start, comma, last = incomplete.rpartition(",")
    names = _names(ctx)
    words = names if comma else [EACH, *names]
    return [f"{start}{comma}{word}" for word in words if word.startswith(last)]


def _names(ctx: typer.Context) -> list[str]:
    """Names of the links that a line so far is about; an unfinished line has its file among the rest."""
    if ctx.params.get("home") is not None:
        return [DOWNLOAD, UPLOAD]
    given = [ctx.params.get("scenario"), *ctx.args]
    for path in (Path(each) for each in given if each is not None):
        try:
            return [str(link["name"]) for link in Scenario.load(path).links]
        except (InputError, OSError):
            continue
    return []


Links = Annotated[
    str | None,
    typer.Option(
        help=f"Link in question; default the slowest. Several with commas, or {EACH}: an answer for each, "
        "and what they do together.",
        autocompletion=complete_links,
        show_default=False,
    ),
]
Home = Annotated[
    str | None,
    typer.Option(
        metavar="DOWN/UP",
        help="A home's line in both directions, in place of a scenario: 50/10Mbps, '1 Gbps/50 Mbps'. With "
        f"--rtt [default: {RTT}] and --share.",
        show_default=False,
    ),
]
Share = Annotated[
    str | None,
    typer.Option(
        help="With --home: the shapers' rates as a share of the line's. "
        f"[default: {float(SHARE) * 100:g} %, as OpenWrt's SQM page says]",
        show_default=False,
    ),
]

LineLayer = Annotated[
    str | None,
    typer.Option(
        "--linklayer",
        metavar="KIND BYTES",
        help="With --home: what the line takes for a packet beyond what the interface counts, in the lines "
        "to type: 'ethernet 16 B' (VDSL2 with PPPoE), 'atm 26 B'.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class HomeLine:
    """A home's line.

    Attributes:
        scenario: It, with its traffic.
        assumed: What was taken for granted.
        shaped: Its shapers.
    """

    scenario: Scenario
    assumed: list[str]
    shaped: Shaped


def is_several(link: str | None) -> bool:
    """Whether `--link` asks about several links."""
    return link is not None and (link.strip() == EACH or "," in link)


def check_linklayer(linklayer: str | None, platform: str, *, both: bool) -> None:
    """Check that a link layer is one, and that there are lines for it.

    Args:
        linklayer: It.
        platform: What lines are for.
        both: Whether both directions of a home's line are asked about.

    Raises:
        InputError: It is none, or there are no such lines.
    """
    if linklayer is None:
        return
    if not both:
        raise InputError("goes with --home", key="--linklayer", accepted="--home 50/10Mbps, both directions")
    able = [name for name, each in PLATFORMS.items() if each.linklayers]
    if platform not in able:
        raise InputError(
            f"has no line on {platform}", key="--linklayer", accepted=f"--platform {' or '.join(able)}"
        )
    try:
        read_linklayer(linklayer)
    except InputError as error:
        raise InputError(
            error.problem, key="--linklayer", value=error.value, accepted=error.accepted
        ) from None


def home_line(
    home: str | None, share: str | None, scenario: Path | None, numbers: Quick, overrides: Mapping[str, str]
) -> HomeLine | None:
    """The line that `--home` is about; `None` without it.

    Raises:
        InputError: The rates, or what goes with them, cannot be used.
    """
    if home is None:
        if share is not None:
            raise InputError("goes with --home", key="--share", accepted="--home 50/10Mbps with it")
        return None
    others = [name for name in numbers.given() if name != "--rtt"]
    others += ["--stack"] if numbers.stack != STACK else []
    if scenario is not None or others:
        other = "a scenario file" if scenario is not None else others[0]
        raise InputError(
            f"does not go with {other}",
            key="--home",
            accepted="--home with --rtt, --share, --link and --set; examples/home-line.toml to change more",
        )
    from bufferlab.experiment.simulation import prepare  # noqa: PLC0415 - slow to import, and no help needs it

    rates, part = read_rates(home), SHARE if share is None else read_share(share)
    try:
        content = home_scenario(rates, rtt=numbers.rtt or RTT, share=Fraction(part))
    except InputError as error:
        raise InputError(error.problem, key="--rtt", value=error.value, accepted=error.accepted) from None
    loaded = prepare(Scenario.from_dict(content, file="--home"), overrides)
    assumed = [*about_home(numbers.rtt), about_shapers(rates, part)]
    return HomeLine(loaded, assumed, shaped_to(rates, part))
