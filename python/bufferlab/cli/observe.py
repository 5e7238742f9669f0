"""`bufferlab observe`: from a capture to a buffer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from bufferlab.cli.answers import Plot
from bufferlab.cli.common import say
from bufferlab.cli.options import AsJson
from bufferlab.errors import InputError
from bufferlab.studies.words import OWN

if TYPE_CHECKING:
    from bufferlab.captured.findings import Findings
    from bufferlab.captured.scenario import Known
    from bufferlab.captured.sockets import Sockets
    from bufferlab.scenario import Scenario

_EXAMPLES: Final = """\b
Examples:
  bufferlab observe link.pcapng
  bufferlab observe link.pcap.gz --scenario link.toml --advise
  tcpdump -i eth0 -s 128 -w - | bufferlab observe -
  bufferlab observe --flent tcp_nup.flent.gz --scenario link.toml
"""

_MEANT: Final = {"--rate": "the link's rate", "--rtt": "the flows' round trip"}
"""What options name."""

_WHOLE: Final = "the evidence is left out: --advise without --quick has it, or --scenario FILE"


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("observe", epilog=_EXAMPLES)(observe)


def observe(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    capture: Annotated[
        str | None,
        typer.Argument(
            help="pcap or pcapng, also compressed by gzip or zstd; - is standard input.", show_default=False
        ),
    ] = None,
    live: Annotated[
        str | None,
        typer.Option(
            metavar="IFACE",
            help="In place of a file: capture from this interface now. Linux, as root.",
            show_default=False,
        ),
    ] = None,
    duration: Annotated[
        str, typer.Option("--for", metavar="TIME", help="With --live: for how long; Ctrl-C ends it early.")
    ] = "30 s",
    scenario: Annotated[
        Path | None,
        typer.Option(help="Write a runnable scenario of what was captured here.", show_default=False),
    ] = None,
    direction: Annotated[
        str | None,
        typer.Option(
            help="Direction in question: out or in; default that with more bytes.", show_default=False
        ),
    ] = None,
    interface: Annotated[
        int | None,
        typer.Option(help="Interface in question, by its number; default the busiest.", show_default=False),
    ] = None,
    inside: Annotated[
        list[str] | None,
        typer.Option(
            help="Network on the near side: 192.0.2.0/24. Repeatable; default private addresses.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave out packets that have no end in this network: 192.0.2.0/24. Repeatable.",
            show_default=False,
        ),
    ] = None,
    joined: Annotated[
        bool, typer.Option("--joined", help="The interfaces are the two ports of one tap.")
    ] = False,
    rate: Annotated[
        str | None,
        typer.Option(
            help="For the scenario: rate of the link, where you know it: '100 Mbps'.", show_default=False
        ),
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(
            help="For the scenario: controls of the long flows, if you know them: 'cubic:60%,bbr:40%'. "
            "Default those whose simulation is nearest to the capture.",
            show_default=False,
        ),
    ] = None,
    ss: Annotated[
        Path | None,
        typer.Option(
            help="For the scenario: what `ss -tin` printed on the senders, in place of --mix; also round "
            "trips, where the capture shows none.",
            show_default=False,
        ),
    ] = None,
    rtt: Annotated[
        str | None,
        typer.Option(
            help="For the scenario: round-trip time of the flows without waiting, where you know it: "
            "'40 ms', or a law: 'uniform(10 ms, 50 ms)'.",
            show_default=False,
        ),
    ] = None,
    flent: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="In place of a capture: a test's file by Flent. --direction is then upload or download.",
            show_default=False,
        ),
    ] = None,
    flows: Annotated[
        int, typer.Option(help="Connections that are followed at a time.", min=1, max=10_000_000)
    ] = 65_536,
    anonymize: Annotated[
        Path | None,
        typer.Option(
            metavar="KEYFILE",
            help="Write other addresses in place of those captured, by a key of 64 hexadecimal digits.",
            show_default=False,
        ),
    ] = None,
    plot: Plot = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for the figure and all tables, as Parquet.", show_default=False),
    ] = None,
    advise: Annotated[
        bool,
        typer.Option(
            "--advise",
            help="Also say which queue to run and how large its buffer should be, beside the queue "
            "that the capture shows.",
        ),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="With --advise: stop after its first answer.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what a packet capture tells of a link.

    Its rate, flows, round trips, waits and losses. With --scenario it becomes a scenario that advise,
    size, run and compare take.
    """
    from bufferlab.captured.doubts import without_pace  # noqa: PLC0415 - slow to import
    from bufferlab.captured.findings import Findings  # noqa: PLC0415 - slow to import
    from bufferlab.captured.findings import observe as observe_capture  # noqa: PLC0415 - slow to import
    from bufferlab.captured.scenario import Known  # noqa: PLC0415 - slow to import
    from bufferlab.captured.sockets import read_sockets  # noqa: PLC0415 - slow to import
    from bufferlab.cli.answers import Delivery  # noqa: PLC0415
    from bufferlab.cli.quick import check_new  # noqa: PLC0415
    from bufferlab.cli.size_input import read_shares  # noqa: PLC0415
    from bufferlab.render.observe.view import findings_view  # noqa: PLC0415

    check_new(scenario, plot=plot)
    _check_together(
        {"--rate": rate, "--mix": mix, "--rtt": rtt, "--ss": None if ss is None else str(ss)},
        scenario=scenario,
        advise=advise,
        quick=quick,
        as_json=as_json,
    )
    if anonymize is not None and out is None:
        say("--anonymize: without --out no address is written anywhere")
    if ss is not None and mix is not None:
        raise InputError("has the controls, too", key="--ss", value=str(ss), accepted="--ss or --mix")
    shares = None if mix is None else read_shares(mix)
    sockets = None if ss is None else read_sockets(ss)
    if flent is not None:
        given = {"CAPTURE": capture, "--live": live, "--plot": plot, "--out": out, "--anonymize": anonymize}
        _refuse_with_flent(flent, given)
        known = _with_controls(Known(rate=rate, rtt=rtt, mix=shares), sockets)
        answer = _Answer(advise, quick=quick, is_rate_given=rate is not None)
        _observe_flent(flent, direction, known, scenario, answer, as_json=as_json)
        return
    deliver = Delivery(
        view=findings_view,
        document=Findings.to_dict,
        as_json=as_json,
        plot=plot,
        out=out,
        save=Findings.save,
    )
    with _naming_options(), _file_of(capture, live, duration) as file:
        found = observe_capture(
            file,
            interface=interface,
            direction=direction,
            inside=inside or (),
            only=only or (),
            joined=joined,
            flows=flows,
            anonymize=anonymize,
        )
    known = Known(rate=rate, rtt=rtt, mix=shares)
    if rate is not None:
        found = replace(found, doubts=without_pace(found), pace_doubts=(), is_rate_a_pace=False)
    if advise:
        try:  # the answer first
            _hand_over(
                found,
                scenario,
                known,
                sockets,
                _Answer(advise, quick=quick, is_rate_given=rate is not None),
            )
        finally:
            deliver(found)
        return
    deliver(found)
    if scenario is not None:
        _hand_over(found, scenario, known, sockets, _Answer(is_wanted=False))
    elif not as_json:
        say(_next(found))


