"""The referee: drawn settings, verdicts that can fail, and runs of ns-2 or of a stand-in."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from bufferlab import _core
from bufferlab.cli import main
from bufferlab.errors import InputError
from bufferlab.evidence.ns2.equivalent import scenario_of
from bufferlab.evidence.ns2.explanations import EXPLANATIONS
from bufferlab.evidence.ns2.judging import (
    CONFIDENCE,
    Figure,
    Judgment,
    Verdict,
    judged,
    judged_in_pairs,
    welch_half_width,
)
from bufferlab.evidence.ns2.measure import simulate
from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.pages import END
from bufferlab.evidence.referee import Referee, kept, program, published, referee
from bufferlab.evidence.referee.draw import LEAST_WINDOW, RTT_MS, drawn, nudged
from bufferlab.evidence.referee.figures import FIGURES, figures_of
from bufferlab.evidence.referee.peers import NS2, NS3, PEERS
from bufferlab.evidence.referee.report import BEGIN, detail_file, generated, update_docs
from bufferlab.evidence.referee.study import LOOK_CONFIDENCE, STAGES, Pairs, explained, frame_of
from bufferlab.experiment.runner import Runner

LOSS = next(each for each in FIGURES if each.name == "loss")


def test_a_draw_is_the_same_whatever_is_drawn_before() -> None:
    assert drawn(1, 7) == drawn(1, 7)
    assert drawn(1, 7) != drawn(2, 7)
    assert drawn(1, 1) != drawn(1, 2)


def test_draws_keep_to_their_ranges() -> None:
    settings = [drawn(3, number) for number in range(1, 301)]
    assert {each.stack.startswith("linux-") for each in settings} == {False, True}
    for each in settings:
        assert 1e6 <= each.rate_bps <= 10e6
        assert all(RTT_MS[0] <= rtt <= RTT_MS[1] for rtt in each.rtt_ms)
        bdp = each.rate_bps * sum(each.rtt_ms) / 2 / 1e3 / 8 / each.wire_bytes
        assert (bdp + each.buffer_packets) / each.flows >= LEAST_WINDOW or each.flows <= 2
        assert 40 <= each.duration_s - each.warmup_s <= 150


def test_runs_of_a_setting_differ_in_phase() -> None:
    setting = drawn(1, 1)
    first, second = nudged(setting, 1), nudged(setting, 2)
    assert first.rtt_ms != second.rtt_ms
    for near, far in zip(setting.rtt_ms, first.rtt_ms, strict=True):
        assert near <= far <= near * 1.01
    equal = replace(setting, rtt_ms=(40.0, 40.0))
    assert len(set(nudged(equal, 5).rtt_ms)) == 1


def test_the_interval_is_that_of_welchs_test() -> None:
    random = np.random.default_rng(4)
    first, second = random.normal(1.0, 0.1, 6), random.normal(1.2, 0.4, 15)
    interval = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.99)
    assert welch_half_width(first, second) == pytest.approx((interval.high - interval.low) / 2)
    assert welch_half_width([1.0, 1.0], [2.0, 2.0]) == 0.0


@pytest.mark.parametrize(
    ("ours", "half_width", "verdict"),
    [
        (0.102, 0.004, Verdict.SAME),
        (0.105, 0.004, Verdict.SMALL),
        (0.108, 0.004, Verdict.UNDECIDED),
        (0.100, 0.011, Verdict.UNDECIDED),  # what scatters does not agree
        (0.115, 0.004, Verdict.LARGE),
        (0.200, 0.050, Verdict.LARGE),
    ],
)
def test_verdicts(ours: float, half_width: float, verdict: Verdict) -> None:
    margin = LOSS.margin(0.1)
    judgment = Judgment(LOSS, 0.1, ours, ours - 0.1, half_width=half_width, margin=margin)
    assert judgment.verdict is verdict


def test_margins_are_ten_percent_or_two_points() -> None:
    by_name = {each.name: each for each in FIGURES}
    assert by_name["utilization"].margin(0.5) == pytest.approx(0.02)
    assert by_name["loss"].margin(0.05) == pytest.approx(0.005)
    assert by_name["mean_queue_packets"].margin(0.2) == pytest.approx(0.1)


def test_judging_takes_means() -> None:
    figure = Figure("x", "x")
    judgment = judged(figure, [1.0, 2.0, 3.0], [2.0, 2.0])
    assert (judgment.theirs, judgment.ours) == (2.0, 2.0)
    assert judgment.verdict is Verdict.UNDECIDED


def test_figures_are_of_all_flows() -> None:
    setting = replace(drawn(1, 1), flows=3, rtt_ms=(10.0, 20.0), rate_bps=8e6, wire_bytes=1000)
    measured = {
        "utilization": 0.9, "mean_queue_packets": 4.0,
        "arrivals1": 100.0, "drops1": 0.0, "wait1_ms": 2.0, "goodput1_mbps": 1.0,
        "goodput1_sd_mbps": 0.0, "timeouts1": 1.0, "window_cuts1": 2.0,
        "arrivals2": 110.0, "drops2": 10.0, "wait2_ms": 4.0, "goodput2_mbps": 4.0,
        "goodput2_sd_mbps": 0.0, "timeouts2": 3.0, "window_cuts2": 4.0,
    }  # fmt: skip
    figures = figures_of(setting, measured)
    assert figures["loss"] == pytest.approx(10 / 210)
    assert figures["delay_packets"] == pytest.approx(3.0)  # a packet takes 1 ms
    assert figures["timeouts"] == 4.0
    assert figures["share1"] == pytest.approx(2 / 6)
    assert figures["goodput_spread"] == pytest.approx(2**0.5 / 2)


def test_kept_runs_come_back(tmp_path: Path) -> None:
    setting = drawn(1, 2)
    file = tmp_path / "runs.csv"
    kept.append(file, 2, setting, {1: {"utilization": 0.5, "loss": 1.25e-3}}, NS2.columns)
    kept.append(file, 2, setting, {2: {"utilization": 0.75}}, NS2.columns)
    with file.open("a") as stream:
        stream.write("2,cc=sack1 rate")  # killed here
    runs = kept.read(file)[program.arguments(setting)]
    assert runs == {1: {"utilization": 0.5, "loss": 1.25e-3}, 2: {"utilization": 0.75}}
    assert kept.read(tmp_path / "none.csv") == {}


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `ns` that prints the measurements of our own run of a small setting, and counts its calls."""
    setting = replace(drawn(1, 5), stack="sack1", options=(), flows=2, duration_s=40.0)
    measured = simulate(setting, 1)
    assert measured is not None
    line = " ".join(f"{name}={value}" for name, value in measured.items())
    folder = tmp_path / "bin"
    folder.mkdir()
    calls = tmp_path / "calls"
    (folder / "ns").write_text(f"#!/bin/sh\necho x >> {calls}\necho 'RESULT {line}'\n")
    (folder / "ns").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setattr("bufferlab.evidence.referee.study.STAGES", (2, 3))
    stands = replace(NS2, drawn=lambda _draw, _number: setting)
    monkeypatch.setitem(PEERS, "ns2", stands)
    monkeypatch.setattr("bufferlab.evidence.referee.study.NS2", stands)
    return calls


