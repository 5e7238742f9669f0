"""A home's line, if only its two rates are known: both directions, and the traffic of a home of today.

What is taken for granted, and from where:

- The shaper's rates are 90 % of the line's. OpenWrt, "SQM (Smart Queue Management)", Installation: "Set the
  Download and Upload speeds to 90% of what you measured". Bufferbloat.net, "Setting up SQM for CeroWrt 3.10",
  Basic Settings: 85 % of the provider's published numbers or 95 % of a good measurement, "arbitrary values".
- Downloads have the Internet's mix of congestion controls (`internet`); what a home sends is CUBIC's, the
  default of Linux, Windows and Apple's systems (RFC 9438, abstract). How many there are is our choice.
- Round-trip times are 30 ms, those of the downloads lie evenly over ± 50 %; 5 ms of delay are the line's,
  each way. All are our choices. Acknowledgments wait in the queue of the other direction, as on a real line.
- The call (`internet`) is in both directions.
- A page is 840 KB, the median of desktop pages of October 2024 without its images (HTTP Archive, Web Almanac
  2024, Page Weight: HTML 18, CSS 78, fonts 131, JavaScript 613 KB). One comes over one connection every 5 s:
  our choice.
- The queues are FQ-CoDel with a quantum of 300 bytes and room for 1001 packets at first (sqm-scripts,
  src/simple.qos, egress, and src/defaults.sh, LIMIT; for both directions: our choice). Of equally good queues
  they are kept.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from bufferlab import _core
from bufferlab.configure.platform import DOWNLOAD, UPLOAD
from bufferlab.errors import InputError
from bufferlab.studies.internet import CALL, SHARES, STACK, controls_of
from bufferlab.units import format_rate, format_time

if TYPE_CHECKING:
    from bufferlab.studies.advise.joint import Shaped

SHARE: Final = Fraction(9, 10)
"""The shaper's rate as a share of the line's."""

LEAST_SHARE: Final = Fraction(1, 2)

RTT: Final = "30 ms"

USED: Final = "utilization >= 90 %"
"""What is asked of both directions, if nobody asks for anything: our choice. 99 % would have a FIFO keep one
direction full, and spoil the other, whose acknowledgments wait in it."""

DOWNLOADS: Final = 3
"""Long downloads at a time."""

_QUEUE: Final = {"discipline": "fq_codel", "quantum": "300 B"}
_BUFFER: Final = "1001 packets"
_DELAY_PS: Final = 5 * 10**9
"""The line's delay each way, ps: our choice; a fourth of a round trip that is shorter than four of it."""
_SHORTEST_PS: Final = 10**9
"""Shortest round-trip time, ps: that of the nearest download is half of it, half of which is the line's."""
_SPREAD: Final = 0.5
_START: Final = "uniform(0 s, 5 s)"
_PAGE: Final = {"kind": "web", "size": "840 KB", "every": "5 s"}

_NEGATIVE: Final = re.compile(r"(?:^|/)\s*[-−]\s*\d")
_ACCEPTED: Final = "the rate down and the rate up, such as 50/10Mbps, '50/10 Mbps' or '1 Gbps/50 Mbps'"
_BETWEEN: Final = re.compile(r"/(?!s\b)")
"""What stands between the rates; not that of Mbit/s."""

_HOME: Final = "--home"
_NUMBER: Final = re.compile(r"\d+(?:\.\d*)?|\.\d+")


@dataclass(frozen=True)
class Rates:
    """The rates of a line.

    Attributes:
        down_bps: Towards the home, bit/s.
        up_bps: From the home, bit/s.
    """

    down_bps: int
    up_bps: int


def read_rates(text: str) -> Rates:
    """The rates of a line as written; a unit on one side counts for both.

    >>> read_rates("50/10Mbps")
    Rates(down_bps=50000000, up_bps=10000000)

    Raises:
        InputError: They are none.
    """
    if _NEGATIVE.search(text):
        raise InputError("has a rate that is not positive", key=_HOME, value=text, accepted=_ACCEPTED)
    if (sides := _sides(text)) is None:
        raise InputError(
            f"is not the two rates of a line{_hint(text.strip())}",
            key=_HOME,
            value=text,
            accepted=_ACCEPTED,
        )
    return Rates(_rate(sides[0], text), _rate(sides[1], text))


def read_share(text: str) -> Fraction:
    """A share as written: "90 %", or 0.9.

    Raises:
        InputError: It is none, or leaves less than half or nothing below the line's rate.
    """
    number = text.strip().removesuffix("%").strip()
    accepted = f"{float(LEAST_SHARE) * 100:g} % to 100 %, such as '95 %' or 0.95"
    if not _NUMBER.fullmatch(number):
        raise InputError("is not a share", key="--share", value=text, accepted=accepted)
    share = Fraction(number) / (100 if "%" in text else 1)
    if not LEAST_SHARE <= share <= 1:
        raise InputError("is out of range", key="--share", value=text, accepted=accepted)
    return share


def shaped_to(rates: Rates, share: Fraction) -> Shaped:
    """The shapers of a line.

    Args:
        rates: The line's rates.
        share: The shapers' rates as a share of them.
    """
    from bufferlab.studies.advise.joint import Shaped  # noqa: PLC0415 - slow to import, and no help needs it

    return Shaped(float(share), {DOWNLOAD: rates.down_bps, UPLOAD: rates.up_bps})


