"""A queue discipline in words: its name and every parameter that differs from its default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from bufferlab.display import significant
from bufferlab.resolved import key_of
from bufferlab.scenario import NOUNS, QUEUE_WORDS, Scenario
from bufferlab.units import format_rate, format_size, format_time

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedLink

_PACKET_BYTES: Final = 1500
"""Stands for the packets of a link that no flow crosses."""

_ALWAYS: Final = ("target_ps",)
"""Parameters that are shown even at their default: without them a discipline's name says little."""

_FIRST: Final = {"target_ps": 0, "ecn": 1}

_DIGITS: Final = 10


def queue_text(link: ResolvedLink) -> str:
    """A link's discipline: "splitbuff-weighted (hysteresis 0.3)"."""
    queue = link["queue"]
    name, usual = _preset(link)
    shown = [
        parameter_text(key, value)
        for key, value in sorted(queue.items(), key=lambda item: _FIRST.get(item[0], 9))
        if key != "discipline"
        and value is not None
        and (key in _ALWAYS or _is_on(key, value) or value != usual.get(key, value))
    ]
    if link["mark_above"] is not None:
        shown.append(f"marks above {link['mark_above']['text']}")
    return f"{name} ({', '.join(shown)})" if shown else name


def _is_on(key: str, value: object) -> bool:
    return key == "ecn" and value is True


def _preset(link: ResolvedLink) -> tuple[str, Mapping[str, Any]]:
    """The word that stands for most of a queue's parameters, and all that it stands for."""
    queue = link["queue"]
    discipline = str(queue["discipline"])
    plain = _usual(discipline, link["rate_bps"], link["packet_bytes"])
    for word, table in QUEUE_WORDS.items():
        if table["discipline"] == discipline and len(table) > 1:
            meant = _usual(word, link["rate_bps"], link["packet_bytes"])
            if all(queue[key] == meant[key] for key in table):
                return word, meant
    return discipline, plain


@lru_cache(maxsize=256)
def _usual(word: str, rate_bps: int, packet_bytes: int | None) -> Mapping[str, Any]:
    """What a word comes to on a link of this rate, with packets of this size."""
    packet = f"{packet_bytes or _PACKET_BYTES} B"
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "1 s"},
            "bottleneck": {"rate": f"{rate_bps} bps", "buffer": "1 packets", "queue": word},
            "flows": [{"rtt": "1 ms", "application": {"kind": "udp", "packet": packet, "interval": "1 s"}}],
        }
    )
    queue: Mapping[str, Any] = scenario.seeded().resolved["links"][0]["queue"]
    return queue


def parameter_text(key: str, value: object) -> str:
    """A parameter in words: "hysteresis 0.3", "initial_window 4 segments", "no ecn"."""
    name = key_of(key)
    if value is None or value is False:
        return f"no {name}"
    return name if value is True else f"{name} {_value(key, value)}"


def _value(key: str, value: object) -> str:
    if isinstance(value, Mapping):
        return " ".join(_of_mapping(value))
    if isinstance(value, int) and key.endswith("_ps"):
        return format_time(value)
    if isinstance(value, int) and key.endswith("_bytes"):
        return format_size(value)
    if isinstance(value, int) and key.endswith("_bps"):
        return format_rate(value)
    if isinstance(value, int | float):
        return significant(value, _DIGITS) + _counted(key, value)
    text = str(value)
    # a word as the plan has it; a text with a grammar of its own stays as it is
    return text if " " in text else text.replace("_", "-")


def _counted(key: str, number: float) -> str:
    """What a number counts, unless the key says it."""
    noun = NOUNS.get(key, "")
    if noun in {"", key.replace("_", "-")}:
        return ""
    return f" {noun.removesuffix('s') if number == 1 else noun}"


def _of_mapping(value: Mapping[str, Any]) -> Iterator[str]:
    """A threshold, {"packets": 20}, or where round-trip times come from, {"kind": "oracle"}."""
    if "text" in value:  # not sized yet, as no seed has drawn flows
        yield str(value["text"])
        return
    kind = value.get("kind")
    if kind is not None:
        yield "header" if kind == "quantized" else str(kind)
    if "bytes" in value:
        yield format_size(value["bytes"])
    yield from (f"{number} {noun}" for noun, number in value.items() if noun not in {"kind", "bytes"})
