"""The engine in WebAssembly gives what the native one gives, byte by byte, and says the same of mistakes."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

import bufferlab
from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.size import rules

from .engine import CHROMIUM, MODULES, ROOT, hashes, missing, run

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

SHORT: Final = {"run.duration": "6 s", "run.warmup": "1 s"}
LENGTHS: Final = ("6 s", "12 s", "30 s", "60 s")
"""Where flows start later."""
FAST_LINKS: Final = ("data-center.toml", "internet-exchange.toml", "switch.toml")
"""Nine tenths of all packets of 6 s of every example; in 2 s they have a million still."""
EXAMPLES: Final = tuple(sorted((ROOT / "examples").glob("*.toml")))
CONTROLS: Final = (
    "reno", "cubic", "cubic-linux(hystart)", "bbr", "bbr3", "dctcp", "vegas", "westwood", "htcp", "scalable",
    "compound", "bic", "ledbat++",
)  # fmt: skip


def mixed(queue: str, control: str) -> str:
    return f"""
run = {{ duration = "3 s", warmup = "1 s", stack = "linux" }}
bottleneck = {{ rate = "20 Mbps", delay = "2 ms", buffer = "60 packets", queue = "{queue}", loss = 0.001 }}
flows = [
  {{ name = "near", count = 2, rtt = "20 ms", congestion = "{control}" }},
  {{ name = "far", rtt = "80 ms" }},
]
probes = {{ interval = "10 ms" }}
"""


def native(scenario: Scenario) -> dict[str, dict[str, str]]:
    return hashes(_core.simulate(scenario.seeded().plan_json()))


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Every discipline under CUBIC, every control under two disciplines."""
    queues = [mixed(queue, "cubic") for queue in _core.queue_words()]
    return queues + [mixed(queue, control) for control in CONTROLS for queue in ("fifo", "fq_codel")]


@pytest.mark.parametrize("chromium", [False, True], ids=["node", "chromium"])
def test_scenarios_give_the_same_bytes(texts: list[str], *, chromium: bool) -> None:
    if chromium and not (CHROMIUM and MODULES.exists()):
        pytest.skip("needs chromium and the page's packages")
    jobs = [{"scenario": {"text": text}} for text in texts]
    answers = run(jobs, chromium=(CHROMIUM or "") if chromium else "")
    assert len(answers) > 25
    for text, answer in zip(texts, answers, strict=True):
        scenario = Scenario.from_toml(text)
        assert answer.get("problems") is None, text
        assert answer["read"]["hash"] == _core.hash_plan(scenario.seeded().plan_json())
        assert answer["tables"] == native(scenario), text
        assert answer["packets"] > 1000


def short(path: Path) -> Scenario:
    """An example with the least of some lengths in which all its flows start."""
    for length in ("2 s", *LENGTHS) if path.name in FAST_LINKS else LENGTHS:
        with suppress(bufferlab.InputError):
            scenario = Scenario.load(path).with_overrides({"run.duration": length, "run.warmup": "1 s"})
            scenario.seeded()
            return scenario
    return Scenario.load(path)


