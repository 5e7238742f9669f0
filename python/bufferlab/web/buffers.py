"""Buffers of stored runs in packets, however they are written: "1 bdp" and "18 packets" may be one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import polars as pl

from bufferlab.scenario import Scenario
from bufferlab.units import packets_text

BuffersOf = Callable[[str], Mapping[str, str]]
"""Buffers by path of the scenario with a hash; none if it is not known."""

_BUFFER: Final = ".buffer"


def buffers_of(scenario: Scenario) -> dict[str, str]:
    """The buffers of links that hold a number of packets, by each of their paths."""
    found: dict[str, str] = {}
    for index, link in enumerate(scenario.seeded().resolved["links"]):
        limit = link["buffer"]["limit"]
        if isinstance(limit, dict) and "packets" in limit:
            names = [f"links[{index}]", f"links.{link['name']}", *(["bottleneck"] if index == 0 else [])]
            found |= {name + _BUFFER: packets_text(limit["packets"]) for name in names}
    return found


def with_packets(frame: pl.DataFrame, known: BuffersOf) -> pl.DataFrame:
    """Rows whose `parameters` and `overrides` have buffers in packets, where those are known."""

    @cache
    def said(text: str | None, identity: str | None) -> str | None:
        values: dict[str, Any] = json.loads(text) if text else {}
        paths = [path for path, value in values.items() if path.endswith(_BUFFER) and not _is_packets(value)]
        if not paths or identity is None:
            return text
        buffers = known(identity)
        return json.dumps(values | {path: buffers[path] for path in paths if path in buffers})

    columns = [
        pl.Series(name, [said(*row) for row in frame.select(name, "scenario_hash").iter_rows()], pl.String)
        for name in ("parameters", "overrides")
    ]
    return frame.with_columns(columns)


def _is_packets(value: object) -> bool:
    number, _, unit = str(value).partition(" ")
    return number.isdecimal() and unit in {"packet", "packets"}