def _next(found: Findings) -> str:
    """What to do after the screen, where the scenario that `--advise` asks for can be made."""
    from bufferlab.captured.doubts import refuse_apart, refuse_idle  # noqa: PLC0415 - slow to import
    from bufferlab.captured.scenario import NOTHING  # noqa: PLC0415 - slow to import

    try:
        refuse_idle(found, NOTHING)
    except InputError:
        return "next: capture a busy hour, since --advise has no answer for a link that was full in no second"
    try:
        refuse_apart(found, NOTHING)
    except InputError:
        return "next: --only NETWORK asks about the flows of one link, as these wait in more than one queue"
    if found.observation.is_cut and (found.rate_bps is None or found.waits is None):
        return "next: capture 128 bytes of each packet, since most of these lack headers"
    if found.is_paced:
        return f"next: capture a busy hour, since {found.shown_to_wait} that packets wait for the link"
    lacks = _lacks(found)
    if lacks is None:
        return "next: capture whole headers of busy flows, since --advise has none here to ask about"
    known = " and ".join(_MEANT[each] for each in lacks)
    asked = " ".join(["--advise", *(f"{each} '…'" for each in lacks)])
    first = f"if you know {known}, {asked}" if lacks else asked
    return f"next: {first} says which queue to run and how large its buffer should be"


def _lacks(found: Findings) -> list[str] | None:
    """The options without which there is no scenario; `None` if there is none with all of them."""
    from bufferlab.captured.scenario import Known, scenario_of  # noqa: PLC0415 - slow to import

    rate = None if found.rate_bps else "100 Mbps"
    lacks = ["--rate"] if rate else []
    for rtt, also in ((None, []), ("40 ms", ["--rtt"])):
        try:
            scenario_of(found, Known(rate=rate, rtt=rtt))
        except InputError:
            continue
        return lacks + also
    return None


