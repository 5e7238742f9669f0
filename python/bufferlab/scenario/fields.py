"""Leaf types of the scenario: a parser that says what it accepts, and its JSON Schema, in one annotation."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final, get_args

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from bufferlab import buffers, distributions, units
from bufferlab.buffers import Buffer
from bufferlab.distributions import SIZE, TIME, Distribution, Quantity
from bufferlab.errors import InputError
from bufferlab.presets import CONGESTION_ALIASES, WITH_HYSTART, Congestion, CongestionKind, Window
from bufferlab.scenario.hosts import parse_offload, parse_window
from bufferlab.scenario.source import Source
from bufferlab.scenario.trips import RttSource, parse_rtt_source

MAX_FLOWS: Final = 1_000_000
"""Most flows in one scenario."""

MAX_SEGMENTS: Final = 10**9
"""Largest window in segments: its bytes stay far within 64 bits."""

MAX_PACKET_BYTES: Final = 60_000
"""Largest payload of one packet: with its headers it stays below the 65,535 bytes of an IP packet."""

MAX_HEADER_BYTES: Final = 1_000
"""Most header bytes of one packet."""

MAX_SUB_BUFFERS: Final = 8
"""Most sub-buffers of SplitBuff."""

_LONGEST_WORD: Final = 40
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_FIXED: Final = re.compile(r"fixed\(\s*(\d{1,10})\s*\)", re.ASCII)
_FIXED_WORD: Final = "fixed(N)"

_PLAIN: Final = [Congestion(kind) for kind in get_args(CongestionKind) if kind != "fixed"]

CONGESTIONS: Final[Mapping[str, Congestion]] = {
    **{each.word: each for each in _PLAIN},
    **{each.word: each for each in (Congestion(kind, hystart=True) for kind in WITH_HYSTART)},
    **{alias: Congestion(kind) for alias, kind in CONGESTION_ALIASES.items()},
}
"""The congestion controls by the words of scenarios; `fixed(N)` is another."""


@dataclass(frozen=True, eq=False)
class Parsed:
    """Annotation of a field whose value `parse` makes from what the file has."""

    parse: Callable[[object], object]
    schema: Mapping[str, object]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return dict(self.schema)


@dataclass(frozen=True)
class WordOrTable:
    """Annotation of a table that may be written as one word: "fifo" for {discipline = "fifo"}."""

    words: Mapping[str, Mapping[str, object]]
    accepted: str

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._to_table, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [{"enum": list(self.words)}, handler(schema)]}

    def _to_table(self, value: object) -> object:
        if isinstance(value, dict):
            return value
        if isinstance(value, str) and value in self.words:
            return dict(self.words[value])
        raise InputError(
            f"is not accepted here{nearest(value, self.words)}", value=value, accepted=self.accepted
        )


def nearest(value: object, words: Iterable[str]) -> str:
    """A hint at the word that was meant, as a part of a message; empty if none is near."""
    short = isinstance(value, str) and len(value) <= _LONGEST_WORD
    close = difflib.get_close_matches(str(value).lower(), list(words), n=1) if short else []
    return f" (did you mean '{close[0]}'?)" if close else ""


def one_of(*words: str) -> Parsed:
    """A word from a list."""

    def parse(value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        raise InputError("is not a known word", value=value, accepted=", ".join(words))

    return Parsed(parse, {"enum": list(words)})


def integer(least: int, most: int, noun: str) -> Parsed:
    """A whole number within bounds; `noun` says what it counts."""

    def parse(value: object) -> int:
        return whole_number(value, least, most, noun)

    return Parsed(parse, {"type": "integer", "minimum": least, "maximum": most})


def fraction(most: float, noun: str, *, inclusive: bool) -> Parsed:
    """A number from 0 to `most`, which is accepted itself if `inclusive`."""

    def parse(value: object) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and 0 <= value <= most and (inclusive or value < most):  # type: ignore[operator]
            return float(value)  # type: ignore[arg-type]
        accepted = f"{noun}: a number of 0 to {most:g}" if inclusive else f"{noun}: 0 or more, below {most:g}"
        raise InputError(
            "is out of bounds" if is_number else "is not a number", value=value, accepted=accepted
        )

    top = "maximum" if inclusive else "exclusiveMaximum"
    return Parsed(parse, {"type": "number", "minimum": 0, top: most})


def whole_number(value: object, least: int, most: int, noun: str) -> int:
    """Check a whole number against bounds.

    Raises:
        InputError: If it is not an integer or out of bounds.
    """
    accepted = f"{noun}: a whole number of {least} to {most}"
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError("is not a whole number", value=value, accepted=accepted)
    if not least <= value <= most:
        problem = "is negative" if value < 0 else "is too small" if value < least else "is too large"
        raise InputError(problem, value=value, accepted=accepted)
    return value


def parse_name(value: object) -> str:
    """Read the name of a link or group: it must be usable in a `--set` path.

    Raises:
        InputError: If it is not a plain word.
    """
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    raise InputError(
        "is not a usable name", value=value, accepted="a letter, then letters, digits, '_' or '-', at most 64"
    )


def parse_title(value: object) -> str:
    """Read a free text of one line.

    Raises:
        InputError: If it is no text, too long, or has characters that cannot be printed.
    """
    if isinstance(value, str) and value.isprintable() and 0 < len(value) <= 200:
        return value
    raise InputError("is not a usable title", value=value, accepted="one line of text, 1 to 200 characters")


def parse_flag(value: object) -> bool:
    """Read true or false.

    Raises:
        InputError: If it is anything else.
    """
    if isinstance(value, bool):
        return value
    raise InputError("is not true or false", value=value, accepted="true or false")


def parse_congestion(value: object) -> Congestion:
    """Read a congestion control: "reno", "cubic-0.8", "cubic(hystart)", "fixed(20)", ….

    Raises:
        InputError: If it is none; the message says the nearest.
    """
    word = value if isinstance(value, str) and len(value) <= _LONGEST_WORD else None
    found = CONGESTIONS.get(word) if word else None
    if found is not None:
        return found
    match = _FIXED.fullmatch(word) if word else None
    if match and 1 <= int(match[1]) <= MAX_SEGMENTS:
        return Congestion("fixed", int(match[1]))
    known = [*CONGESTIONS, _FIXED_WORD]
    close = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.5) if word else []
    hint = f" (did you mean '{close[0]}'?)" if close else ""
    raise InputError(
        f"is not a known congestion control{hint}",
        value=value,
        accepted=f"{', '.join(known)} with N of 1 to {MAX_SEGMENTS} segments",
    )


def parse_mark(value: object) -> Buffer:
    """Read how much may wait before packets are marked: as a buffer, but not "unlimited".

    Raises:
        InputError: If it is not such a size.
    """
    return _threshold(value, "; without mark_above nothing is marked")


def parse_threshold(value: object) -> Buffer:
    """Read a threshold of the backlog: as a buffer, but not "unlimited".

    Raises:
        InputError: If it is not such a size.
    """
    return _threshold(value, "")


def _threshold(value: object, hint: str) -> Buffer:
    accepted = f"'20 packets', '30 KB', '1 ms' (of draining), '0.2 bdp'{hint}"
    try:
        buffer = buffers.parse_buffer(value)
    except InputError as error:
        raise InputError(error.problem, value=error.value, accepted=accepted) from error
    if buffer.kind == "unlimited":
        raise InputError("is not a threshold", value=value, accepted=accepted)
    return buffer


def parse_ssthresh(value: object) -> int | str:
    """Read an initial slow-start threshold: a number of segments, or "none".

    Raises:
        InputError: If it is neither.
    """
    if value == "none":
        return "none"
    return whole_number(value, 1, MAX_SEGMENTS, "segments, or 'none'")


def parse_delayed_ack(value: object) -> int:
    """Read how many segments an acknowledgment waits for: true is 2, false is 1.

    Raises:
        InputError: If it is neither a flag nor a small number.
    """
    if isinstance(value, bool):
        return 2 if value else 1
    return whole_number(value, 1, 1000, "true, false, or segments an acknowledgment waits for")


def parse_jitter(value: object) -> Distribution | None:
    """Read a sender's random processing delay: a uniform or exponential law, or "none".

    Raises:
        InputError: If it is something else.
    """
    if value == "none":
        return None
    accepted = "'uniform(0 s, 1 ms)', 'exponential(mean=1 ms)' or 'none'"
    law = distributions.parse_distribution(value) if isinstance(value, str) else None
    if law is None or law.kind not in ("uniform", "exponential") or law.truncated:
        raise InputError("is not a usable jitter", value=value, accepted=accepted)
    return law


@dataclass(frozen=True, eq=False)
class _ParsedLaw:
    """Annotation of a distribution of times or sizes, whose files are sought beside the scenario."""

    of: Quantity
    examples: tuple[str, ...]
    kinds: tuple[str, ...] = ()
    """Laws accepted, without min and max; empty for all, with."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._parse)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return _text(*self.examples)

    def _parse(self, value: object, info: ValidationInfo) -> Distribution:
        directory = info.context.directory if isinstance(info.context, Source) else None
        law = distributions.parse_distribution(value, of=self.of, directory=directory)
        if self.kinds and (law.kind not in self.kinds or law.truncated):
            accepted = f"a {self.of.noun}, exponential(mean=) or pareto(mean=, shape=)"
            raise InputError("is not a law that is drawn during the run", value=value, accepted=accepted)
        return law


