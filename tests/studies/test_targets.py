"""Targets as written: what they may name, their units, their mistakes, and what runs say of them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare, simulate
from bufferlab.results.metrics.metric import FRACTION, Better
from bufferlab.results.metrics.registry import FLOW_GROUPS, LATENCY, QUEUE_SUMMARY
from bufferlab.studies.everyday import meant
from bufferlab.studies.targets import (
    make_target,
    parse_target,
    parse_targets,
    refuse_contradictions,
    values_of_run,
)

from ..small import dumbbell

GROUPS = ["call", "web-1"]
BOUNDS = {
    **dict.fromkeys(("loss", "utilization"), "5 %"),
    **dict.fromkeys(("throughput", "goodput"), "5 Mbps"),
    **dict.fromkeys(("jain_index", "r", "mos"), "1"),
}
CALL = """\
[[flows]]
name = "call"
application = { kind = "udp", interval = "20 ms", packet = "200 B", record = true }
rtt = "20 ms"
"""


def refused(text: str) -> str:
    with pytest.raises(InputError) as error:
        parse_target(text, GROUPS)
    return str(error.value)


@pytest.mark.parametrize("name", [*FLOW_GROUPS.numbers, *QUEUE_SUMMARY.numbers])
def test_every_metric_of_links_and_flows_may_be_a_target(name: str) -> None:
    target = parse_target(f"{name} <= 0.5", GROUPS)
    assert (target.name, target.at_least, target.bound) == (name, False, 0.5)


@pytest.mark.parametrize(
    "name",
    [
        *LATENCY.numbers,
        *FLOW_GROUPS.numbers,
        *(name for name in QUEUE_SUMMARY.numbers if not name.startswith(("backlog_", "empty_"))),
    ],
)
def test_every_metric_of_a_group_may_be_a_target(name: str) -> None:
    target = parse_target(f"web-1.{name} >= 1", GROUPS)
    assert (target.name, target.group, target.at_least) == (f"web-1.{name}", "web-1", True)


@pytest.mark.parametrize(
    ("text", "name", "bound"),
    [
        ("utilization >= 99 %", "utilization", 0.99),
        ("utilization>=99.9%", "utilization", 0.999),
        ("  utilization  >=  0.99  ", "utilization", 0.99),
        ("utilization >= 100 %", "utilization", 1.0),
        ("loss < 0.1 %", "loss", 0.001),
        ("wait_p99 < 20 ms", "wait_p99_ms", 20.0),
        ("wait_p99_ms < 20", "wait_p99_ms", 20.0),
        ("wait_max < 1 s", "wait_max_ms", 1000.0),
        ("wait_mean < 250 us", "wait_mean_ms", 0.25),
        ("completion_p95 < 200 ms", "completion_p95_s", 0.2),
        ("exchange_s < 1.5", "exchange_s", 1.5),
        ("goodput > 5 Mbps", "goodput_bps", 5e6),
        ("goodput_min > 500 kbps", "goodput_min_bps", 5e5),
        ("throughput_bps > 2e9", "throughput_bps", 2e9),
        ("backlog_mean_bytes < 30 KB", "backlog_mean_bytes", 30_000.0),
        ("backlog_max_bytes < 64 KiB", "backlog_max_bytes", 65_536.0),
        ("backlog_max_bytes < 1500", "backlog_max_bytes", 1500.0),
        ("backlog_mean_packets < 2.5 packets", "backlog_mean_packets", 2.5),
        ("backlog_p99 < 100", "backlog_p99_packets", 100.0),
        ("backlog_p95 <= 100 packets", "backlog_p95_packets", 100.0),
        ("empty < 1 %", "empty_fraction", 0.01),
        ("timeouts <= 0", "timeouts", 0.0),
        ("jain_index > 0.9", "jain_index", 0.9),
        ("call.r > 80", "call.call_r", 80.0),
        ("call.mos >= 4", "call.call_mos", 4.0),
        ("call.delay < 150 ms", "call.call_delay_ms", 150.0),
        ("call . jitter < 3 ms", "call.jitter_ms", 3.0),
        ("call.loss < 1 %", "call.loss", 0.01),
        ("web-1.completion_p95 < 3 s", "web-1.completion_p95_s", 3.0),
    ],
)
def test_values_have_their_units(text: str, name: str, bound: float) -> None:
    target = parse_target(text, GROUPS)
    assert (target.name, target.bound, target.at_least) == (name, bound, ">" in text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "target: '' is not a target; accepted: a metric, a relation and a value, such as"),
        ("utilization", "'utilization' is not a target"),
        ("utilization = 99 %", "'utilization = 99 %' is not a target"),
        ("wait_p99 <", "is not a target"),
        ("foo > 3", "'foo > 3' names no metric; accepted: utilization, loss, wait_mean, wait_p99, "),
        ("utilisation > 3 %", "names no metric (did you mean 'utilization'?)"),
        ("wait < 3 ms", "accepted: wait_mean_ms or wait_p50_ms or wait_p95_ms or wait_p99_ms or wait_max_ms"),
        ("backlog_mean < 3", "accepted: backlog_mean_packets or backlog_mean_bytes"),
        ("mos > 3", "'mos > 3' is known of flow groups only; accepted: GROUP.mos"),
        ("call.backlog_mean_packets < 3", "names no metric"),
        ("call.empty < 3 %", "names no metric"),
        ("cal.r > 80", "names no flow group (did you mean 'call'?); accepted: call, web-1"),
        (
            "utilization >= much",
            "has no usable value for utilization; accepted: a share of 0 to 100 %, such as 99 % or 0.99",
        ),
        ("utilization >= 99", "accepted: a share of 0 to 100 %, such as 99 % or 0.99"),
        ("utilization >= 101 %", "accepted: a share"),
        ("utilization >= nan", "accepted: a share"),
        ("utilization >= nan %", "accepted: a share"),
        (
            "wait_p99 < 5 Mbps",
            "has no usable value for wait_p99_ms; accepted: a time of 0 or more, such as 20 ms",
        ),
        ("wait_p99 < -5", "accepted: a time of 0 or more, such as 20 ms"),
        ("wait_p99 < inf", "accepted: a time of 0 or more, such as 20 ms"),
        ("completion < 5 %", "accepted: a time of 0 or more, such as 1.5 s"),
        ("goodput > 3 MB", "accepted: a rate of 0 or more, such as 5 Mbps"),
        ("backlog_max_bytes < 3 packets", "accepted: a size of 0 or more, such as 30 KB"),
        ("timeouts < 3 %", "accepted: a number"),
        ("wait_p99 < 20", "'wait_p99 < 20' has no unit; accepted: a time of 0 or more, such as 20 ms"),
        ("exchange < 1.5", "has no unit; accepted: a time of 0 or more, such as 1.5 s"),
        ("throughput > 2e9", "has no unit; accepted: a rate of 0 or more, such as 5 Mbps"),
        ("delay < 20 ms", "names no metric (did you mean 'wait_mean'?); accepted: wait_mean or wait_p99"),
        ("drops < 1 %", "names no metric (did you mean 'loss'?); accepted: loss"),
        ("call.latency < 20 ms", "(did you mean 'loaded_rtt_p95'?); accepted: loaded_rtt_p95 or rtt or"),
        ("call.r > 200", "has no usable value for call_r; accepted: 0 to 93.2, the best that there is"),
        ("call.r > 95", "accepted: 0 to 93.2"),
        ("call.mos > 4.5", "accepted: 1 to 4.41"),
        ("call.mos > 0.5", "accepted: 1 to 4.41"),
        ("jain_index > 1.1", "accepted: 0 to 1, the best that there is"),
    ],
)
def test_mistakes_say_what_is_accepted(text: str, message: str) -> None:
    assert message in refused(text)


def test_what_the_box_calls_a_metric_names_it() -> None:
    for word, name in (("fetch_p50", "exchange_p50_s"), ("fetch_p95", "exchange_p95_s")):
        assert parse_target(f"call.{word} < 2 s", GROUPS).name == f"call.{name}"
    assert parse_target("used >= 99 %", GROUPS) == parse_target("utilization >= 99 %", GROUPS)


def test_what_everyday_words_mean_are_targets() -> None:
    words = ["latency", "drops", "bandwidth", "load", "fairness", "duration", "page", "quality"]
    for group, prefix in ((None, ""), ("call", "call.")):
        for name in [name for word in words for name in meant(word, group)]:
            assert parse_target(f"{prefix}{name} >= {BOUNDS.get(name, '1 s')}", GROUPS).metric.name


@given(st.text(max_size=30))
@settings(max_examples=60, deadline=None)
def test_any_text_is_a_target_or_an_error_that_names_it(text: str) -> None:
    mistake: InputError | None = None
    try:
        assert math.isfinite(parse_target(text, GROUPS).bound)
    except InputError as error:
        mistake = error
    assert mistake is None or ((mistake.key, mistake.value) == ("target", text) and mistake.accepted)


@given(
    st.sampled_from([*QUEUE_SUMMARY.numbers]),
    st.sampled_from(["<", "<=", ">", ">="]),
    st.floats(0, 1),
    st.floats(0, 1),
)
@settings(max_examples=60, deadline=None)
def test_a_margin_is_not_negative_where_the_relation_holds(
    name: str, relation: str, bound: float, value: float
) -> None:
    written = f"{name} {relation} {bound!r}"
    if relation == "<" and bound == 0:
        with pytest.raises(InputError, match="cannot be"):
            parse_target(written, ())
        return
    if relation == ">" and parse_target(f"{name} >= 0.5", ()).metric.unit is FRACTION and bound == 1:
        return
    target = parse_target(written, ())
    assert target.bound == bound
    assert (target.margin(value) >= 0) == (value >= bound if ">" in relation else value <= bound)


def test_what_is_unknown_has_no_margin() -> None:
    target = make_target("utilization", 0.99)
    assert math.isnan(target.margin(None)) and math.isnan(target.margin(math.nan))
    assert (target.show(None), target.show(0.98765)) == ("—", "98.77 %")


def test_dashes_stand_for_underscores() -> None:
    assert parse_target("wait-p99 < 3 ms", GROUPS) == parse_target("wait_p99 < 3 ms", GROUPS)
    assert parse_target("web-1.completion-p95 < 3 s", GROUPS) == parse_target(
        "web-1.completion_p95 < 3 s", GROUPS
    )


def test_a_made_target_s_relation_follows_from_what_is_better() -> None:
    for name, at_least in (("utilization", True), ("loss", False), ("wait_p99_ms", False)):
        target = make_target(name, 0.5)
        assert target.at_least is at_least is (target.metric.better is Better.HIGHER)
    assert make_target("utilization", 0.5, at_least=False).at_least is False


def test_targets_are_read_in_their_order() -> None:
    found = parse_targets(["loss < 1 %", "call.r > 80"], GROUPS)
    assert [str(each) for each in found] == ["loss at most 1 %", "call: rating R at least 80"]


@pytest.fixture
def link(tmp_path: Path) -> Path:
    path = tmp_path / "call.toml"
    path.write_text(dumbbell() + CALL)
    return path


def test_a_run_has_what_targets_ask_for(link: Path) -> None:
    result = simulate(prepare(link), 1)
    assert result is not None
    values = values_of_run("bottleneck", result)
    groups = ["near", "far", "call"]
    for name in [*QUEUE_SUMMARY.numbers, *FLOW_GROUPS.numbers]:
        assert name in values
    for group in groups:
        for name in (*LATENCY.numbers, *FLOW_GROUPS.numbers):
            assert f"{group}.{name}" in values
    row = result.queues.filter(link="bottleneck", group="all").row(0, named=True)
    assert all(values[name] == row[name] for name in QUEUE_SUMMARY.numbers)
    rated, kept = parse_targets(["call.r > 0", "call.delay < 150 ms"], groups)
    assert rated.margin(values[rated.name]) == values["call.call_r"]
    delay = values["call.call_delay_ms"]
    assert delay is not None and kept.margin(values[kept.name]) == 150.0 - delay


def test_a_link_that_never_rests_meets_a_utilization_of_all(link: Path) -> None:
    target = parse_target("utilization >= 100 %", ())
    for seed in range(3):
        full = {"bottleneck.buffer": "500 packets", "run.duration": "4 s", "run.warmup": "3 s"}
        result = simulate(prepare(link, full), seed)
        assert result is not None
        assert target.margin(values_of_run("bottleneck", result)["utilization"]) == 0.0


def test_bounds_that_nothing_meets_together_are_refused() -> None:
    least, most = parse_targets(["utilization > 90 %", "utilization < 50 %"], GROUPS)
    with pytest.raises(InputError, match="contradicts another target, utilization at most 50 %"):
        refuse_contradictions([most, least])
    within = parse_targets(
        ["utilization > 50 %", "utilization < 90 %", "call.loss < 1 %", "loss > 2 %"], GROUPS
    )
    refuse_contradictions(within)


@pytest.mark.parametrize(
    ("score", "rated", "go"),
    [
        ("call.mos > 4", "call.r < 50", False),
        ("call.mos > 4", "call.r < 79", False),
        ("call.mos > 4", "call.r < 85", True),
        ("call.mos < 2", "call.r > 70", False),
        ("call.mos < 3.6", "call.r > 65", True),
        ("call.mos > 4", "call.r > 50", True),
        # a mean of calls: half of them perfect and half of them dead have 2.7 at a rating of 47
        ("call.mos > 2.6", "call.r < 47", True),
    ],
)
def test_a_score_goes_with_the_ratings_that_can_have_it(score: str, rated: str, *, go: bool) -> None:
    targets = parse_targets([rated, score], GROUPS)
    if go:
        refuse_contradictions(targets)
        return
    with pytest.raises(InputError, match="contradicts another target, call: rating R"):
        refuse_contradictions(targets)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.01004, "1.004 %"), (0.0100004, "1.00004 %"), (0.01, "1 %"), (0.0123456, "1.235 %")],
)
def test_a_value_is_not_rounded_to_the_bound_that_it_misses(value: float, shown: str) -> None:
    assert parse_target("loss <= 1 %", GROUPS).show_measured(value) == shown


@pytest.mark.parametrize(
    ("written", "value", "digits", "shown"),
    [
        ("loss <= 1 %", 0.01004, 2, "1.004 %"),
        ("loss <= 1.04 %", 0.01043, 2, "1.043 %"),  # "1 %" would read as met
        ("utilization >= 99.5 %", 0.9946, 3, "99.46 %"),
        ("loss <= 1 %", 0.034, 2, "3.4 %"),
    ],
)
def test_what_misses_its_bound_never_reads_as_if_it_met_it(
    written: str, value: float, digits: int, shown: str
) -> None:
    assert parse_target(written, []).show_measured(value, digits) == shown