class _Answer(NamedTuple):
    """Whether the scenario is given to `advise`, and how.

    Attributes:
        is_wanted: Whether it is.
        quick: Whether its first answer is enough.
        today: What the link runs now, as `advise` takes it; `None` if the capture does not show it.
        unfit: That the scenario does not do what was captured, as a sentence; empty if it does.
        against: What else speaks against the scenario, the gravest first.
        supposed: Scenarios with other controls that may be as true, by these.
        is_rate_given: Whether the operator named the link's rate.
        lost: The loss that was captured, without the starts of long flows; `None` if unknown.
    """

    is_wanted: bool
    quick: bool = False
    today: str | None = None
    unfit: str = ""
    against: Sequence[str] = ()
    supposed: Mapping[str, Scenario] = {}
    is_rate_given: bool = False
    lost: float | None = None


def _check_together(
    of_scenario: Mapping[str, str | None],
    *,
    scenario: Path | None,
    advise: bool,
    quick: bool,
    as_json: bool,
) -> None:
    """Refuse options that mean nothing together."""
    if quick and not advise:
        raise InputError("stops its answers", key="--quick", accepted="--advise with it")
    for key, value in of_scenario.items():
        if value is not None and scenario is None and not advise:
            accepted = "--scenario FILE or --advise with it"
            raise InputError("is a part of the scenario", key=key, value=value, accepted=accepted)
    if advise and as_json:
        raise InputError("prints a text", key="--advise", accepted="--scenario FILE, then advise FILE --json")


