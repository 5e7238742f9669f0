"""Calls of `bufferlab size` that its tests share."""

from __future__ import annotations

import json
from typing import Any

from .conftest import Command

LINK = ("size", "--rate", "622Mbps", "--rtt", "100ms")
RULES = (*LINK, "--theory")
SHARES = "reno:21.22%,bic:25.76%,cubic-0.8:15.15%,cubic-0.7:20.70%,ctcp:17.17%"
MIX = "reno:42,bic:51,cubic-0.8:30,cubic-0.7:41,ctcp:34"
SMALL = ("size", "small.toml", "--set", "run.duration=6 s")
QUICK = (*SMALL, "--resolution", "0.3", "--no-rules")


def document(bufferlab: Command, *args: str) -> dict[str, Any]:
    """What a command prints for machines."""
    ended = bufferlab(*args, "--json")
    assert ended.status == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found