def test_both_sides_run_and_nothing_is_run_twice(stand_in: Path, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    result = referee(peer=PEERS["ns2"], draw=9, count=1, rows=rows, runner=Runner(progress=False))
    assert set(result.frame["figure"]) >= {"utilization", "loss", "mean_queue_packets"}
    # the stand-in gives one run's figures for all seeds, so it has no scatter, and ours lies around it
    utilization = result.frame.row(by_predicate=pl.col("figure") == "utilization", named=True)
    assert utilization["verdict"] in {"same", "small"}
    before = len(stand_in.read_text().split())
    assert before == len(rows.read_text().splitlines()) - 1
    referee(peer=PEERS["ns2"], draw=9, count=1, rows=rows, runner=Runner(progress=False))
    assert len(stand_in.read_text().split()) == before


def test_ns2_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ns").write_text("#!/bin/sh\necho 'no such agent' >&2\nexit 2\n")
    (tmp_path / "ns").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(InputError, match=r"cc=.*failed: no such agent"):
        program.run(drawn(1, 1), 1)


def test_without_ns2_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["validate", "referee", "--draw", "987", "--count", "1", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "apt-get install ns2" in said
    assert "no run of it is kept for draw 987" in said


def test_another_reference_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "referee", "--against", "omnet", "--out", str(tmp_path)]) == 2
    assert "--against" in capsys.readouterr().err