@contextmanager
def _file_of(capture: str | None, live: str | None, duration: str) -> Iterator[str]:
    """The capture: the file that is named, or one of what an interface carries now, which is then removed."""
    from bufferlab.captured.live import record  # noqa: PLC0415 - slow to import
    from bufferlab.progress import progress_bar  # noqa: PLC0415
    from bufferlab.units import PS_PER_S, parse_time  # noqa: PLC0415

    if (capture is None) == (live is None):
        raise InputError("needs one of both", key="CAPTURE or --live", accepted="a file, or an interface")
    if live is None:
        yield str(capture)
        return
    try:
        seconds = parse_time(duration, least_ps=PS_PER_S // 10) / PS_PER_S
    except InputError as error:
        raise InputError(error.problem, key="for", value=duration, accepted=error.accepted) from None
    with TemporaryDirectory(prefix="bufferlab-") as folder:
        path = Path(folder, f"{live}.pcapng")
        with progress_bar(f"capturing {live}", logged=True) as bar:
            recorded = record(live, seconds, path, bar.update)
        say(f"captured {recorded.packets} packets of {live}; {recorded.missed} missed")
        yield str(path)


@contextmanager
def _naming_options() -> Iterator[None]:
    """Have errors name the option."""
    try:
        yield
    except InputError as error:
        if error.key not in {"interface", "direction", "live", "for", "rate", "rtt"}:
            raise
        key = f"--{error.key}"
        raise InputError(error.problem, key=key, value=error.value, accepted=error.accepted) from None


def _refuse_with_flent(file: Path, given: Mapping[str, object]) -> None:
    """Refuse what a test's file has nothing for."""
    for key, value in given.items():
        if value is not None:
            raise InputError("has no packets", key="--flent", value=str(file), accepted=f"it without {key}")


def _observe_flent(
    file: Path, direction: str | None, known: Known, path: Path | None, answer: _Answer, *, as_json: bool
) -> None:
    """Say what a test by Flent tells of a link."""
    from bufferlab.captured.flent import read_flent  # noqa: PLC0415 - slow to import
    from bufferlab.cli.delivery import show_as  # noqa: PLC0415
    from bufferlab.render.observe.flent import flent_view  # noqa: PLC0415

    with _naming_options():
        test = read_flent(file, direction)
        found = test.scenario(known) if path is not None or answer.is_wanted else None
    show_as(test.to_dict, lambda: flent_view(test), as_json=as_json)
    if found is not None:
        _write(found.to_toml(), str(file), path, [], answer)


def _with_controls(known: Known, sockets: Sockets | None) -> Known:
    """What the senders' own sockets say of their controls."""
    if sockets is None:
        return known
    counts = ", ".join(f"{count} {control}" for control, count in sockets.controls.items())
    say(f"controls: {counts}, by the senders' sockets")
    return replace(known, mix=sockets.mix)


def _with_sockets(found: Findings, known: Known, sockets: Sockets | None) -> Known:
    """What the senders' own sockets say: controls, and round trips where the capture shows none."""
    from bufferlab.captured.flows import timed  # noqa: PLC0415 - slow to import

    if sockets is None:
        return known
    rtt = known.rtt or (sockets.rtt if timed(found.long).is_empty() else None)
    return replace(_with_controls(known, sockets), rtt=rtt)


def _hand_over(
    found: Findings, path: Path | None, known: Known, sockets: Sockets | None, answer: _Answer
) -> None:
    """Make the scenario, write it and give it to `advise`."""
    with _naming_options():
        _fit_and_write(found, path, _with_sockets(found, known, sockets), answer)


def _fit_and_write(found: Findings, path: Path | None, known: Known, answer: _Answer) -> None:
    from bufferlab.captured.doubts import contradicted, refuse_apart, refuse_idle  # noqa: PLC0415 - slow to import
    from bufferlab.captured.filled import refuse_unfilled  # noqa: PLC0415
    from bufferlab.captured.fitting import fitted  # noqa: PLC0415
    from bufferlab.captured.lengths import short_texts  # noqa: PLC0415
    from bufferlab.progress import progress_bar  # noqa: PLC0415
    from bufferlab.render.advise.box import without_room  # noqa: PLC0415
    from bufferlab.render.observe.fit import (  # noqa: PLC0415
        BEWARE,
        fit_doubts,
        fit_lines,
        pace_text,
        scenario_text,
        unfit_text,
        use_text,
    )

    if answer.is_wanted:
        refuse_apart(found, known)
        refuse_idle(found, known)
    with progress_bar("trying controls", logged=True) as bar:
        fit = fitted(found, known, tell=bar.update)
    is_mix_given = known.mix is not None
    lines = list(fit_lines(fit, is_mix_given=is_mix_given))
    against = list(contradicted(found, known))
    doubts = [f"{BEWARE}{each}" for each in (*found.doubts, *against)]
    grave = [*fit_doubts(fit, is_mix_given=is_mix_given), *short_texts(found.observation.duration_s)]
    unfit = use_text(found, fit, known) or unfit_text(fit) or pace_text(found, known)
    answer = answer._replace(unfit=unfit, against=[*grave, *against, *found.doubts], supposed=fit.supposed)
    answer = answer._replace(lost=fit.captured["loss"])
    if fit.is_queue_known and not fit.shared_otherwise and not unfit:
        answer = answer._replace(today=OWN)
    below = dict.fromkeys([*(without_room(grave) if answer.is_wanted else ()), *against])
    said = [*lines, *(f"{BEWARE}{each}" for each in below)]
    file = scenario_text(fit)
    if answer.is_wanted:
        try:
            refuse_unfilled(found, fit, known)
        except InputError:
            if path is not None:
                _write(file, found.observation.file, path, [*lines, *doubts], _Answer(is_wanted=False))
            raise
    for each in () if answer.is_wanted else said:
        say(each)
    try:
        _write(file, found.observation.file, path, [*lines, *doubts], answer)
    finally:
        for each in said if answer.is_wanted else ():  # the answer first
            say(each)


def _write(scenario: str, capture: str, path: Path | None, lines: Sequence[str], answer: _Answer) -> None:
    """Write a scenario, here or where nothing keeps it, and give it to `advise`."""
    from bufferlab.cli.advising import advise_captured  # noqa: PLC0415 - slow to import
    from bufferlab.files import write_whole  # noqa: PLC0415
    from bufferlab.render.advise.box import Against  # noqa: PLC0415

    with TemporaryDirectory(prefix="bufferlab-") as folder:
        file = path or Path(folder, "captured.toml")
        head = "".join(f"# {line}\n" for line in (f"from {capture}", *lines))
        write_whole(file, f"{head}\n{scenario}")
        if path is not None:
            today = "" if answer.today is None else f" --today {answer.today}"
            say(
                f"wrote {path}" if answer.is_wanted else f"wrote {path}; next: bufferlab advise {path}{today}"
            )
        if answer.is_wanted:
            named = capture if path is None else str(path)
            advise_captured(
                file,
                named,
                quick=answer.quick,
                today=answer.today,
                is_rate_given=answer.is_rate_given,
                against=Against(answer.unfit, answer.against, answer.lost),
                supposed=answer.supposed,
            )
            if answer.quick:
                say(_WHOLE)
