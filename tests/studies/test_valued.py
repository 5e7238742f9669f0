"""Targets on what the traffic has no value of, which are refused before anything is run."""

from __future__ import annotations

import itertools
from typing import Final

import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare, simulate
from bufferlab.results.metrics.metric import TEXT
from bufferlab.results.metrics.registry import FLOW_GROUPS, LATENCY, QUEUE_SUMMARY
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.targets import Target, parse_target, values_of_run
from bufferlab.studies.valued import refuse_valueless

LINK: Final = """
[run]
duration = "6 s"
warmup = "1 s"
[bottleneck]
rate = "8 Mbps"
delay = "2 ms"
buffer = "40 packets"
"""
KINDS: Final = {
    "long": "",
    "file": '{ kind = "transfer", bytes = "20 KB" }',
    "bursts": '{ kind = "on-off", size = "10 KB", off = "200 ms" }',
    "waves": '{ kind = "on-off", on = "200 ms", off = "200 ms" }',
    "short": '{ kind = "short-flows", size = "5 KB", interval = "100 ms" }',
    "pages": '{ kind = "web", size = "10 KB", every = "200 ms" }',
    "probes": '{ kind = "web", size = "1 KB", every = "200 ms" }',
    "tv": '{ kind = "video", segment = "500 ms", ladder = ["100 kbps", "200 kbps"] }',
    "meeting": '{ kind = "video-call", max_rate = "300 kbps", start_rate = "200 kbps" }',
    "call": '{ kind = "udp", packet = "200 B", interval = "20 ms" }',
    "noise": '{ kind = "udp", packet = "500 B", rate = "50 kbps" }',
    "ping": '{ kind = "ping", interval = "50 ms" }',
}


def scenario(*names: str) -> Scenario:
    """Flow groups of these kinds, named after them, over a link."""
    flows = [
        f'[[flows]]\nname = "{name}"\nrtt = "20 ms"\n'
        + ('start = "2 s"\n' if name == "file" else "")
        + (f"application = {KINDS[name]}\n" if KINDS[name] else "")
        for name in names
    ]
    return Scenario.from_toml(LINK + "\n".join(flows))


def is_refused(target: Target, base: Scenario) -> bool:
    try:
        refuse_valueless(target, f"{target.name} < 1", base.resolved["flows"])
    except InputError:
        return True
    return False


@pytest.mark.parametrize(
    "names", [tuple(KINDS), ("call",), ("pages", "call"), ("long", "waves"), ("ping", "tv")]
)
def test_what_is_refused_has_no_value_in_a_run_and_what_is_not_has_one(names: tuple[str, ...]) -> None:
    base = scenario(*names)
    result = simulate(prepare(base), 1)
    assert result is not None
    values = values_of_run("bottleneck", result)
    metrics = [each for each in (*QUEUE_SUMMARY, *FLOW_GROUPS, *LATENCY) if each.unit is not TEXT]
    wrong = []
    for metric, group in itertools.product(metrics, (None, *names)):
        if group is not None and metric.name.startswith(("backlog_", "empty_")):
            continue  # which parsing refuses
        target = Target(metric, group, at_least=False, bound=1.0)
        has = values.get(target.name) is not None
        is_open = not has and metric.censored_by  # too few have come to their end
        if is_refused(target, base) == has and not is_open:
            wrong.append(target.name)
    assert wrong == [], wrong


def test_a_target_without_a_value_names_the_groups_that_have_one() -> None:
    base = scenario("long", "call", "meeting")
    with pytest.raises(InputError) as refused:
        advise(base, ["jitter < 2.5 ms"])
    message = str(refused.value)
    assert "has no value of the whole scenario (did you mean 'call.jitter < 2.5 ms'?)" in message
    assert "accepted: call.jitter < 2.5 ms or meeting.jitter < 2.5 ms" in message
    with pytest.raises(InputError, match=r"has no value of long .did you mean 'meeting.frames_late < 1 %'"):
        advise(base, ["long.frames_late < 1 %"])
    with pytest.raises(InputError, match="accepted: a metric that some flow group of the scenario has"):
        advise(base, ["stalls < 1 %"])
    parsed = parse_target("call.jitter < 20 ms", ["long", "call", "meeting"])
    assert not is_refused(parsed, base)
