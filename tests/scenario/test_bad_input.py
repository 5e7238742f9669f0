"""Bad input: one line that names the place, the value and what is accepted."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

from .conftest import Make

UDP = {"kind": "udp", "packet": "100 B", "rate": "1 Mbps"}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("run.duration", "0 s", "run.duration: '0 s' is too small; accepted: a time of 1 ps"),
        ("run.duration", "inf s", "run.duration: 'inf s' is not a number with a unit"),
        ("run.duration", 100, "run.duration: 100 is not a text with a number and a unit"),
        ("run.warmup", "100 s", "run.warmup: '100 s' leaves nothing to measure; accepted: less than"),
        ("run.seed", -1, "run.seed: -1 is negative; accepted: the seed"),
        ("run.seed", 1.5, "run.seed: 1.5 is not a whole number"),
        ("run.seed", True, "run.seed: True is not a whole number"),
        (
            "run.stack",
            "bsd",
            "run.stack: 'bsd' is not a known word; accepted: rfc, ns2-sack1, linux, inet-reno, quic",
        ),
        ("run.name", "a\a", "run.name: 'a\\x07' is not a usable title; accepted: one line of text"),
        (
            "run.duraton",
            "1 s",
            "run.duraton: is not a known key (did you mean 'duration'?); accepted: what docs",
        ),
        (
            "advise.for",
            "call",
            "advise.for: 'call' is not a valid kind (did you mean 'calls'?); accepted: throughput,",
        ),
        (
            "advise.for",
            3,
            "advise.for: 3 is not a valid kind; accepted: throughput, fairness, latency, calls, pages,",
        ),
        (
            "advise.weights.cals",
            3,
            "weights.cals: is not a known key (did you mean 'calls'?); accepted: what",
        ),
        (
            "advise.weights.calls",
            -1,
            "advise.weights.calls: -1 is out of bounds; accepted: a weight: a number",
        ),
        (
            "advise.weights.calls",
            1e4,
            "calls: 10000.0 is out of bounds; accepted: a weight: a number of 0 to",
        ),
        ("advise.targets", ["x > 1", "utilization"], "advise.targets[1]: 'utilization' is not a target; acc"),
        ("advise.targets", "x > 1", "advise.targets: 'x > 1' is not a list; accepted: a list"),
        ("advise.targets", [3], "advise.targets[0]: 3 is not a target; accepted: a metric, a relation and a"),
        ("advise.targets", ["shrot.r > 1"], "targets[0]: 'shrot.r > 1' names no flow group (did you mean 's"),
        (
            "advise",
            {"for": "calls", "weights": {}},
            "advise.for: 'calls' does not go with weights; accepted: either for",
        ),
        ("flows.long.ecn", "on", "flows[1].ecn: 'on' is not a known word; accepted: off, classic, abe, l4s"),
        ("links.west.rate", "-1 Mbps", "links[0].rate: '-1 Mbps' is negative; accepted: a rate"),
        ("links.west.rate", "10 ms", "links[0].rate: '10 ms' has a wrong unit"),
        ("links.west.rate", float("nan"), "links[0].rate: nan is not a text"),
        ("links.west.delay", "-1 ms", "links[0].delay: '-1 ms' is negative"),
        ("links.west.buffer", "0 packets", "links[0].buffer: '0 packets' leaves no room"),
        ("links.west.buffer", "1e30 B", "links[0].buffer: '1e30 B' is too large"),
        ("links.west.loss", 1.5, "links[0].loss: 1.5 is out of bounds; accepted: a share of packets"),
        ("links.west.loss", float("nan"), "links[0].loss: nan is out of bounds"),
        ("links.west.loss", "'1 %'", "links[0].loss: '1 %' is not a number (did you mean 0.01?)"),
        ("links.west.loss", "0,5", "links[0].loss: '0,5' is not a number (did you mean 0.5?)"),
        ("run.seed", "0x" + "f" * 40, "run.seed: 146150163733090291...6283019655932542975 is too large"),
        ("run.seed", "1_0:", "run.seed: '1_0:' is not a whole number"),
        ("run.seed", "1,000", "run.seed: '1,000' is not a whole number (did you mean 1000?)"),
        ("links.west.queue", "blue", "links[0].queue: 'blue' is not accepted here; accepted: "),
        (
            "links.west.queue",
            {"discipline": "blue"},
            "links[0].queue.discipline: 'blue' is not a known discipline; accepted: ",
        ),
        ("links.west.queue", {"target": "5 ms"}, "links[0].queue.discipline: is required; accepted: fifo"),
        (
            "links.west.queue",
            {"discipline": "codel", "taget": "5 ms"},
            "links[0].queue.taget: is not a known key (did you mean 'target'?); accepted: what docs/",
        ),
        (
            "links.west.queue",
            {"discipline": "codel", "target": "5 packets"},
            "links[0].queue.target: '5 packets' has a wrong unit",
        ),
        (
            "links.west.queue",
            {"discipline": "codel", "interval": "0 s"},
            "links[0].queue.interval: '0 s' is too",
        ),
        (
            "links.west.queue",
            {"discipline": "fifo", "target": "5 ms"},
            "links[0].queue.target: is not a known key; accepted: discipline",
        ),
        ("links.west.queue", "fq-codel", "'fq-codel' is not accepted here (did you mean 'fq_codel'?)"),
        (
            "links.west.queue",
            {"discipline": "drr", "quantum": "255 B"},
            "queue.quantum: '255 B' is too small",
        ),
        ("links.west.queue", {"discipline": "fq_codel", "flows": 0}, "links[0].queue.flows: 0 is too small"),
        (
            "links.west.queue",
            {"discipline": "pie", "update": "0.9 ms"},
            "queue.update: '0.9 ms' is too small",
        ),
        ("links.west.queue", {"discipline": "pie", "alpha": -1}, "links[0].queue.alpha: -1 is out of bounds"),
        ("links.west.queue", {"discipline": "red", "max_p": 1.1}, "links[0].queue.max_p: 1.1 is out of"),
        (
            "links.west.queue",
            {"discipline": "red", "min_threshold": "unlimited"},
            "links[0].queue.min_threshold: 'unlimited' is not a threshold; accepted: '20 packets',",
        ),
        (
            "links.west.queue",
            {"discipline": "red", "min_threshold": "5 packets", "target_delay": "5 ms"},
            "links[0].queue.target_delay: '5 ms' does not go with given thresholds; accepted: either",
        ),
        ("links.west.queue", "splitbuf", "'splitbuf' is not accepted here (did you mean 'splitbuff'?)"),
        (
            "links.west.queue",
            {"discipline": "splitbuff", "sub_buffers": 9},
            "queue.sub_buffers: 9 is too large",
        ),
        ("links.west.queue", {"discipline": "splitbuff", "smoothing": -1}, "queue.smoothing: -1 is out of"),
        (
            "links.west.queue",
            {"discipline": "splitbuff", "update": "0 s"},
            "queue.update: '0 s' is too small",
        ),
        ("links.west.queue", {"discipline": "splitbuff", "weighted": 1}, "queue.weighted: 1 is not true"),
        (
            "links.west.queue",
            {"discipline": "splitbuff", "thresholds": "gap"},
            "queue.thresholds: 'gap' is not a known word",
        ),
        (
            "links.west.queue",
            {"discipline": "splitbuff", "mean": "bytes"},
            "queue.mean: 'bytes' is not a known word",
        ),
        ("links.west.queue", {"discipline": "splitbuff", "hysteresis": 2}, "queue.hysteresis: 2 is out of"),
        ("links.west.queue", {"discipline": "splitbuff-blind", "rtt": "header"}, "rtt: is not a known key"),
        (
            "links.west.queue",
            {"discipline": "splitbuff", "rtt": "header(13 bits)"},
            "links[0].queue.rtt: 'header(13 bits)' is no source of round-trip times; accepted: 'header',",
        ),
        (
            "links.west.queue",
            {"discipline": "splitbuff", "rtt": "header(9 flows)"},
            "is no source of round-trip",
        ),
        ("links.west.queue", {"discipline": "splitbuff", "rtt": "timestamps(0 flows)"}, "is no source of"),
        ("links.west.queue", {"discipline": "splitbuff", "rtt": "guess"}, "'guess' is no source of"),
        ("links.west.queue", {"discipline": "splitbuff", "rtt": 4}, "4 is no source of"),
        (
            "links.west.changes",
            [{"at": "1 s"}],
            "links[0].changes[0]: changes nothing; accepted: a buffer, a rate or a",
        ),
        (
            "links.west.changes",
            [{"at": "2 s", "buffer": "1 MB"}, {"at": "2 s", "buffer": "2 MB"}],
            "links[0].changes[1].at: '2 s' is not later than the change before it; accepted: a time after 2",
        ),
        ("links", [], "links: is required"),
        (
            "links",
            {"rate": "1 Mbps", "buffer": "1 bdp"},
            "links: {'buffer': '1 bdp', 'rate': '1 Mbps'} is not a list; accepted: tables headed [[links]]",
        ),
        ("bottleneck", {"rate": "1 bps", "buffer": "1 B"}, "bottleneck: cannot be combined with links"),
        ("flows.short.count", 0, "flows[0].count: 0 is too small"),
        (
            "flows.short.count",
            10**9,
            "flows[0].count: 1000000000 is too large; accepted: flows (of all groups",
        ),
        (
            "flows.long.count",
            1_000_000,
            "flows[1].count: 1000000 makes too many flows; accepted: at most 1000000",
        ),
        ("flows.long.name", "short", "flows[1].name: 'short' is the name of flows[0] too"),
        ("flows.short.name", "1st", "flows[0].name: '1st' is not a usable name"),
        (
            "flows.short.rtt",
            "1 ms",
            "flows[0].rtt: '1 ms' is shorter than the links' delays; accepted: at least 2 ms",
        ),
        ("flows.long.rtt_spread", 1, "flows[1].rtt_spread: 1 is out of bounds"),
        ("flows.short.path", ["east"], "flows[0].path[0]: 'east' names no link; accepted: west"),
        ("flows.short.path", [], "flows[0].path: [] is empty"),
        ("flows.short.path", ["west", "west"], "flows[0].path[1]: 'west' is crossed twice"),
        ("flows.short.path", "west", "flows[0].path: 'west' is not a list"),
        ("flows.short.reverse_path", ["back"], "flows[0].reverse_path[0]: 'back' names no link"),
        (
            "flows.short.jitter",
            "10 ms",
            "flows[0].jitter: '10 ms' is not a usable jitter; accepted: 'uniform(",
        ),
        ("flows.short.jitter", "uniform(0 s, 1 s, max=1 ms)", "is not a usable jitter"),
        (
            "flows.short.jitter",
            "uniform(0 s, 101 s)",
            "flows[0].jitter: 'uniform(0 s, 101 s)' is too long a jitter; accepted: times of at most 100 s",
        ),
        ("flows.short.stop", "0 s", "flows[0].stop: '0 s' is not after the start; accepted: after 0 s"),
        (
            "flows.short.application",
            "ftp",
            "flows[0].application: 'ftp' is not accepted here (did you mean \"bulk\"?); accepted: 'bulk'",
        ),
        ("flows.short.application", {"kind": "ftp"}, "flows[0].application.kind: 'ftp' is not a known kind"),
        ("flows.short.application", {}, "flows[0].application.kind: is required; accepted: bulk"),
        ("flows.short.application", {"kind": "transfer"}, "flows[0].application.bytes: is required"),
        (
            "flows.short.application",
            {**UDP, "pacet": 1},
            "application.pacet: is not a known key (did you mean 'packet'?)",
        ),
        (
            "flows.short.application",
            {**UDP, "interval": "1 s"},
            "application: needs either rate or interval",
        ),
        (
            "flows.short.application",
            {**UDP, "header": "101 B"},
            "application.header: '101 B' is more than the packet",
        ),
        ("flows.short.application", {**UDP, "packet": "1 MB"}, "application.packet: '1 MB' is too large"),
        (
            "flows.short.congestion",
            "cubix",
            "flows[0].congestion: 'cubix' is not a known congestion control (did you mean 'cubic'?); ",
        ),
        ("flows.short.congestion", "BIC", "'BIC' is not a known congestion control (did you mean 'bic'?)"),
        (
            "flows.short.congestion",
            "fixed",
            "control (did you mean 'fixed(N)'?); accepted: fixed(N) with N of",
        ),
        ("flows.short.congestion", "fixed(0)", "'fixed(0)' is not a known congestion control"),
        ("flows.short.congestion", "reno(hystart)", "'reno(hystart)' is not a known congestion control"),
        ("flows.short.congestion", "x" * 5000, "is not a known congestion control; accepted: tahoe,"),
        ("flows.short.congestion", ["bic"], "flows[0].congestion: ['bic'] is not a known congestion control"),
        ("flows.short.fast_convergence", 1, "flows[0].fast_convergence: 1 is not true or false"),
        (
            "links.west.mark_above",
            "20 s/s",
            "links[0].mark_above: '20 s/s' has a wrong unit; accepted: '20 packets'",
        ),
        ("links.west.mark_above", "0 packets", "links[0].mark_above: '0 packets' leaves no room"),
        (
            "links.west.mark_above",
            "unlimited",
            "links[0].mark_above: 'unlimited' is not a threshold; accepted: '20 packets', '30 KB',",
        ),
        ("flows.short.window", "0 segments", "flows[0].window: '0 segments' is too small"),
        ("flows.short.window", "2 GiB", "flows[0].window: '2 GiB' is too large; accepted: a size"),
        ("flows.short.segment", "1 MB", "flows[0].segment: '1 MB' is too large"),
        ("flows.short.segment", "0 B", "flows[0].segment: '0 B' is too small"),
        (
            "flows.short.delayed_ack",
            "yes",
            "flows[0].delayed_ack: 'yes' is not a whole number; accepted: true, false",
        ),
        ("flows.short.timestamps", 1, "flows[0].timestamps: 1 is not true or false"),
        ("flows.short.initial_ssthresh", "big", "'big' is not a whole number; accepted: segments, or 'none'"),
        (
            "flows.short.min_rto",
            "2 min",
            "flows[0].min_rto: '120 s' is above max_rto; accepted: at most 60 s",
        ),
        (
            "flows.short.rto_margin",
            "2 min",
            "flows[0].rto_margin: '120 s' is above max_rto; accepted: at most 60 s",
        ),
        (
            "flows.short.recovery",
            "rack",
            "accepted: tahoe, reno, newreno, sack, sack-ns2, reno-ns2, newreno-ns2, linux-ns2, linux",
        ),
        ("flows", [], "flows: [] is empty"),
        ("flows", {"rtt": "1 s"}, "flows: {'rtt': '1 s'} is not a list; accepted: tables headed [[flows]]"),
        ("flows", [3], "flows[0]: 3 is not a table"),
        ("probes.interval", "1 us", "probes.interval: '1 us' makes"),
        (
            "probes",
            {"interval": "1 s", "links": ["east"]},
            "probes.links[0]: 'east' names no links; accepted: west",
        ),
        ("probes", {"interval": "1 s", "flows": ["all"]}, "probes.flows[0]: 'all' names no flows"),
        ("probes", {"links": ["west"]}, "probes.interval: is required"),
        (
            "link",
            [],
            "link: is not a known key (did you mean 'links'?); accepted: what docs/scenario.md lists",
        ),
        ("run", "fast", "run: 'fast' is not a table"),
    ],
)
def test_one_line_says_what_is_wrong(make: Make, path: str, value: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make({path: value})
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.accepted


def test_a_number_that_python_cannot_hold_is_reported(make: Make) -> None:
    with pytest.raises(InputError, match=r"seed: '9+\.\.\.9+' is too large; accepted: the seed"):
        make().with_overrides({"run.seed": "9" * 5000})


def test_a_misspelled_key_comes_before_the_missing_one(table: dict[str, Any]) -> None:
    table["links"][0]["rat"] = table["links"][0].pop("rate")
    with pytest.raises(InputError, match=r"links\[0\]\.rat: .*did you mean 'rate'"):
        Scenario.from_dict(table)


def test_a_missing_key_says_what_it_is_and_what_it_may_be(table: dict[str, Any]) -> None:
    del table["links"][0]["rate"], table["run"]["duration"]
    with pytest.raises(InputError) as caught:
        Scenario.from_dict(table)
    message = str(caught.value)
    assert 'run.duration: is required (Simulated time); accepted: time, such as "500 s"' in message
    rates = 'rate, or one that varies (docs/links.md), such as "100 Mbps" or "2.5 Gbps"'
    assert f"links[0].rate: is required (Transmission rate); accepted: {rates}" in message


def test_names_that_are_given_twice_are_listed_once(table: dict[str, Any]) -> None:
    table["flows"] += [{"name": table["flows"][0]["name"], "rtt": "40 ms"}]
    table["probes"] = {"interval": "1 s", "flows": ["nobody"]}
    with pytest.raises(InputError) as caught:
        Scenario.from_dict(table)
    reported = next(line for line in str(caught.value).splitlines() if "nobody" in line)
    accepted = reported.partition("accepted: ")[2].split(", ")
    assert len(accepted) == len(set(accepted))


def test_negative_weights_are_reported(table: dict[str, Any]) -> None:
    table["flows"][0]["rtt"] = "choice(10 ms: -1, 20 ms: 3)"
    with pytest.raises(InputError, match="has a negative weight; accepted: weights >= 0, not all 0"):
        Scenario.from_dict(table)


@pytest.mark.parametrize("key", ["run", "links", "flows"])
def test_required_parts(table: dict[str, Any], key: str) -> None:
    del table[key]
    with pytest.raises(InputError, match=f"{key}: is required"):
        Scenario.from_dict(table)


def test_short_form_names_its_own_keys(table: dict[str, Any]) -> None:
    link = table.pop("links")[0]
    with pytest.raises(InputError, match=r"bottleneck\.rate: '0 bps' is too small"):
        Scenario.from_dict({**table, "bottleneck": {**link, "rate": "0 bps"}})


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, "1", True])
def test_seeds(make: Make, seed: int) -> None:
    with pytest.raises(InputError, match=r"seed: .* is not a usable seed"):
        lower(make(), seed)
