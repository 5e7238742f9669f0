"""What an advice says of losses and of flows that starve, and where."""

from __future__ import annotations

import dataclasses

import pytest

from bufferlab.render.words import value_text
from bufferlab.stats import Estimate
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.least import Run
from bufferlab.studies.targets import Target, Values, make_target

from ..advised import FIFO, advised, entry, runs, site
from .boxes import MET, box


def test_flows_that_starve_beside_others_are_named_at_once() -> None:
    users = (Users("cubic", "bulk", 4, "cubic"), Users("bbr", "bulk", 2, "bbr"))
    given = {**FIFO, "cubic.goodput_bps": 0.2e6, "bbr.goodput_bps": 4.5e6}
    said = " ".join(" ".join(box(advised({"fifo": (14, runs(given))}, where=site(*users)))).split())
    assert "But cubic starves: 0.2 Mbps a flow, where bbr has 4.5 Mbps." in said
    given["cubic.goodput_bps"] = 0.46e6
    assert "starves" not in " ".join(box(advised({"fifo": (14, runs(given))}, where=site(*users))))


def test_flows_that_have_little_to_send_do_not_starve() -> None:
    """On-off flows of 0.3 Mbps were said to starve, and had all that they sent."""
    given = {**FIFO, "pausing.goodput_bps": 0.3e6, "long.goodput_bps": 4.5e6}
    users = (Users("pausing", "on-off", 4, "cubic"), Users("long", "bulk", 2, "cubic"))
    assert "starves" not in " ".join(box(advised({"fifo": (14, runs(given))}, where=site(*users))))
    given["pausing.goodput_bps"] = 50e6
    said = " ".join(" ".join(box(advised({"fifo": (14, runs(given))}, where=site(*users)))).split())
    assert "But long starves: 4.5 Mbps a flow, where pausing has 50 Mbps." in said


def test_datagrams_that_are_lost_more_than_users_put_up_with_are_said_at_once() -> None:
    said = " ".join(" ".join(box(advised({"fifo": (14, runs(FIFO))}))).split())
    assert "But call loses 2 %; --target 'call.loss <= 1 %' asks for less." in said
    bounded = box(advised({"fifo": (14, runs(FIFO))}, ("call.loss <= 3 %",)))
    assert "loses" not in " ".join(bounded)
    fewer = {**FIFO, "call.loss": 0.009}
    assert "loses" not in " ".join(box(advised({"fifo": (14, runs(fewer))})))


def test_a_loss_that_another_control_does_not_have_is_reported_with_it() -> None:
    lossy = {"fifo": (14, runs({**FIFO, "loss": 0.05}))}
    less = Sensitivity("cubic alone", "cubic alone", {"loss": 0.01}, (), None, is_of_control=True)
    other = Sensitivity("half the RTT", "half the RTT", {"loss": 0.001}, (), None)
    text = " ".join(" ".join(box(advised(lossy, sensitivity=[other, less]))).split())
    assert "Loss is 5 %: the congestion control causes most, as with cubic alone it is 1 %." in text
    alike = dataclasses.replace(less, values={"loss": 0.04})
    assert "causes most" not in " ".join(box(advised(lossy, sensitivity=[other, alike])))


def test_a_loss_has_one_cause_whether_another_control_was_tried_or_not() -> None:
    """A quick answer said that few packets are under way, and a full one that the control causes most."""
    lossy, where = {"fifo": (14, runs({**FIFO, "loss": 0.05}))}, site(Users("x", "bulk", 20, "cubic"))
    less = Sensitivity("reno in place of cubic", "reno", {"loss": 0.01}, (), None, is_of_control=True)
    few = "Loss is 5 %: 20 flows have about 5 packets each under way. With so few, they lose often."
    quick, full = (
        " ".join(" ".join(box(advised(lossy, where=where, sensitivity=each))).split())
        for each in ([], [less])
    )
    assert few in quick and f"{few} With reno in place of cubic it is 1 %." in full
    mixed = site(Users("x", "bulk", 10, "cubic"), Users("y", "bulk", 10, "bbr"))
    alone = dataclasses.replace(less, title="cubic alone")
    quick, full = (
        " ".join(" ".join(box(advised(lossy, where=mixed, sensitivity=each))).split())
        for each in ([], [alone])
    )
    assert "under way" not in quick and "Loss is" not in quick
    assert "the congestion control causes most, as with cubic alone it is 1 %." in full


