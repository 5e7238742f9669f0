"""The stories' numbers are those of their runs, and their files are complete."""

from __future__ import annotations

import json
import math
import re
import statistics
import tomllib
from typing import Any, Final

import polars as pl
import pytest

import bufferlab
from bufferlab.web.documents import page_of

from .engine import ROOT

FILES: Final = sorted((ROOT / "web" / "stories").glob("*.toml"))
STEPS: Final = [
    pytest.param(story, step, id=f"{path.stem}-{number}")
    for path in FILES
    for story in [tomllib.loads(path.read_text())]
    for number, step in enumerate(story["steps"], 1)
]
SCALES: Final = {
    ("fraction", "%"): 100,
    ("ms", "ms"): 1,
    ("ms", "s"): 1e-3,
    ("s", "ms"): 1000,
    ("s", "s"): 1,
    ("bps", "Mbps"): 1e-6,
    ("mos", "MOS"): 1,
}


def test_each_document_has_a_story() -> None:
    assert [path.stem for path in FILES] == ["1-home", "2-buffer", "3-root", "4-kinds", "5-split"]


def value(summary: dict[str, Any], of: str, metric: str) -> float:
    """A metric of a group, at the only link where it is one of queues."""
    rows = [
        row
        for table in ("queues", "flows", "latency")
        for row in summary[table]
        if metric in row and row["group"] == of
    ]
    found: list[float] = [row[metric] for row in rows]
    assert len(found) == 1, f"{metric} of {of}"
    return found[0]


@pytest.mark.parametrize(("story", "step"), STEPS)
def test_a_lesson_says_what_its_runs_give(story: dict[str, Any], step: dict[str, Any]) -> None:
    assert 0 <= step["right"] < len(step["choices"])
    assert step["numbers"], "an answer rests on a run"
    text = " ".join(step["answer"].split())
    summaries: dict[int, dict[str, Any]] = {}
    for number in step["numbers"]:
        assert number["says"] in text
        variant = number["variant"]
        if variant not in summaries:
            overrides = step["variants"][variant].get("set", {})
            summaries[variant] = bufferlab.run(
                tomllib.loads(step.get("scenario", story["scenario"])), overrides=overrides
            ).summary()
        match = re.fullmatch(r"([\d.]+) (\S+)", number["says"])
        assert match
        digits, unit = match.groups()
        kind = number["metric"].rsplit("_", 1)[-1]
        scale = SCALES[kind if kind in {"ms", "s", "bps", "mos"} else "fraction", unit]
        measured = scale * value(summaries[variant], number["of"], number["metric"])
        half_a_digit = 0.5 * 10 ** -len(digits.partition(".")[2])
        assert abs(measured - float(digits)) <= half_a_digit * 1.001, f"{number} is {measured}"


def beginning(name: str, step: int, variant: int, until: str) -> dict[str, Any]:
    """What the first moments of a lesson's run came to, which its table leaves out."""
    (story,) = (tomllib.loads(path.read_text()) for path in FILES if path.stem == name)
    lesson = story["steps"][step]
    overrides = lesson["variants"][variant].get("set", {}) | {"run.warmup": "0 s", "run.duration": until}
    return bufferlab.run(
        tomllib.loads(lesson.get("scenario", story["scenario"])), overrides=overrides
    ).summary()


def lesson_of(name: str, step: int) -> tuple[dict[str, Any], str]:
    """The scenario of a story, and the answer of one of its lessons."""
    (story,) = (tomllib.loads(path.read_text()) for path in FILES if path.stem == name)
    lesson = story["steps"][step]
    return tomllib.loads(story["scenario"]), " ".join(lesson["answer"].split())


