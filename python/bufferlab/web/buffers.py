"""Queues and buffers that links of stored runs have of their own: "1 bdp" and "18 packets" may be one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, cast

import polars as pl

from bufferlab.render.setting_text import setting_text
from bufferlab.scenario import Scenario
from bufferlab.units import packets_text

SettingsOf = Callable[[str], Mapping[str, str]]
"""Buffers and queues by path of the scenario with a hash; none if it is not known."""

BUFFER: Final = ".buffer"
QUEUE: Final = ".queue"


def settings_of(scenario: Scenario) -> dict[str, str]:
    """The queues of links, and buffers that hold a number of packets, by each of their paths."""
    found: dict[str, str] = {}
    written = scenario.to_dict()
    own = cast("list[dict[str, Any]]", written.get("links") or [written["bottleneck"]])
    for index, link in enumerate(scenario.seeded().resolved["links"]):
        names = [f"links[{index}]", f"links.{link['name']}", *(["bottleneck"] if index == 0 else [])]
        queue = own[index].get("queue", link["queue"]["discipline"])
        text = str(setting_text(queue if isinstance(queue, str) else json.dumps(queue)))
        found |= {name + QUEUE: text for name in names}
        limit = link["buffer"]["limit"]
        if isinstance(limit, dict) and "packets" in limit:
            found |= {name + BUFFER: packets_text(limit["packets"]) for name in names}
    return found


def with_packets(frame: pl.DataFrame, known: SettingsOf) -> pl.DataFrame:
    """Rows whose `parameters` and `overrides` have buffers in packets, where those are known."""

    @cache
    def said(text: str | None, identity: str | None) -> str | None:
        values: dict[str, Any] = json.loads(text) if text else {}
        paths = [path for path, value in values.items() if path.endswith(BUFFER) and not is_in_packets(value)]
        if not paths or identity is None:
            return text
        buffers = known(identity)
        return json.dumps(values | {path: buffers[path] for path in paths if path in buffers})

    columns = [
        pl.Series(name, [said(*row) for row in frame.select(name, "scenario_hash").iter_rows()], pl.String)
        for name in ("parameters", "overrides")
    ]
    return frame.with_columns(columns)


def is_in_packets(value: object) -> bool:
    """Whether a buffer is written as a number of packets."""
    number, _, unit = str(value).partition(" ")
    return number.isdecimal() and unit in {"packet", "packets"}
