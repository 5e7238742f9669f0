"""A Linux kernel's figures of the settings drawn for ns-3, and whom they are nearer to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.referee import program
from bufferlab.evidence.referee.ns3 import arbiter
from bufferlab.evidence.referee.ns3.simulate import scenario_of
from bufferlab.evidence.referee.peers import NS3
from bufferlab.evidence.referee.study import frame_of
from bufferlab.experiment.run import run
from bufferlab.kernel.refusals import refusals
from bufferlab.plan import lower
from bufferlab.scenario import Scenario


def with_ecn() -> Setting:
    """The first setting drawn for ns-3 whose CUBIC uses ECN."""
    drawn_there = (NS3.drawn(1, number) for number in range(1, 99))
    return next(each for each in drawn_there if each.option("ecn") and each.stack == "cubic")


def test_the_arbiter_is_given_linux_hosts_without_noise() -> None:
    setting = with_ecn()
    scenario = arbiter.for_kernel(setting)
    assert scenario["run"]["stack"] == "linux" and len(scenario["links"]) == 1
    assert {group["jitter"] for group in scenario["flows"]} == {"0 s"}
    assert all("recovery" not in group and group["ecn"] == "classic" for group in scenario["flows"])
    assert list(refusals(lower(Scenario.from_dict(scenario), 1))) == []


def test_the_arbiter_is_given_the_kernels_own_fq_codel() -> None:
    numbers = range(1, NS3.count + 1)
    setting = next(each for number in numbers if (each := NS3.drawn(1, number)).option("queue") == "fq_codel")
    assert arbiter.for_kernel(setting)["links"][0]["queue"]["codel_backlog"] == "all"
    assert "codel_backlog" not in scenario_of(setting)["links"][0]["queue"]


def test_the_arbiter_counts_whom_the_kernel_is_nearer_to(tmp_path: Path) -> None:
    settings = {number: NS3.drawn(7, number) for number in (1, 4)}
    theirs = [{"utilization": 0.8 + scatter} for scatter in (0.0, 0.001)]
    pairs = [(each, {"utilization": each["utilization"] + 0.1}) for each in theirs]
    frame = frame_of(NS3, [(number, setting, pairs) for number, setting in settings.items()])
    rows = tmp_path / "kernel.csv"
    assert list(arbiter.judged(frame, arbiter.rulings(rows))) == []
    for setting, kernel in zip(settings.values(), (0.89, 0.81), strict=True):
        compared = {"metric": "utilization", "kernel": kernel, "simulator": 0.9}
        arbiter.append(setting, [compared | {"kernel_ci95": 0.01, "simulator_ci95": 0.0}], rows)
    text = "\n".join(arbiter.judged(frame, arbiter.rulings(rows)))
    assert text.startswith(
        "**In 1 of 2 large differences that a Linux kernel was asked about, it is nearer to Bufferlab"
    )
    assert "0.890" in text and "0.810" in text


def test_dctcp_is_linuxs_where_a_kernel_was_asked() -> None:
    """Three settings, two of them with thresholds of less than two packets' wait; 4 seeds each.

    The kernel's own 95 % interval is ± 0.024 of the utilization at most. With a window that falls at once, by
    fractions of a segment, the first was 0.12 above it.
    """
    known = arbiter.rulings(arbiter.shipped())
    settings = [each for number in range(1, 31) if (each := NS3.drawn(1, number)).stack == "dctcp"]
    assert len(settings) == 3
    for setting in settings:
        name = program.arguments(setting)
        results = list(run(arbiter.for_kernel(setting), seeds=arbiter.SEEDS))
        queues = [result.summary()["queues"][0] for result in results]
        used = sum(queue["utilization"] for queue in queues) / len(queues)
        assert used == pytest.approx(known[name, "utilization"].kernel, abs=0.025)
        wait_ms = sum(queue["wait_mean_ms"] for queue in queues) / len(queues)
        packet_ms = setting.wire_bytes * 8 / setting.rate_bps * 1e3
        assert wait_ms / packet_ms == pytest.approx(known[name, "delay_packets"].kernel, rel=0.05)


def test_our_side_of_what_a_kernel_was_asked_is_measured_again(tmp_path: Path) -> None:
    setting = replace(with_ecn(), duration_s=20.0, warmup_s=15.0)
    other = replace(setting, duration_s=21.0)
    rows = tmp_path / "kernel.csv"
    for each in (setting, other):
        compared = {"metric": "utilization", "kernel": 0.5, "simulator": 2.0}
        arbiter.append(each, [compared | {"kernel_ci95": 0.01, "simulator_ci95": 0.0}], rows)
    arbiter.renew({program.arguments(each): each for each in (setting, other)}, rows, "sim=20")
    known = arbiter.rulings(rows)
    assert 0.5 < known[program.arguments(setting), "utilization"].ours <= 1.0
    assert known[program.arguments(setting), "utilization"].kernel == 0.5
    assert known[program.arguments(other), "utilization"].ours == 2.0


def test_all_that_is_shipped_of_the_kernel_is_of_settings_that_are_drawn() -> None:
    drawn_there = {program.arguments(NS3.drawn(1, number)) for number in range(1, NS3.count + 1)}
    known = arbiter.rulings(arbiter.shipped())
    assert {setting for setting, _ in known} <= drawn_there
    assert len(known) == 3 * 24  # of 30 settings, 6 have RED