def test_what_a_lesson_says_of_pages_holds_for_other_seeds() -> None:
    scenario, text = lesson_of("1-home", 1)
    pages_ms: dict[int, list[int]] = {}
    for packets, lost in ((5, 8), (20, 12), (100, 0)):
        overrides = {"bottleneck.buffer": f"{packets} packets"}
        runs = [bufferlab.run(scenario, overrides=overrides | {"run.seed": seed}) for seed in range(1, 9)]
        summaries = [run.summary() for run in runs]
        pages_ms[packets] = [round(1000 * value(each, "page", "exchange_s")) for each in summaries]
        span = f"{min(pages_ms[packets])} to {max(pages_ms[packets])} ms"
        assert span in text
        assert not lost or all(
            round(1 / value(each, "page", "loss")) in {lost - 1, lost} for each in summaries
        )
    quicker = sum(few < more for few, more in zip(pages_ms[5], pages_ms[20], strict=True))
    assert (quicker, "quicker with 5 in six of the eight, and slower in two" in text) == (6, True)
    for packets in (5, 20):
        below = sum(one < most for one, most in zip(pages_ms[packets], pages_ms[100], strict=True))
        assert below >= 7


def test_what_a_lesson_says_of_the_backlog_is_so() -> None:
    scenario, text = lesson_of("2-buffer", 1)
    least = {}
    for packets in (9, 18):
        overrides = {"bottleneck.buffer": f"{packets} packets", "probes.interval": "5 ms"}
        samples = bufferlab.run(scenario, overrides=overrides).queue_samples
        least[packets] = samples.filter(pl.col("time_s").is_between(20, 199))["backlog_packets"].min()
    assert least == {9: 0, 18: 4}
    assert "with 9 packets it just touches zero" in text
    assert "With 18 it falls to 4, and never below." in text
    scenario, text = lesson_of("2-buffer", 2)
    assert "by one packet a round trip" in text
    assert "after 20 s a round trip lasts 0.7 s" in text
    assert "from about 85 s on more than a second" in text
    overrides = {"bottleneck.buffer": "500 packets", "probes.interval": "5 ms"}
    samples = bufferlab.run(scenario, overrides=overrides | {"run.warmup": "0 s"}).queue_samples
    waits_s = {
        at: samples.filter(pl.col("time_s") <= at)["backlog_bytes"][-1] * 8 / 1e6 for at in (20, 80, 90)
    }
    assert abs(waits_s[20] + 0.04 - 0.7) < 0.05
    assert waits_s[80] < 1 < waits_s[90]


def test_what_texts_say_of_the_first_moments_is_so() -> None:
    for until, timeouts in (("1 s", 0), ("1.5 s", 1)):  # three packets are lost, and a timeout waited for
        almost_none = beginning("2-buffer", 0, 0, until)
        assert value(almost_none, "all", "dropped_packets") == 3
        assert value(almost_none, "transfer", "timeouts") == timeouts
    small, whole = (beginning("3-root", 0, variant, "30 s") for variant in (0, 1))  # half a minute to climb
    assert value(small, "all", "utilization") < 0.7
    assert value(whole, "all", "utilization") > 0.9
    for variant in (0, 1, 2):
        assert value(beginning("4-kinds", 2, variant, "2 s"), "all", "dropped_packets") > 2000
    split = tomllib.loads(FILES[-1].read_text())["scenario"]
    starts_ps = json.loads(bufferlab.Scenario.from_toml(split).seeded().plan_json())["flows"]["start_ps"]
    assert 10**12 < min(starts_ps) < 1.5 * 10**12
    assert max(starts_ps) < 5 * 10**12


def test_what_a_lesson_says_of_pages_losses_and_of_the_line_is_so() -> None:
    scenario, text = lesson_of("1-home", 1)
    burst, times = {}, {}
    for packets in (5, 100):
        summary = bufferlab.run(scenario, overrides={"bottleneck.buffer": f"{packets} packets"}).summary()
        losses = value(summary, "page", "recoveries")
        burst[packets] = value(summary, "page", "dropped_packets") / losses
        times[packets] = losses / value(summary, "page", "exchanges")
    assert 3 < burst[5] < 4
    assert round(times[5]) == 5
    assert "three or four packets at a time, about five times a page" in text
    assert (round(burst[100]), times[100]) == (24, 1)
    assert "one such moment a page, but 24 packets at once" in text
    thinking = {"bottleneck.queue": "fq_codel", "bottleneck.buffer": "1000 packets"}
    summary = bufferlab.run(scenario, overrides=thinking).summary()
    assert value(summary, "all", "backlog_max_packets") < 100  # in the time that tables count
    _, first = lesson_of("1-home", 0)
    packets = math.ceil(177669 / 1448)
    assert f"its {packets} packets alone take the line {(177669 + 52 * packets) * 8 / 1e4:.0f} ms" in first