def test_whether_the_answer_holds_with_controls_that_may_be_as_true_is_said() -> None:
    use = make_target("utilization", 0.99)

    def tried(name: str, loss: float = 0.01, *missed: Target) -> Sensitivity:
        values = {"loss": loss, "utilization": 0.93 if missed else 1.0}
        return Sensitivity(name, name, values, missed, None, is_of_control=True, is_supposed=True)

    def said(*sensitivity: Sensitivity) -> str:
        lossless = {"fifo": (14, runs({**FIFO, "loss": 0.01}))}
        return " ".join(" ".join(box(advised(lossless, sensitivity=list(sensitivity)))).split())

    assert "controls The answer holds with cubic and reno, too." in said(tried("cubic"), tried("reno"))
    mixed = said(tried("cubic"), tried("bbr", 0.2), tried("reno", 0.01, use))
    assert "holds with cubic, too; with bbr it loses 20 %; with reno utilization is 93 %." in mixed
    assert "The answer does not hold; with bbr it loses 20 %." in said(tried("bbr", 0.2))
    assert "what if" not in mixed and "what-ifs" not in mixed and "But with" not in mixed


@pytest.mark.parametrize(("control", "expected"), [("dctcp", True), ("cubic", False)])
def test_dctcp_on_a_link_that_does_not_mark_is_noted(control: str, expected: bool) -> None:
    aspects = [Aspect("latency", "round trip with the mean wait", "wait_mean_ms", "less", 40.0)]
    where = site(Users("x", "bulk", 4, control))
    text = " ".join(box(advised({"fifo": (14, runs(FIFO))}, where=where, aspects=aspects)))
    assert ("Nothing marks here, so that DCTCP backs off at losses" in text) == expected
    assert ("--set links.west.mark_above='30 packets' marks." in " ".join(text.split())) == expected


def test_datagrams_alone_have_neither_fairness_nor_goodput() -> None:
    where = site(Users("poisson", "udp", 1, None))
    aspects = [Aspect("calls", "poisson: loss", "poisson.loss", "rest")]
    values = {
        "utilization": 0.8,
        "loss": 0.004,
        "wait_mean_ms": 1.4,
        "wait_p99_ms": 5.8,
        "poisson.loss": 0.004,
    }
    given = {"fifo": (8, runs(values))}
    text = "\n".join(box(advised(given, ("loss <= 1 %",), where=where, aspects=aspects)))
    assert "poisson loss 0.4000 ± 0.0004 %" in text
    assert "rating" not in text and "Mbps each" not in text


@pytest.mark.parametrize(
    ("changes", "users", "said"),
    [
        ({"loss": 0.05, "utilization": 0.99}, [Users("x", "udp", 1, None)], "offer 104 % of the rate"),
        ({"loss": 0.05, "utilization": 0.80}, [Users("x", "udp", 1, None)], None),
        (
            {"loss": 0.05},
            [Users("x", "bulk", 20, "reno")],
            "20 flows have about 5 packets each under way. With so few, they lose often.",
        ),
        ({"loss": 0.05}, [Users("x", "bulk", 2, "reno")], None),
        ({"loss": 0.05}, [Users("x", "bulk", 10, "cubic"), Users("y", "bulk", 10, "bbr")], None),
    ],
)
def test_a_high_loss_is_reported_with_a_reason_only_where_the_runs_have_it(
    changes: dict[str, float], users: list[Users], said: str | None
) -> None:
    """Without one the row of the link has the loss."""
    values = {**FIFO, **changes}
    aspects = [Aspect("latency", "round trip with the mean wait", "wait_mean_ms", "less", 40.0)]
    advice = advised(
        {"fifo": (14, runs(values))}, ("utilization >= 70 %",), where=site(*users), aspects=aspects
    )
    text = " ".join(box(advice))
    assert ("Loss is" in text) == (said is not None) and (said is None or said in text)