def test_examples_give_the_same_bytes() -> None:
    shortened = [short(path) for path in EXAMPLES]
    answers = run([{"plan": scenario.seeded().plan_json()} for scenario in shortened])
    for path, scenario, answer in zip(EXAMPLES, shortened, answers, strict=True):
        assert answer["tables"] == native(scenario), path.name


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("bufferbloat.toml", {}),
        ("call.toml", {}),
        (
            "call.toml",
            {"bottleneck.queue": "fifo", "bottleneck.buffer": "400 ms"},
        ),  # a call that waits, and loses
        (
            "call.toml",
            {"flows.call.application.interval": "201 ms", "flows.call.application.record": "true"},
        ),  # datagrams that no call has
        ("video-call.toml", {}),
        ("video-call.toml", {"bottleneck.queue": "fq_codel", "flows.backup.start": "1 s"}),
        ("parking-lot.toml", {}),
        ("splitbuff.toml", {}),
    ],
)
def test_what_a_run_came_to_is_what_the_command_says(name: str, changed: dict[str, str]) -> None:
    scenario = short(ROOT / "examples" / name).with_overrides(changed)
    (answer,) = run([{"scenario": {"text": scenario.to_toml()}}])
    expected = bufferlab.run(scenario).summary()
    groups = [group["name"] for group in answer["read"]["groups"]]
    links = [link["plan"]["name"] for link in answer["read"]["links"]]
    for group, own in zip(groups, answer["summary"]["groups"], strict=True):
        (row,) = [row for row in expected["flows"] if row["group"] == group]
        assert own["goodput_bps"] == pytest.approx(row["goodput_bps"])
        assert own["exchange_s"] == pytest.approx(row["exchange_s"])
        calls = [row for row in expected["latency"] if row["group"] == group and row["call_r"] is not None]
        assert (own["call"] is not None) == bool(calls), group
        for row in calls:
            assert own["call"]["rating"] == pytest.approx(row["call_r"])
            assert own["call"]["score"] == pytest.approx(row["call_mos"])
            assert own["call"]["delay_ms"] == pytest.approx(row["call_delay_ms"])
        frames = own["frames"] or {"late": None, "p95_ms": None}
        assert frames["late"] == pytest.approx(row.get("frames_late"))
        assert frames["p95_ms"] == pytest.approx(row.get("frame_p95_ms"))
    for link, own in zip(links, answer["summary"]["links"], strict=True):
        rows = {row["group"]: row for row in expected["queues"] if row["link"] == link}
        assert own["utilization"] == pytest.approx(rows["all"]["utilization"])
        seen = {"all": own["all"]} | {
            group: of for group, of in zip(groups, own["groups"], strict=True) if of
        }
        assert seen.keys() == rows.keys()
        for group, of in seen.items():
            assert of["loss"] == pytest.approx(rows[group]["loss"])
            assert of["wait_mean_ms"] == pytest.approx(rows[group]["wait_mean_ms"])


@pytest.mark.parametrize("control", ["reno", "bic", "cubic-0.8", "cubic-0.7", "ctcp", "newreno"])
def test_marks_are_what_the_rules_say(control: str) -> None:
    text = (ROOT / "examples" / "published-link.toml").read_text()
    overrides = {"flows.long.congestion": control, "run.duration": "30 s"}
    (answer,) = run([{"scenario": {"text": text, "overrides": overrides}, "begin": False}])
    frame = rules(Scenario.from_toml(text), overrides=overrides).frame
    expected = dict(zip(frame["rule"], frame["buffer_packets"], strict=True))
    marks = {mark["name"]: mark["packets"] for mark in answer["read"]["links"][0]["marks"]}
    assert list(marks) == ["Stanford", "Theorem 2, 99 %", "BDP"]
    assert marks["Theorem 2, 99 %"] == expected["heterogeneous"]
    assert (marks["Stanford"], marks["BDP"]) == (expected["stanford"], expected["bdp"])


@pytest.mark.parametrize(("name", "mark"), [("heterogeneous.toml", 115), ("call.toml", None)])
def test_theorem_2_marks_mixes_and_no_control_that_it_does_not_know(name: str, mark: int | None) -> None:
    text = (ROOT / "examples" / name).read_text()
    (answer,) = run([{"scenario": {"text": text}, "begin": False}])
    marks = {mark["name"]: mark["packets"] for mark in answer["read"]["links"][0]["marks"]}
    assert marks.get("Theorem 2, 99 %") == mark


def test_words_of_queues_and_controls_are_said_as_in_the_documents() -> None:
    (answer,) = run([{"scenario": {"text": mixed("fifo", "cubic")}, "steps": 2, "duration_ps": 10**12}])
    said = {each["word"]: each["doc"] for kind in ("queues", "controls") for each in answer["read"][kind]}
    documents = (ROOT / "docs" / "scenario.md").read_text()
    for word in ("pie", "splitbuff-weighted", "reno", "bbr3"):
        assert said[word].rstrip(".")[1:40] in documents, word
    assert len(said) > 40
    assert all(said.values())


