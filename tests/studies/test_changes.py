"""A link's changes in a run: those of rate and delay stay where buffers are tried, those of the buffer go."""

from __future__ import annotations

from typing import Any

import pytest

import bufferlab
from bufferlab.scenario import Scenario
from bufferlab.studies.buffers import lasting, with_buffer

RATE = {"at": "3 s", "rate": "1 Mbps"}
BUFFER = {"at": "5 s", "buffer": "3 packets"}
BOTH = {"at": "6 s", "delay": "5 ms", "buffer": "4 packets"}
LEFT_OUT = (
    "the changes of bottleneck's buffer (at 5 s, 6 s) are left out{}: a buffer that is tried stays as it is "
    "for the whole run"
)


def scenario(*changes: dict[str, str], short: bool = True) -> Scenario:
    link: dict[str, Any] = {"rate": "10 Mbps", "buffer": "20 packets", "changes": list(changes)}
    where = {"bottleneck": link} if short else {"links": [{"name": "bottleneck", **link}]}
    path = {} if short else {"path": ["bottleneck"]}
    flow = {"name": "data", "count": 2, "rtt": "20 ms", "start": "uniform(0 s, 100 ms)", **path}
    return Scenario.from_dict({"run": {"duration": "10 s", "warmup": "4 s"}, **where, "flows": [flow]})


@pytest.mark.parametrize("short", [True, False])
def test_changes_of_the_buffer_alone_are_left_out(short: bool) -> None:
    tried = with_buffer(scenario(RATE, BUFFER, BOTH, short=short), 0, "7 packets")
    (link,) = tried.links
    assert link["buffer"]["amount"] == 7
    found = [(each["rate_bps"], each["delay_ps"], each["buffer"]) for each in link["changes"]]
    assert found == [(1_000_000, None, None), (None, 5_000_000_000, None)]


def test_without_changes_of_the_buffer_nothing_is_overridden() -> None:
    assert lasting(scenario(RATE), 0) == {}
    assert lasting(scenario(), 0) == {}


def test_advise_answers_for_the_link_as_it_changes() -> None:
    advice = bufferlab.advise(scenario(RATE, BUFFER, BOTH), queues="fifo", quick=True)
    assert LEFT_OUT.format("") in advice.assumed
    goodput = advice.answer.mean("data.goodput_bps").mean
    assert goodput is not None and goodput < 0.6e6  # half of 1 Mbps: all that is measured is after 4 s
    assert "left out" not in str(bufferlab.advise(scenario(RATE), queues="fifo", quick=True).assumed)


def test_size_says_what_it_leaves_out() -> None:
    sizing = bufferlab.size(scenario(RATE, BUFFER, BOTH), resolution=0.5, with_rules=False)
    assert LEFT_OUT.format("") in sizing.assumed


def test_compare_says_of_which_queues_changes_are_left_out() -> None:
    queues = ["scenario", "fifo:20 packets", "codel", "pie:90"]
    comparison = bufferlab.compare(scenario(RATE, BUFFER, BOTH), queues, seeds=1)
    assert LEFT_OUT.format(" of fifo:20 packets, pie:90") in comparison.warnings
    goodputs = [each.mean("data.goodput_bps").mean for each in comparison.entries.values()]
    assert all(each is not None and each < 0.6e6 for each in goodputs)
