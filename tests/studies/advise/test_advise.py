"""Advice as a whole, on a scenario that takes milliseconds: what it says holds with other seeds."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bufferlab.cli.advising import answer_in_file
from bufferlab.errors import InputError
from bufferlab.experiment.simulation import simulate
from bufferlab.scenario import Scenario
from bufferlab.stats import estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.checked import Checked, checks_at
from bufferlab.studies.advise.question import prepared
from bufferlab.studies.advise.sensitivity import variants
from bufferlab.studies.advise.settings import Settings
from bufferlab.studies.advise.staying import keeps
from bufferlab.studies.advise.today import Today
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.least import Case
from bufferlab.studies.least.candidates import CHECK_SEEDS
from bufferlab.studies.targets import Values, make_target, values_of_run

from ...advised import advised, left_beside_today
from ...small import dumbbell

UTILIZED = Aspect("throughput", "utilization", "utilization", "more")
FRESH = range(90_000, 90_030)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(dumbbell())
    return path


def mean_with(advice: Advice, scenario: Path, metric: str) -> float:
    """Mean over seeds that nobody has seen, with the answer's queue and setting."""
    answer = advice.answer
    changed = answer.queue.scenario(prepared(scenario, None), 0, answer.setting)
    values = []
    for seed in FRESH:
        result = simulate(changed, seed)
        assert result is not None
        values.append(values_of_run("bottleneck", result)[metric])
    mean = estimate(values).mean
    assert mean is not None
    return mean


def test_what_is_advised_holds_with_other_seeds(scenario: Path) -> None:
    targets = ["utilization >= 90 %", "wait_mean < 200 ms"]
    found = advise(scenario, targets, queues="fifo,codel", sensitivity=False, threads=1, progress=False)
    assert found.finished and found.met and found.confidence == 0.95
    assert found.answer.confidence >= 0.95
    assert all(check.met and check.confidence >= 0.95 for check in found.answer.checks)
    assert mean_with(found, scenario, "utilization") >= 0.9
    assert mean_with(found, scenario, "wait_mean_ms") <= 200
    assert {entry.queue.name for entry in found.entries.values()} == {"fifo", "codel"}


def test_what_runs_today_is_run_beside_the_answer_with_its_seeds(scenario: Path) -> None:
    def asked(today: str | None) -> Advice:
        return advise(
            scenario,
            ["utilization >= 90 %"],
            queues="fifo",
            quick=True,
            today=today,
            threads=1,
            progress=False,
        )

    found = asked("fifo:3 packets").today
    assert found is not None and (found.queue, found.buffer, found.packets) == ("fifo", "3 packets", 3)
    base = prepared(scenario, {"bottleneck.buffer": "3 packets"})
    answer = asked(None)
    first = 1 + CHECK_SEEDS
    expected = []
    for seed in range(first, first + len(answer.answer.values)):
        result = simulate(base, seed)
        assert result is not None
        expected.append(values_of_run("bottleneck", result)["utilization"])
    assert [each["utilization"] for each in found.values] == expected
    assert answer.today is None and [str(each) for each in found.missed] == ["utilization at least 90 %"]
    codel = asked("codel").today
    assert codel is not None and codel.packets == 1000
    own = asked("scenario").today
    assert own is not None and own.packets == 20


def test_what_runs_today_is_beside_the_first_answer_of_all_queues(scenario: Path) -> None:
    left = left_beside_today(scenario, queues="fifo,codel")
    assert left.stage == "first" and not left.finished
    assert left.today is not None and len(left.today.values) == len(left.answer.values)