def _text(*examples: str) -> dict[str, Any]:
    return {"type": "string", "examples": list(examples)}


def time(least_ps: int, *examples: str, most_ps: int = units.MAX_TIME_PS) -> Parsed:
    """A time within bounds, in ps."""
    return Parsed(lambda value: units.parse_time(value, least_ps=least_ps, most_ps=most_ps), _text(*examples))


def size(least_bytes: int, most_bytes: int, *examples: str) -> Parsed:
    """A size within bounds, in bytes."""
    return Parsed(
        lambda value: units.parse_size(value, least_bytes=least_bytes, most_bytes=most_bytes),
        _text(*examples),
    )


Flag = Annotated[bool, Parsed(parse_flag, {"type": "boolean"})]
Title = Annotated[str, Parsed(parse_title, {"type": "string", "minLength": 1, "maxLength": 200})]
Name = Annotated[str, Parsed(parse_name, {"type": "string", "pattern": f"^{_NAME.pattern}$"})]
RateBps = Annotated[int, Parsed(units.parse_rate, _text("100 Mbps", "2.5 Gbps"))]
TimeLaw = Annotated[
    Distribution,
    _ParsedLaw(TIME, ("10 ms", "uniform(0 s, 5 s)", "lognormal(mean=130 ms, sigma=0.2, min=20 ms)")),
]
SizeLaw = Annotated[
    Distribution, _ParsedLaw(SIZE, ("30 KB", "pareto(mean=30 KB, shape=1.2)", "empirical(sizes.csv)"))
]
_DURING_RUNS: Final = ("constant", "exponential", "pareto")
_TURN: Final = replace(TIME, parse=partial(units.parse_time, least_ps=10**6), least=1)
TurnTime = Annotated[
    Distribution,
    _ParsedLaw(_TURN, ("1 s", "exponential(mean=1 s)", "pareto(mean=1 s, shape=1.5)"), _DURING_RUNS),
]
TurnSize = Annotated[Distribution, _ParsedLaw(SIZE, ("100 KB", "exponential(mean=100 KB)"), _DURING_RUNS)]
BufferText = Annotated[
    Buffer, Parsed(buffers.parse_buffer, _text("6250 packets", "1 MB", "300 ms", "1 bdp", "stanford"))
]
Jitter = Annotated[
    Distribution | None, Parsed(parse_jitter, _text("uniform(0 s, 1 ms)", "exponential(mean=1 ms)"))
]
MarkText = Annotated[Buffer, Parsed(parse_mark, _text("20 packets", "30 KB", "1 ms", "0.2 bdp"))]
ThresholdText = Annotated[Buffer, Parsed(parse_threshold, _text("20 packets", "30 KB", "1 ms", "0.2 bdp"))]
CongestionText = Annotated[
    Congestion,
    Parsed(
        parse_congestion,
        {"anyOf": [{"enum": list(CONGESTIONS)}, {"type": "string", "pattern": f"^{_FIXED.pattern}$"}]},
    ),
]
RttText = Annotated[
    RttSource,
    Parsed(
        parse_rtt_source, _text("header", "header(4 bits)", "handshake", "timestamps(1024 flows)", "oracle")
    ),
]
WindowText = Annotated[Window, Parsed(parse_window, _text("64 KiB", "100 segments", "auto", "auto(16 MiB)"))]
OffloadText = Annotated[
    int | str,
    Parsed(parse_offload, {"anyOf": [{"enum": ["auto", "none"]}, _text("6 segments")]}),
]
SubBuffers = Annotated[int, integer(1, MAX_SUB_BUFFERS, "sub-buffers")]
Ssthresh = Annotated[
    int | str, Parsed(parse_ssthresh, {"anyOf": [{"type": "integer", "minimum": 1}, {"const": "none"}]})
]
DelayedAck = Annotated[
    int, Parsed(parse_delayed_ack, {"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 1}]})
]
