"""Commands that simulate say what: in lines on the terminal, whole as JSON."""

from __future__ import annotations

import json
import re

import pytest

from .conftest import Command

COMMANDS = {
    "run": (["run", "small.toml"], "buffer 40 packets"),
    "compare": (["compare", "small.toml", "--queues", "fifo,codel", "--seeds", "1"], "queue as below"),
    "size": (["size", "small.toml", "--utilization", "0.5", "--no-rules"], "buffer as below"),
    "sweep": (["sweep", "small.toml", "--vary", "flows.near.count=1,2"], "buffer 40 packets"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_lines_and_the_whole(bufferlab: Command, name: str) -> None:
    arguments, buffer = COMMANDS[name]
    shown = bufferlab(*arguments)
    assert shown.status == 0, shown.err
    lines = re.sub(" +", " ", shown.out).splitlines()
    [link] = [line for line in lines if line.startswith("link bottleneck ")]
    assert buffer in link
    assert [line.split()[1] for line in lines if line.startswith("flows ")][:2] == ["near", "far"]
    document = json.loads(bufferlab(*arguments, "--json").out)
    assert [flow["name"] for flow in document["resolved"]["flows"]] == ["near", "far"]
    assert document["resolved"]["links"][0]["rate_bps"] > 0
