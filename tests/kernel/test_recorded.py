"""What a kernel once reported becomes results and verdicts, also where there is no kernel."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab import display
from bufferlab.experiment.run import run
from bufferlab.kernel.boot import Report
from bufferlab.kernel.emulate import packed, unpacked
from bufferlab.kernel.outcome import result_of
from bufferlab.results.result import RunSet
from bufferlab.studies.crosscheck import Crosscheck, Verdict
from bufferlab.studies.crosscheck.reasons import in_theory

from .record import CASES, recorded, scenario


def compared(case: str, **overrides: Any) -> Crosscheck:
    """A record beside the simulator."""
    found = recorded(case)
    mine = scenario(case)
    kernels = result_of(mine, 1, Report(found["rows"], 0.0), title=found["kernel"])
    ours = mine.with_overrides({name.replace("__", "."): value for name, value in overrides.items()})
    return Crosscheck(run(ours, seeds=[1], progress=False), RunSet([kernels]))


@pytest.mark.parametrize("case", CASES)
def test_what_a_store_keeps_is_what_was_reported(case: str) -> None:
    rows = recorded(case)["rows"]
    assert unpacked(packed(rows)) == rows


def test_reno_through_a_fifo_agrees() -> None:
    found = compared("reno-fifo")
    verdicts = {row.compared.name: row.verdict for row in found.rows}
    assert (verdicts["utilization"], verdicts["wait_mean_ms"]) == (Verdict.AGREES, Verdict.AGREES)
    assert found.document()["kernel"].startswith("Linux 6.12")


def test_fq_codel_agrees_if_all_queues_count() -> None:
    """The kernel's CoDel looks at the backlog of all queues: with the queue's own, waits are longer."""
    own, every = (
        {row.compared.name: row for row in compared("reno-fq_codel", bottleneck__queue=queue).rows}
        for queue in (
            {"discipline": "fq_codel"},
            {"discipline": "fq_codel", "codel_backlog": "all", "control_law": "linux"},
        )
    )
    assert own["wait_mean_ms"].verdict is Verdict.DIFFERS
    assert every["wait_mean_ms"].verdict is Verdict.AGREES


def test_a_difference_has_its_likely_reason() -> None:
    rows = {row.compared.name: row for row in compared("reno-fq_codel").rows}
    assert rows["wait_mean_ms"].reason == (
        "Linux's CoDel counts the backlog of all queues: codel_backlog = 'all'"
    )
    assert rows["largest_share"].reason is None
    shown = display.text(compared("reno-fq_codel"))
    assert "wait: mean differs: Linux's CoDel counts the backlog of all queues" in shown


def test_a_lone_reno_flow_has_a_theory() -> None:
    """The link never idles: the buffer of 60 packets is more than the 17.7 of the pipe."""
    long = scenario("reno-fifo").with_overrides({"run.duration": "115 s"})
    (ours,) = run(long, seeds=[1], progress=False)
    theory = in_theory(ours)
    assert theory["utilization"] == 1
    # a period takes 3/8 of the square of 77.7 packets, and loses one of them
    assert theory["loss"] == pytest.approx(8 / 3 / 77.7**2, rel=0.01)
    assert ours.queues["wait_mean_ms"][0] == pytest.approx(theory["wait_mean_ms"], rel=0.05)


def test_what_has_no_theory_has_none() -> None:
    assert [row.theory for row in compared("reno-fq_codel").rows] == [None] * 4
    # less than two periods are measured, so that a mean depends on which part of one it is
    assert [row.theory for row in compared("reno-fifo").rows] == [1, None, None]


def test_what_the_kernel_does_in_its_own_way_is_said() -> None:
    assert compared("reno-fq_codel").document()["kernels_own"] == [
        "bottleneck: control_law is 'linux', the scenario's is 'rfc'",
        "bottleneck: codel_backlog is 'all', the scenario's is 'own'",
        "bulk: jitter is none, the scenario's is up to 50 us",
    ]
