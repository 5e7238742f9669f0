"""Keys that are right each by itself, and refused together."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

from .conftest import Make

UDP = {"kind": "udp", "packet": "100 B", "rate": "1 Mbps"}


def test_mark_above_is_the_fifo_s(make: Make) -> None:
    given = {"links.west.queue": "codel", "links.west.mark_above": "20 packets"}
    message = r"links\[0\]\.mark_above: '20 packets' goes with the queue 'fifo' only; accepted: ecn or"
    with pytest.raises(InputError, match=message):
        make(given)


@pytest.mark.parametrize("source", ["handshake", "timestamps"])
def test_a_router_reads_only_what_packets_have(make: Make, source: str) -> None:
    queue = {"discipline": "splitbuff", "rtt": source}
    make({"links.west.queue": queue})
    message = rf"links\[0\]\.queue\.rtt: '{source}' needs {source} of all TCP flows, and 'long' has none"
    with pytest.raises(InputError, match=message):
        make({"links.west.queue": queue, f"flows.long.{source}": False})


def test_only_splitbuff_needs_no_buffer(table: dict[str, Any]) -> None:
    del table["links"][0]["buffer"]
    for queue in ("fifo", "codel", "splitbuff-blind", {"discipline": "fifo"}, 7):
        table["links"][0]["queue"] = queue
        with pytest.raises(InputError, match=r"links\[0\]\.(buffer: is required|queue: 7 is not accepted)"):
            Scenario.from_dict(table)


@pytest.mark.parametrize("word", ["bbr", "bbr1", "bbr3"])
def test_bbr_needs_selective_acknowledgments(make: Make, word: str) -> None:
    make({"flows.short.congestion": word})
    for recovery in ("sack", "linux", "quic"):
        make({"flows.short.congestion": word, "run.stack": "ns2-sack1", "flows.short.recovery": recovery})
    name = word.removesuffix("1")
    given = {"flows.short.congestion": word, "flows.short.recovery": "newreno"}
    with pytest.raises(
        InputError, match=rf"recovery: 'newreno' does not go with {name}; accepted: sack or linux or quic"
    ):
        make(given)
    for stack, recovery in (("ns2-sack1", "sack-ns2"), ("inet-reno", "reno")):
        message = (
            rf"flows\[0\]\.congestion: '{name}' needs the recovery sack or linux or quic, and the stack "
            rf"'{stack}' has {recovery}; accepted: it with recovery = 'sack' or 'linux', or with a stack of"
        )
        for key in ("run.stack", "flows.short.stack"):
            with pytest.raises(InputError, match=message):
                make({"flows.short.congestion": word, key: stack})


def test_the_spread_counts_when_rtt_and_delays_are_compared(make: Make) -> None:
    make({"flows.short.rtt": "10 ms", "flows.short.rtt_spread": 0.8, "flows.short.count": 50})
    with pytest.raises(InputError, match=r"flows\[0\]\.rtt: '10 ms' is shorter than the links' delays"):
        make({"flows.short.rtt": "10 ms", "flows.short.rtt_spread": 0.85, "flows.short.count": 50})


def test_a_path_is_required_with_several_links(table: dict[str, Any]) -> None:
    table["links"].append({"name": "east", "rate": "1 Mbps", "buffer": "1 MB"})
    with pytest.raises(
        InputError, match=r"flows\[0\]\.path: is required; accepted: a list of links, of west, east"
    ):
        Scenario.from_dict(table)


@pytest.mark.parametrize("key", ["jitter", "reverse_path", "stack", "segment", "timestamps"])
def test_tcp_keys_mean_nothing_to_udp(make: Make, key: str) -> None:
    values = {"jitter": "uniform(0 s, 1 s)", "reverse_path": ["west"], "stack": "rfc", "segment": "9 B"}
    with pytest.raises(InputError, match=rf"flows\[0\]\.{key}: means nothing to a udp application"):
        make({"flows.short.application": UDP, f"flows.short.{key}": values.get(key, False)})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"flows.long.rtt": "uniform(0 s, 4 ms)"}, "flows[1].rtt: 'uniform(0 s, 4 ms), drawn as"),
        ({"flows.short.start": "100 s"}, "flows[0].start: '100 s' starts no flow before the run's end"),
        (
            {"flows.long.start": "uniform(0 s, 50 s)", "flows.long.stop": "1 ms"},
            "flows[1].stop: '1 ms' comes before",
        ),
        ({"flows.long.rtt": "normal(mean=0 s, sd=1 ms, min=1 s)"}, "flows[1].rtt: "),
    ],
)
def test_draws_that_make_no_sense(make: Make, overrides: dict[str, object], message: str) -> None:
    scenario = make(overrides)
    with pytest.raises(InputError) as caught:
        lower(scenario)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_buffer_word_on_an_idle_link(table: dict[str, Any]) -> None:
    table["links"].append({"name": "east", "rate": "1 Mbps", "buffer": "1 bdp"})
    for flow in table["flows"]:
        flow["path"] = ["west"]
    with pytest.raises(
        InputError, match=r"links\[1\]\.buffer: '1 bdp' depends on the flows of a link that no"
    ):
        lower(Scenario.from_dict(table))
    table["links"][1] |= {"buffer": "1 MB", "changes": [{"at": "1 s", "buffer": "10 ms"}]}
    with pytest.raises(InputError, match=r"links\[1\]\.changes\[0\]\.buffer: '10 ms' depends"):
        lower(Scenario.from_dict(table))


@pytest.mark.parametrize(
    ("ecn", "other", "message"),
    [
        ("classic", {"congestion": "dctcp"}, "'classic' means nothing to dctcp"),
        ("abe", {"congestion": "cubic-linux"}, "'abe' does not go with cubic-linux, for which"),
        ("classic", {"recovery": "sack-ns2"}, "'classic' does not go with the recovery sack-ns2"),
        ("abe", {"recovery": "linux-ns2", "congestion": "reno"}, "does not go with the recovery linux-ns2"),
    ],
)
def test_ecn_goes_with_controls_and_recoveries_that_leave_it_room(
    make: Make, ecn: str, other: dict[str, str], message: str
) -> None:
    given = {f"flows.short.{key}": value for key, value in other.items()}
    with pytest.raises(InputError, match=message):
        make(given | {"flows.short.ecn": ecn})
    for control in ("reno", "cubic"):
        make({"flows.short.ecn": ecn, "flows.short.congestion": control, "flows.short.recovery": "sack"})


def test_l4s_s_codepoint_needs_a_control_that_takes_many_marks(make: Make) -> None:
    for control in ("reno", "cubic", "bbr3"):
        with pytest.raises(
            InputError, match=f"'l4s' does not go with {control}, to which a mark is as a loss"
        ):
            make({"flows.short.ecn": "l4s", "flows.short.congestion": control})
    for control in ("dctcp", "prague"):
        make({"flows.short.ecn": "l4s", "flows.short.congestion": control})


def test_prague_has_a_pace_of_its_own(make: Make) -> None:
    with pytest.raises(InputError, match="means nothing to prague, which has a pace of its own"):
        make({"flows.short.paced": True, "flows.short.congestion": "prague"})