def test_a_bound_on_the_loss_is_proposed_where_some_buffer_keeps_it() -> None:
    advice = advised({"fifo": (14, runs({**FIFO, "loss": 0.03}))}, where=site(Users("x", "bulk", 2, "reno")))
    light: dict[int, Values] = {150: {**FIFO, "loss": 0.002}}
    found = entry("fifo", 14, runs({**FIFO, "loss": 0.03}), advice.targets, other=light)
    text = " ".join(box(dataclasses.replace(advice, entries={found.name: found})))
    assert "Loss is 3 %; --target 'loss <= 1 %' would bound it." in text
    assert "would bound it" not in " ".join(box(advice))


def test_a_heavy_loss_that_nobody_bounded_is_in_the_first_lines() -> None:
    lossy = {"fifo": (14, runs({**FIFO, "loss": 0.147}))}
    first = " ".join(box(advised(lossy))[:6])
    assert (
        "Nothing is worth running. What meets the target: fifo with a buffer of 14 packets" in first
        and "Run fifo" not in first
    )
    assert "But 15 % of the packets are lost, and each of the " in first
    assert "buffers tried, up to 200 packets, loses 14 % or more." in first
    whole = " ".join(" ".join(box(advised(lossy))).split())
    assert "type nothing, since it loses what hardly anybody would accept" in whole
    bounded = advised(lossy, ("utilization >= 99 %", "loss < 20 %"))
    assert "of the packets are lost" not in " ".join(box(bounded))
    assert "of the packets are lost" not in " ".join(box(advised(MET)))


def test_a_buffer_that_loss_decided_is_shown_with_what_its_neighbors_lose() -> None:
    given = {6: 0.14, 7: 0.09, 14: 0.02, 28: 0.004}
    others = {size: {**FIFO, "loss": loss} for size, loss in given.items()}
    advice = advised({"fifo": (14, runs(others[14]))})
    (taken,) = advice.entries.values()
    assert taken.least is not None
    memory = taken.least.memory.copy()
    memory.add({Run(size, 9): values for size, values in others.items() if size != 14})
    least = dataclasses.replace(taken.least, size=6, memory=memory)
    larger = dataclasses.replace(taken, least=least, least_behind=Estimate(0.06, 0.012))
    changes = [
        Sensitivity("twice the flows (8)", "8 flows", {"loss": 0.081}, (), None),
        Sensitivity("half the flows (2)", "2 flows", {"loss": 0.011}, (), None),
    ]
    shown = dataclasses.replace(advice, entries={taken.name: larger}, sensitivity=tuple(changes))
    said = " ".join(" ".join(box(shown)).split())
    assert "meets the targets: 6 packets; but it loses 14 %, 7 lose 9 %, 28 lose 0.4 %." in said
    assert "But with 8 flows 8.1 % of the packets are lost." in said
    assert "8 flows met; loses 8.1 % 2 flows met; loss 1.1 %" in said
    assert "suffice" not in said
    light = dataclasses.replace(shown, entries=advice.entries)
    assert "8 flows met; loses 8.1 % 2 flows met" in " ".join(" ".join(box(light)).split())


@pytest.mark.parametrize(
    ("mean", "half", "shown"),
    [
        (0.01004, None, "1.004 %"),
        (0.0100004, None, "1.00004 %"),
        (0.01004, 0.002, "1.004 ± 0.2 %"),
        (0.014, 0.002, "1.4 ± 0.2 %"),
    ],
)
def test_a_measured_loss_is_not_rounded_to_its_target(mean: float, half: float | None, shown: str) -> None:
    assert value_text(make_target("loss", 0.01), Estimate(mean, half)) == shown