def test_a_platforms_default_is_run_beside_the_answer(scenario: Path) -> None:
    def today(written: str | None, platform: str | None) -> Today | None:
        return advise(
            scenario,
            ["utilization >= 90 %"],
            queues="fifo",
            quick=True,
            platform=platform,
            today=written,
            progress=False,
        ).today

    found = today(None, "ios-xe")
    assert found is not None and found.default_of == "the ASR 1000"
    assert (found.queue, found.packets) == ("fifo", 64)  # 50 ms at 2 Mbps are 8 packets, fewer than it holds
    assert today(None, None) is None and today(None, "nx-os") is None
    said = today("fifo:9", "ios-xe")
    assert said is not None and (said.default_of, said.packets) == (None, 9)
    with pytest.raises(InputError, match="is not known of Cisco NX-OS"):
        today("default", "nx-os")
    with pytest.raises(InputError, match="needs a platform"):
        today("default", None)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("fifo", "has no buffer"),
        ("fifo:3 packts", "has a wrong unit"),
        ("fiffo:3", "is not a known queue"),
        ("fifo:3, codel", "is more than one queue"),
    ],
)
def test_what_runs_today_is_refused_before_any_run(scenario: Path, written: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as raised:
        advise(scenario, today=written, progress=False)
    assert raised.value.key == "today" and "fifo:64 packets" in (raised.value.accepted or "")


def test_targets_that_no_queue_meets_are_said_to_be_missed(scenario: Path) -> None:
    targets = ["utilization >= 99.9 %", "wait_mean < 1 ms"]
    found = advise(scenario, targets, queues="fifo,codel", sensitivity=False, threads=1, progress=False)
    assert found.finished and not found.met
    assert found.answer.confidence == 0.0
    assert any(not check.met for check in found.answer.checks)


def test_settings_that_are_checked_after_others_must_be_surer() -> None:
    target = make_target("utilization", 0.9)
    values: dict[int, Values] = {seed: {"utilization": 0.89 + seed / 1000} for seed in range(30)}
    ((once,), (thrice,)) = (checks_at((target,), 40, values, chances) for chances in (1, 8))
    assert 0.9 < once.confidence < 1.0
    assert 1 - thrice.confidence == pytest.approx(8 * (1 - once.confidence))
    assert (thrice.mean, thrice.runs) == (once.mean, 30)


def test_a_setting_is_given_up_once_more_runs_did_not_make_it_sure_either() -> None:
    """One run of ten is far below the others, so that few runs tell too little, though the mean meets."""
    spread: list[Values] = [{"utilization": share} for share in [0.995] * 9 + [0.948]]
    (found,) = advised({"fifo": (14, spread)}, aspects=[UTILIZED]).entries.values()
    assert found.checks[0].met and found.confidence < 0.95
    target = found.checks[0].target
    for is_last, missed in ((False, ()), (True, (target,))):
        checked = {Case("fifo", 14): Checked({}, 2, is_last)}
        settings = cast("Settings", SimpleNamespace(_checked=checked, confidence=0.95))
        assert Settings.missed(settings, {found.name: found}) == {found.name: missed}


def test_what_a_platform_lacks_is_run_all_the_same() -> None:
    """Flows that fill a large FIFO: FQ-CoDel would wait less, which a platform without it cannot do."""
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "12 s", "warmup": "4 s", "stack": "linux"},
            "bottleneck": {"rate": "10 Mbps", "delay": "1 ms", "buffer": "1 bdp"},
            "flows": [{"count": 4, "rtt": "60 ms", "rtt_spread": 0.5}],
        }
    )
    found = advise(scenario, platform="junos", sensitivity=False, progress=False)
    assert {each.queue.name for each in found.entries.values()} == {"fifo"}
    assert found.absent is not None and found.absent.queue.name == "fq_codel"
    assert len(found.absent.values) == len(found.answer.values)
    wait_ms = found.absent.mean("wait_mean_ms").mean
    assert wait_ms is not None and 0 < wait_ms < 20
    document = found.to_dict(platform="junos")["absent"]
    assert document["wait_mean_ms"] == wait_ms and document["platform"] == "junos"
    assert "lacking: fq_codel, target 5 ms" in str(found)
    linux = advise(scenario, platform="linux", queues="fifo", sensitivity=False, progress=False)
    assert linux.absent is not None and linux.absent.platform is None
    assert "unasked: fq_codel, target 5 ms" in str(linux)


def test_a_platform_does_not_lack_the_queue_that_the_scenario_has_otherwise() -> None:
    own = {"discipline": "fq_codel", "quantum": "300 B"}
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "12 s", "warmup": "4 s", "stack": "linux"},
            "bottleneck": {"rate": "10 Mbps", "delay": "1 ms", "buffer": "1001 packets", "queue": own},
            "flows": [{"count": 4, "rtt": "60 ms", "rtt_spread": 0.5}],
        }
    )
    found = advise(scenario, platform="openwrt", sensitivity=False, progress=False)
    assert "fq_codel" in {each.queue.kind for each in found.entries.values()}
    assert found.absent is None and "has no fq_codel" not in str(found)


