"""Why one of equally good queues is taken."""

from __future__ import annotations

from bufferlab.studies.choosing.order import keeps_apart, reason_of


def test_a_queue_is_there_already_only_if_somebody_wrote_it() -> None:
    assert reason_of("scenario, target 5 ms", "the scenario's fq_codel", ["pie"]) == "it is there already"
    assert reason_of("scenario, target 5 ms", "fq_codel", ["pie, target 15 ms"]) == "it keeps flows apart"


def test_that_flows_are_kept_apart_is_no_reason_against_what_keeps_them_apart() -> None:
    assert reason_of("fq_codel, target 5 ms", "fq_codel", ["cake", "pie"]) == "it keeps flows apart"
    assert reason_of("fq_codel, target 5 ms", "fq_codel", ["cake"]) == "it is the more usual one"
    assert reason_of("fifo, 20 packets", "fifo", ["cake"]) == "every device has it"


def test_a_rare_queue_is_not_called_usual_where_keeping_flows_apart_is_why() -> None:
    assert reason_of("fq_pie, target 15 ms", "fq_pie", ["fifo, 9 packets"]) == "it keeps flows apart"
    assert not keeps_apart(
        "splitbuff-weighted"
    )  # its sub-buffers are shared by all flows of like round trips