@pytest.mark.parametrize("queue", ["fifo", "fq_codel", "drr", "splitbuff", "splitbuff-weighted"])
def test_what_a_discipline_has_inside_is_its_backlog(queue: str) -> None:
    job = {"scenario": {"text": mixed(queue, "cubic")}, "steps": 20, "duration_ps": 3 * 10**12}
    (answer,) = run([job])
    assert len(answer["insides"]) == 19
    seen = 0
    for sample, inside in zip(answer["samples"], answer["insides"], strict=True):
        parts = inside["classes"] or inside["queues"]
        seen = max(seen, len(parts))
        if parts:
            assert sum(part["packets"] for part in parts) == sample[5]
        limits = [part["limit"]["packets"] for part in inside["classes"]]
        assert sample[9] == sum(limits)  # nothing where a queue has no sub-buffers
        assert inside["queues_in_all"] == len(inside["queues"])
        assert {queue["group"] for queue in inside["queues"]} <= {0, 1}
    assert seen == {"fifo": 0, "splitbuff": 2, "splitbuff-weighted": 4}.get(queue, 3)
    if queue.startswith("splitbuff"):
        thresholds = [part["threshold_s"] for part in answer["insides"][-1]["classes"]]
        assert thresholds[-1] is None
        assert 0.02 < thresholds[0] < 0.2


def test_samples_tell_how_long_the_last_exchange_took() -> None:
    scenario = Scenario.load(ROOT / "examples" / "call.toml").with_overrides(SHORT)
    job = {"scenario": {"text": scenario.to_toml()}, "steps": 4, "duration_ps": 6 * 10**12}
    (answer,) = run([job])
    assert answer["tables"] == native(scenario)
    exchanges = bufferlab.run(scenario).exchanges.filter(pl.col("end_s") <= 4.5)
    moment, senders = answer["samples"][-1][0], answer["samples"][-1][-18:]
    assert moment == pytest.approx(4.5)
    assert senders[2] == 0, "downloads have none"
    for group, felt in (("call", senders[8]), ("ping", senders[14])):
        last = exchanges.filter(pl.col("group") == group).sort("number").tail(1)
        assert felt == pytest.approx(last["end_s"].item() - last["start_s"].item(), abs=1e-9)


@pytest.mark.parametrize("queue", ["fifo", "codel", "pie", "red"])
def test_one_queue_is_shown_in_the_order_of_arrival(queue: str) -> None:
    job = {"scenario": {"text": mixed(queue, "cubic")}, "steps": 1500, "duration_ps": 3 * 10**12}
    (answer,) = run([job])
    orders = [inside["order"] for inside in answer["insides"]]
    assert {order["every"] for order in orders} == {1}
    moved, both = 0, 0
    for earlier, later in pairwise(order["groups"] for order in orders):
        # some are gone from the front, and others have come behind
        gone = next(
            gone for gone in range(len(earlier) + 1) if earlier[gone:] == later[: len(earlier) - gone]
        )
        moved += 0 < gone < len(earlier)
        both += len(set(later)) > 1
    assert moved > 100 and both > 100
    for inside, sample in zip(answer["insides"], answer["samples"], strict=True):
        arrived, dropped, departed = (sample[10 + count] + sample[14 + count] for count in range(3))
        assert len(inside["order"]["groups"]) == arrived - dropped - departed


def test_several_queues_show_no_order() -> None:
    for queue in ("fq_codel", "splitbuff"):
        job = {"scenario": {"text": mixed(queue, "cubic")}, "steps": 20, "duration_ps": 3 * 10**12}
        (answer,) = run([job])
        pairs = zip(answer["insides"], answer["samples"], strict=True)
        full = [inside["order"]["groups"] for inside, sample in pairs if sample[5] > 0]
        assert len(full) > 3 and not any(full)


def test_steps_and_samples_change_nothing() -> None:
    scenario = Scenario.from_toml(mixed("fq_codel", "cubic"))
    job = {"scenario": {"text": scenario.to_toml()}, "steps": 50, "duration_ps": 3 * 10**12}
    (answer,) = run([job])
    assert answer["tables"] == native(scenario)
    times = [sample[0] for sample in answer["samples"]]
    assert times == pytest.approx([3 / 50 * step for step in range(1, 50)])
    arrived, dropped, departed = answer["samples"][-1][1:4]
    waiting, of_groups = answer["samples"][-1][5], answer["samples"][-1][10:18]
    assert of_groups[0] + of_groups[4] == arrived
    assert 0 <= arrived - dropped - departed - waiting <= 1