def home_scenario(rates: Rates, *, rtt: str = RTT, share: Fraction = SHARE) -> dict[str, Any]:
    """A home's line with its traffic, as a scenario.

    Args:
        rates: The line's rates.
        rtt: Round-trip time without waiting, with its unit.
        share: The shapers' rates as a share of the line's.
    """
    delay_ps = _delay_ps(rtt)
    return {
        "run": {"name": f"Home line {_text(rates)}", "duration": "60 s", "stack": STACK},
        "advise": {"targets": [USED]},
        "links": [
            _link(DOWNLOAD, rates.down_bps, share, delay_ps),
            _link(UPLOAD, rates.up_bps, share, delay_ps),
        ],
        "flows": [
            *(_downloads(rtt, control, count) for control, count in controls_of(DOWNLOADS)),
            {
                "name": "backup",
                "path": [UPLOAD],
                "reverse_path": [DOWNLOAD],
                "rtt": rtt,
                "congestion": SHARES[0][1],
                "start": _START,
            },
            {"name": "call-in", "path": [DOWNLOAD], "rtt": rtt, "application": dict(CALL)},
            {"name": "call-out", "path": [UPLOAD], "rtt": rtt, "application": dict(CALL)},
            {
                "name": "pages",
                "path": [DOWNLOAD],
                "reverse_path": [UPLOAD],
                "rtt": rtt,
                "start": _START,
                "application": dict(_PAGE),
            },
        ],
    }


def about_home(rtt: str | None) -> list[str]:
    """What is taken for granted of a home's line, and how to ask for something else: sentences.

    Args:
        rtt: The round-trip time that was asked for, if any was.
    """
    names = {control: name for name, control, _ in SHARES}
    mix = " and ".join(f"{count} {names[control]}" for control, count in controls_of(DOWNLOADS))
    found = [
        f"{DOWNLOADS} long downloads ({mix}, the Internet's mix), an upload (CUBIC, the default of most "
        "systems), a call (G.711) in both directions, a page of 840 KB every 5 s; how many is our choice; "
        "examples/home-line.toml has the same, to be changed, and docs/home-line.md the sources",
        "acknowledgments wait in the queue of the other direction",
    ]
    if rtt is None:
        found.append(f"round-trip times of {RTT}, those of downloads ± 50 %: our choice; --rtt sets another")
    return found


def about_shapers(rates: Rates, share: Fraction) -> str:
    """At which rates the line is simulated, and why: a sentence.

    Args:
        rates: The line's rates.
        share: The shapers' rates as a share of them.
    """
    down, up = (format_rate(int(rate * share)) for rate in (rates.down_bps, rates.up_bps))
    return (
        f"shaped to {down} down and {up} up, {float(share) * 100:g} % of the line's rates (--share), so that "
        "packets wait here and not in the modem"
    )


def _downloads(rtt: str, control: str, count: int) -> dict[str, Any]:
    name = "downloads" if control == SHARES[0][1] else f"{control.partition('(')[0]}"
    return {
        "name": name,
        "count": count,
        "path": [DOWNLOAD],
        "reverse_path": [UPLOAD],
        "rtt": rtt,
        **({"rtt_spread": _SPREAD} if count > 1 else {}),
        "congestion": control,
        "start": _START,
    }


def _link(name: str, line_bps: int, share: Fraction, delay_ps: int) -> dict[str, Any]:
    return {
        "name": name,
        "rate": f"{int(line_bps * share)} bps",
        "delay": format_time(delay_ps),
        "queue": dict(_QUEUE),
        "buffer": _BUFFER,
    }


def _delay_ps(rtt: str) -> int:
    """The line's delay each way, which leaves half of its round trip to the nearest download.

    Raises:
        InputError: The round-trip time is none, or too short for a line.
    """
    try:
        rtt_ps = _core.parse_quantity("time", rtt, 0)
    except InputError as error:
        raise error.at(key="rtt") from None
    if rtt_ps < _SHORTEST_PS:
        accepted = f"at least {format_time(_SHORTEST_PS)}"
        raise InputError("is too short for a line", key="rtt", value=rtt, accepted=accepted)
    return min(_DELAY_PS, rtt_ps // 4)


def _text(rates: Rates) -> str:
    down, up = format_rate(rates.down_bps), format_rate(rates.up_bps)
    same = down.rpartition(" ")[2] == up.rpartition(" ")[2]
    return f"{down.rpartition(' ')[0]}/{up}" if same else f"{down}/{up}"


def _sides(text: str) -> tuple[str, str] | None:
    """The two rates, each with its unit; `None` if there are not two."""
    sides = [side.strip() for side in _BETWEEN.split(text)]
    if len(sides) != 2 or not all(sides):
        return None
    down, up = sides
    if _NUMBER.fullmatch(down):
        down += _NUMBER.sub("", up, count=1)
    elif _NUMBER.fullmatch(up):
        up += _NUMBER.sub("", down, count=1)
    return down, up


def _hint(text: str) -> str:
    """What may be meant: two rates with something else between them, or one for both directions."""
    for meant in (re.sub(r"(?<=[\da-z ])[-:x,](?=[\d ])", "/", text), f"{text}/{text}"):
        with suppress(InputError):
            if (sides := _sides(meant)) is not None:
                _rate(sides[0], meant)
                _rate(sides[1], meant)
                return f" (did you mean '{meant}'?)"
    return ""


def _rate(side: str, text: str) -> int:
    try:
        return _core.parse_quantity("rate", side, 1000)
    except InputError as error:
        raise InputError(f"{error.problem} ('{side}')", key=_HOME, value=text, accepted=_ACCEPTED) from None
