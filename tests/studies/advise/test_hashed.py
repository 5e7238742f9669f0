"""Flows that share a queue by chance, where a queue keeps flows apart by a hash."""

from __future__ import annotations

import itertools

import pytest

from bufferlab.scenario import Table
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.hashed import chance_shared, sharing_text

LONG = Users("data", "bulk", 20, "cubic")
CALLS = Users("call", "udp", 4, None)
FQ: Table = {"discipline": "fq_codel"}
LLQ_ALONE: Table = {"discipline": "diffserv", "classes": "EF: priority 5 %; rest: weight 1"}
LLQ_FAIR: Table = {"discipline": "diffserv", "classes": "EF: priority 5 %; rest: weight 1 fair_queue"}


def test_the_chance_is_that_of_all_ways_to_hash() -> None:
    """Counted one by one: 2 long flows and 1 call in 3 queues."""
    ways = list(itertools.product(range(3), repeat=3))
    shared = sum(call in (one, other) for call, one, other in ways)
    assert chance_shared(2, 1, 3) == pytest.approx(shared / len(ways))


def test_a_call_that_may_share_a_queue_is_reported_with_how_likely_that_is() -> None:
    text = sharing_text(FQ, [LONG, CALLS])
    assert text is not None
    assert "with a chance of 7.5 % one of the 4 flows of call shares one with a long flow" in text
    fewer = sharing_text({**FQ, "flows": 64}, [LONG, Users("call", "udp", 1, None)])
    assert fewer is not None and "hashed to 64 queues: with a chance of 27 % call shares" in fewer


def test_the_few_queues_of_fair_queue_are_shared_alone_or_below_calls() -> None:
    two = [Users("data", "bulk", 2, "cubic"), Users("ping", "ping", 1, None)]
    alone: Table = {"discipline": "fair_queue"}
    for table in (alone, LLQ_FAIR):
        text = sharing_text(table, two)
        assert text is not None and "hashed to 16 queues: with a chance of 12 % ping shares" in text
    assert sharing_text(LLQ_ALONE, two) is None


@pytest.mark.parametrize(
    ("table", "users"),
    [
        ({"discipline": "fifo"}, [LONG, CALLS]),  # no queues of their own
        ({"discipline": "cake"}, [LONG, CALLS]),  # a flow gets a free one of eight
        (FQ, [LONG]),  # nobody who sends little
        (FQ, [CALLS]),  # nobody who fills the queue
        (FQ, [Users("data", "bulk", 3, "cubic"), Users("call", "udp", 1, None)]),  # 0.3 %
    ],
)
def test_where_nothing_or_little_is_shared_it_is_not_reported(table: Table, users: list[Users]) -> None:
    assert sharing_text(table, users) is None


def test_pages_and_echoes_may_share_a_queue_as_pings_do() -> None:
    small = [
        Users("ping", "ping", 1, None),
        Users("pages", "web", 8, "cubic"),
        Users("tail", "echo", 1, "cubic"),
    ]
    text = sharing_text(FQ, [LONG, *small])
    assert text is not None and "one of the 10 flows of ping, pages, tail shares one with a long flow" in text