def test_a_limit_set_on_the_way_is_that_of_the_plan() -> None:
    text = mixed("fifo", "cubic")
    moment, limit = 1_500_000_000_000, {"packets": 10}
    (answer,) = run([{"scenario": {"text": text}, "limits": [[moment, 0, limit]]}])
    plan = json.loads(Scenario.from_toml(text).seeded().plan_json())
    plan["links"][0]["changes"] = [{"at_ps": moment, "limit": limit}]
    assert answer["tables"] == hashes(_core.simulate(json.dumps(plan)))
    assert answer["tables"] != native(Scenario.from_toml(text))


def test_a_target_set_on_the_way_begins_there() -> None:
    scenario = Scenario.from_toml(mixed("codel", "cubic"))
    discipline = json.loads(scenario.seeded().plan_json())["links"][0]["discipline"]
    other = {**discipline, "target_ps": 10 * discipline["target_ps"]}
    jobs = [
        {"scenario": {"text": scenario.to_toml()}, "disciplines": [[moment, 0, to]]}
        for moment, to in ((0, other), (1_500_000_000_000, discipline), (1_500_000_000_000, other))
    ]
    begun, same, changed = (answer["tables"] for answer in run(jobs))
    assert begun == native(scenario.with_overrides({"bottleneck.queue.target": "50 ms"}))
    assert same == native(scenario)
    assert changed not in (begun, same)
    (refused,) = run(
        [{**jobs[0], "disciplines": [[0, 0, {"kind": "drr", "limit": "unlimited", "quantum_bytes": 1514}]]}]
    )
    assert "discipline" in refused["problems"][0]["message"]


def test_waits_and_packets_are_those_of_the_command(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(mixed("fifo", "cubic"))
    (answer,) = run([{"scenario": {"text": scenario.to_toml()}, "capture": 500}])
    result = bufferlab.run(scenario, pcap=tmp_path / "run.pcapng", record_limit=500)
    assert answer["capture"] == hashlib.sha256((tmp_path / "run.pcapng").read_bytes()).hexdigest()
    bounds, counts = answer["waits"][::2], answer["waits"][1::2]
    assert bounds == sorted(bounds)
    (mean_ms,) = result.queues.filter(pl.col("group") == "all")["wait_mean_ms"]
    mean_s = sum(bound * count for bound, count in zip(bounds, counts, strict=True)) / sum(counts)
    assert 1000 * mean_s == pytest.approx(mean_ms, rel=0.02)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "run = 3",
        "[run\nduration = 1",
        mixed("codle", "cubic"),
        mixed("fifo", "cubic").replace("20 Mbps", "20 Mppp").replace("80 ms", "soon"),
        '{"run": {}}',
    ],
)
def test_mistakes_are_those_of_the_command(text: str) -> None:
    (answer,) = run([{"scenario": {"text": text}}])
    with pytest.raises(InputError) as caught:
        _read(text)
    assert [problem["message"] for problem in answer["problems"]] == str(caught.value).splitlines()
    if "Mppp" in text:
        assert [problem["line"] for problem in answer["problems"]] == [3, 6]


def _read(text: str) -> Scenario:
    return Scenario.from_json(text) if text.startswith("{") else Scenario.from_toml(text)


def test_overrides_and_seeds_are_those_of_the_command() -> None:
    text = Path(EXAMPLES[0]).read_text()
    overrides = SHORT | {"bottleneck.buffer": "37 packets"}
    (answer,) = run([{"scenario": {"text": text, "overrides": overrides, "seed": 7}}])
    scenario = Scenario.load(EXAMPLES[0]).with_overrides(overrides)
    assert answer["read"]["hash"] == _core.hash_plan(scenario.seeded(7).plan_json())
    assert answer["read"]["links"][0]["plan"]["discipline"]["limit"] == {"packets": 37}
    assert Scenario.from_toml(answer["read"]["toml"]).resolved == scenario.resolved


@pytest.mark.parametrize(
    "job",
    [
        {"plan": "{"},
        {"plan": '{"version": 1}'},
        {"scenario": {"text": "", "wrong": 1}},
        {"scenario": {"text": mixed("fifo", "cubic")}, "limits": [[0, 9, {"packets": 1}]]},
        {"scenario": {"text": mixed("fifo", "cubic")}, "limits": [[0, 0, {"packets": 0}]]},
    ],
)
def test_what_is_wrong_is_said_not_run(job: dict[str, Any]) -> None:
    (answer,) = run([job])
    assert answer.keys() == {"problems"}
    assert len(answer["problems"]) == 1