def test_command(stand_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["validate", "referee", "--draw", "9", "--count", "1", "--out", str(tmp_path / "out"), "--json"]
    assert main(command) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "bufferlab-referee"
    assert document["comparisons"][0]["setting"].startswith("cc=sack1 rate=")
    assert stand_in.exists()
    assert (tmp_path / "out" / "referee.csv").exists()


def test_docs_are_made_from_the_detail_beside_them(stand_in: Path, tmp_path: Path) -> None:
    result = referee(peer=PEERS["ns2"], draw=9, count=1, runner=Runner(progress=False))
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    update_docs(result, page)
    text = page.read_text()
    assert generated(page).strip() == text.partition(BEGIN)[2].partition(END)[0].strip()
    assert (tmp_path / detail_file(NS2)).exists()
    assert text.startswith("before\n") and text.endswith("\nafter\n")
    assert stand_in.exists()


def test_the_experiment_of_an_explanation_is_the_setting_with_its_options() -> None:
    (explanation,) = [each for each in EXPLANATIONS if each.name == "less where the access link is as fast"]
    word, options = "10/990 ms, 312 packets (25ms) access=100 ", dict(explanation.options)
    (plain,) = published.settings([word], as_they_are=True)
    assert published.settings([word], as_they_are=True, options=options) == [explanation.experiment(plain)]


def test_ties_of_published_settings_are_drawn_once(stand_in: Path, tmp_path: Path) -> None:
    chosen = published.settings(["10 flows, 100 ms, 129 packets"])
    assert {each.scenario for each in chosen} == {"oc3", "alone"}
    assert all(each.option("shift") == "77e-6" for each in chosen)
    file = tmp_path / "rows.csv"
    assert len(list(published.missing(chosen, 2, file))) == 2 * len(chosen)
    published.add(chosen[0], 1, file)
    assert "shift=77e-6" in file.read_text().splitlines()[1]
    left = list(published.missing(chosen, 2, file))
    assert len(left) == 2 * len(chosen) - 1
    assert (chosen[0], 1) not in left
    assert len(stand_in.read_text().split()) == 1


def test_a_mix_has_the_goodput_of_each_control() -> None:
    mixes = published.settings(["mix: "], as_they_are=True)
    assert len(mixes) == 24
    assert published.columns_of(mixes[0])[-2:] == ("goodput_cubic_mbps", "goodput_reno_mbps")
    (plain, *_) = published.settings(["oc3: "], as_they_are=True)
    assert published.columns_of(plain)[-1] == "window_cuts2"


@pytest.mark.skipif(shutil.which(program.PROGRAM) is None, reason="ns-2 is not installed")
def test_ns2_spreads_the_controls_of_a_mix_as_we_do() -> None:
    setting = replace(
        drawn(1, 1), stack="linux-mix", rate_bps=2e6, wire_bytes=1000, flows=6, rtt_ms=(20.0, 20.0),
        buffer_packets=20, duration_s=4.0, warmup_s=1.0, options=(("mix", "reno:3,bic:1,cubic:2"),),
    )  # fmt: skip
    asked = subprocess.run(
        [program.PROGRAM, str(resources.files("bufferlab.evidence.referee") / program.SCRIPT),
         *program.arguments(setting).split(), "seed=1"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    said = [line.split()[-1] for line in asked.stdout.splitlines() if line.startswith("cmd select_ca")]
    assert said == setting.control_of


@pytest.mark.skipif(shutil.which(program.PROGRAM) is None, reason="ns-2 is not installed")
def test_sack1_drops_what_ns2_drops() -> None:
    setting = replace(
        drawn(1, 1), stack="sack1", rate_bps=5e6, wire_bytes=1000, flows=2, rtt_ms=(23.456, 61.237),
        buffer_packets=30, duration_s=30.0, warmup_s=5.0, options=(),
    )  # fmt: skip
    theirs, ours = program.run(setting, 3), simulate(setting, 3)
    assert theirs is not None
    assert ours is not None
    for name in ("drops1", "drops2", "timeouts1", "timeouts2", "window_cuts1", "window_cuts2"):
        assert ours[name] == theirs[name] > 0 or name.startswith("timeouts")
    assert ours["arrivals1"] == pytest.approx(theirs["arrivals1"], abs=2)  # under way as measuring ends
    assert ours["mean_queue_packets"] == pytest.approx(theirs["mean_queue_packets"], rel=1e-3)


def test_the_result_tells_its_draw(stand_in: Path) -> None:
    result = referee(peer=PEERS["ns2"], draw=9, count=1, runner=Runner(progress=False))
    assert isinstance(result, Referee)
    assert (result.draw, result.lacking) == (9, 0)
    assert stand_in.exists()


def test_a_large_difference_is_explained_where_the_experiment_agrees() -> None:
    setting = replace(drawn(1, 5), options=())
    peer = replace(NS2, drawn=lambda _draw, _number: setting)
    theirs = [{"utilization": 0.8 + scatter, "loss": 0.01} for scatter in (0.0, 0.001, 0.002)]
    lower = [(each, {"utilization": each["utilization"] - 0.2, "loss": 0.0001}) for each in theirs]
    asked = []

    def experiment(point: tuple[int, int, str], _seed: int, _control: _core.Control) -> Pairs:
        asked.append(point)
        return [(each, each) for each in theirs]

    frame = frame_of(peer, [(5, setting, lower)])
    assert frame["verdict"].to_list() == ["large", "large"]
    found = explained(peer, frame, 1, experiment, Runner(threads=1, progress=False))
    # the loss is more apart than the explanation allows
    assert found["explanation"].to_list() == ["less where ns-2 rounds ties", ""]
    assert asked == [(1, 5, "less where ns-2 rounds ties")]

    def again(_point: tuple[int, int, str], _seed: int, _control: _core.Control) -> Pairs:
        return lower

    assert not any(explained(peer, frame, 1, again, Runner(threads=1, progress=False))["explanation"])


def test_an_experiment_changes_ns2_and_ours_alike() -> None:
    setting = replace(drawn(1, 5), options=())
    experiment = EXPLANATIONS[0].experiment(setting)
    assert program.arguments(experiment) == f"{program.arguments(setting)} overhead=1e-9"
    assert {group["jitter"] for group in scenario_of(experiment)["flows"]} == {"uniform(0 s, 0.001 us)"}


def test_pairs_are_judged_by_their_differences() -> None:
    random = np.random.default_rng(4)
    ns2 = random.normal(1.0, 0.5, 12)
    ours = ns2 + random.normal(0.01, 0.02, 12)
    interval = stats.ttest_rel(ours, ns2).confidence_interval(LOOK_CONFIDENCE)
    judgment = judged_in_pairs(Figure("x", "x"), ns2.tolist(), ours.tolist(), LOOK_CONFIDENCE)
    assert judgment.half_width == pytest.approx((interval.high - interval.low) / 2)
    assert judgment.difference == pytest.approx((interval.high + interval.low) / 2)
    assert judgment.verdict in {Verdict.SAME, Verdict.SMALL}
    assert judged(Figure("x", "x"), ns2.tolist(), ours.tolist()).verdict is Verdict.UNDECIDED


def test_all_looks_together_err_no_more_than_one() -> None:
    assert len(STAGES) * (1 - LOOK_CONFIDENCE) == pytest.approx(1 - CONFIDENCE)


def test_ns3s_draws_take_queues_in_turns_and_keep_to_their_ranges() -> None:
    settings = [NS3.drawn(3, number) for number in range(1, 201)]
    assert [each.option("queue") for each in settings[:5]] == ["fifo", "codel", "fq_codel", "pie", "red"]
    assert {NS3.part(each) for each in settings} <= {part for _, parts in NS3.parts for part in parts}
    for each in settings:
        assert 5e6 <= each.rate_bps <= 20e6
        assert (each.stack == "dctcp") == bool(each.option("cethresh"))
        assert each.stack != "bbr" or each.option("queue") == "fifo"
        assert not (each.option("queue") == "pie" and each.option("ecn"))


def with_ecn() -> Setting:
    """The first setting drawn for ns-3 whose CUBIC uses ECN."""
    drawn_there = (NS3.drawn(1, number) for number in range(1, 99))
    return next(each for each in drawn_there if each.option("ecn") and each.stack == "cubic")


def test_what_is_drawn_for_ns3_runs_here_with_its_queue_and_marks() -> None:
    setting = with_ecn()
    measured = NS3.simulate(replace(setting, duration_s=30.0), 1)
    assert measured is not None
    figures = figures_of(setting, measured)
    assert set(NS3.columns) >= set(figures) - {"timeouts", "window_cuts"} > {"marked", "loss"}
    assert figures["marked"] > 0
    assert figures["loss"] == 0


def test_published_settings_run_again_as_they_are(stand_in: Path, tmp_path: Path) -> None:
    chosen = published.settings(["mininet: sack1, 2 flows, 87 ms, 45 packets (0.1bdp)"], as_they_are=True)
    assert sorted(each.option("overhead") for each in chosen) == ["", "0.001"]
    file = tmp_path / "rows.csv"
    work = list(published.missing(chosen, 2, file, first=2))
    assert [seed for _, seed in work] == [2, 2, 3, 3]
    plain = next(each for each in chosen if not each.options)
    published.add(plain, 2, file)
    row = file.read_text().splitlines()[1]
    assert row.startswith("mininet,sack1,62.5,1500,2,87,87,45,0.1bdp,2,200,60,,")
    assert stand_in.exists()


def test_ns3_that_is_not_installed_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if NS3.is_there():
        pytest.skip("ns-3 is installed")
    command = ["validate", "referee", "--against", "ns3", "--draw", "987", "--count", "1"]
    assert main([*command, "--out", str(tmp_path)]) == 2
    assert "pip install ns3" in capsys.readouterr().err