def test_half_one_and_two_bandwidth_delay_products_of_fifo_are_measured_whatever_was_searched(
    scenario: Path,
) -> None:
    found = advise(scenario, queues="fifo", sensitivity=False, progress=False)
    least = found.answer.least
    assert least is not None
    for part in (0.5, 1.0, 2.0):
        bdp = found.site.bdp_packets * part
        near = min(least.memory.sizes, key=lambda size: max(size, bdp) / min(size, bdp))
        assert max(near, bdp) / min(near, bdp) <= 1.25
        assert len(least.memory.values(near)) >= 2


def test_what_runs_today_need_not_use_the_link_as_nobody_asked(scenario: Path) -> None:
    """The search for a FIFO asks for 99 %; a FIFO that runs and uses less has its users to judge it."""

    def missed(*targets: str) -> tuple[list[str], float]:
        found = advise(scenario, targets, queues="fifo", quick=True, today="fifo:5 packets", progress=False)
        assert found.today is not None
        return [str(each) for each in found.today.missed], found.today.mean("utilization").mean or 0.0

    (unasked, used), (asked, _) = missed(), missed("utilization >= 99 %")
    assert 0.9 < used < 0.99
    assert (unasked, asked) == ([], ["utilization at least 99 %"])


def test_what_runs_today_is_tried_in_the_changes_of_the_answer_if_it_is_kept() -> None:
    def answered(today: int) -> Advice:
        scenario = Scenario.from_toml(text)
        target, runs = ["utilization >= 80 %"], f"fifo:{today} packets"
        return advise(scenario, target, queues="fifo", today=runs, threads=1, progress=False)

    text = dumbbell(rate="20 Mbps", duration="6 s", buffer="40 packets")
    found, changed = answered(40), answered(200)
    assert found.today is not None and keeps(found)
    assert changed.today is not None and not keeps(changed) and not changed.today.sensitivity
    above = " The queue below is the change that was tried, not what runs today."
    assert above in answer_in_file(found) and above not in answer_in_file(changed)
    shaken = found.today.sensitivity
    assert [each.brief for each in shaken] == [each.brief for each in found.sensitivity] and shaken
    assert [each.values for each in shaken] != [each.values for each in found.sensitivity]
    rtt = next(each for each in shaken if each.title == "twice the round-trip times")
    changes = variants(prepared(Scenario.from_toml(text), {}))
    base = next(each for each in changes if each.title == rtt.title)
    runs = [simulate(base.scenario, seed) for seed in range(1 + CHECK_SEEDS, 1 + CHECK_SEEDS + 4)]
    used = [values_of_run("bottleneck", run)["utilization"] for run in runs if run is not None]
    assert rtt.values["utilization"] == pytest.approx(sum(each or 0.0 for each in used) / 4)


@pytest.mark.parametrize(("buffer", "packets"), [("250 ms", 208), ("300 packets", 300)])
def test_what_runs_today_keeps_its_limit_where_it_is_the_answer(buffer: str, packets: int) -> None:
    """A limit that is never reached is no reason for a change."""
    link = {"rate": "10 Mbps", "delay": "2 ms", "buffer": buffer, "queue": "fq_codel"}
    scenario = {
        "run": {"duration": "12 s", "warmup": "4 s"},
        "bottleneck": link,
        "flows": [{"name": "bulk", "count": 3, "rtt": "30 ms", "jitter": "uniform(0 s, 1 ms)"}],
    }
    found = advise(scenario, queues="scenario", today="scenario", quick=True, lengthen=False, progress=False)
    assert found.today is not None and found.answer.values == found.today.values
    assert found.answer.packets == packets
    assert f"limit {packets} packets" in " ".join(str(found).replace("│", " ").split())
    other = advise(scenario, queues="scenario", quick=True, lengthen=False, progress=False)
    assert other.answer.packets == 1000