def test_what_a_lesson_says_of_theorem_2_is_so() -> None:
    (story,) = (tomllib.loads(path.read_text()) for path in FILES if path.stem == "4-kinds")
    lesson = story["steps"][1]
    text = " ".join(lesson["answer"].split())
    bdp, n, z = 62.5e6 * 0.087 / 12000, 50, 2.33
    reno, cubic = (round(bdp / (1 - z * a / n**0.5) - bdp) for a in (0.19, 0.09))
    assert f"it asks for {reno} packets with Reno, and for {cubic} with CUBIC" in text
    assert lesson["variants"][2]["set"]["bottleneck.buffer"] == f"{cubic} packets"
    spreads = []
    for variant in lesson["variants"][:2]:
        overrides = variant.get("set", {}) | {"probes.interval": "50 ms", "probes.per_group": "50"}
        samples = bufferlab.run(tomllib.loads(lesson["scenario"]), overrides=overrides).flow_samples
        flows = samples.filter(pl.col("time_s") > 50).group_by("flow")
        inflight = pl.col("inflight_segments")
        found = flows.agg((inflight.std() / inflight.mean()).alias("a"))["a"].to_list()
        spreads.append(statistics.fmean(found))
    assert "we measure a as {:.2f} with Reno and {:.2f} with CUBIC".format(*spreads) in text


def test_documents_that_facts_name_exist() -> None:
    named = [
        found.groups()
        for path in FILES
        for step in tomllib.loads(path.read_text())["steps"]
        for fact in step.get("facts", ())
        for found in re.finditer(r"docs/([\w-]+\.md)(?:, ([a-z0-9-]+(?:/\w+)?))?", fact["source"])
    ]
    assert ("reproduce.md", "bloat-mininet/table1") in named
    assert ("latency.md", None) in named
    for file, place in named:
        page = page_of((ROOT / "docs" / file).read_text())
        assert place is None or f'id="{place.replace("/", "")}"' in page, place


def test_what_to_take_along_is_so_in_the_story_s_own_runs() -> None:
    kinds, split = (tomllib.loads(path.read_text()) for path in FILES[3:5])
    end = " ".join(kinds["end"].split())
    assert f"a whole BDP (here {622e6 * 0.1 / 12000:.0f} packets), but for 99 % more than BDP/√n" in end
    assert "460 packets are enough, 368 are not" in end
    assert "98.6 %" in kinds["steps"][-1]["answer"]  # with BDP/√n
    assert f"less than BDP/√n: 40 packets, not {62.5e6 * 0.087 / 12000 / 50**0.5:.0f}" in end
    rates = {}
    for number in split["steps"][-1]["numbers"]:
        if number["metric"] == "goodput_bps":
            rates[number["variant"], number["of"]] = float(number["says"].split()[0])
    assert rates[1, "near"] > 1.2 * rates[1, "far"]  # FQ-CoDel's, where SplitBuff's are both 4.8 Mbps
    end = " ".join(split["end"].split())
    assert "SplitBuff's rates are the more equal" in end
    waits = {
        (number["variant"], number["of"]): number["says"]
        for number in split["steps"][-1]["numbers"]
        if number["metric"] == "wait_mean_ms"
    }
    assert f"far packets wait {waits[1, 'far']} there in place of {waits[0, 'far']}" in end
    assert f"Near ones wait {waits[0, 'near']} under SplitBuff and {waits[1, 'near']} under FQ-CoDel" in end


def test_far_flows_are_hit_half_as_often_as_they_send_a_quarter() -> None:
    scenario, text = lesson_of("5-split", 0)
    assert "sends a quarter as much as a near one, but is hit half as often" in text
    for seed in (1, 2, 3, 4):
        summary = bufferlab.run(scenario, overrides={"run.seed": seed}).summary()
        sent, hit = (
            value(summary, "far", metric) / value(summary, "near", metric)
            for metric in ("goodput_bps", "recoveries")
        )
        assert 0.2 < sent < 0.3
        assert 0.4 < hit < 0.6
        assert value(summary, "far", "loss") > 1.2 * value(summary, "near", "loss")
