"""Settings as lists of runs name them: every unit is one that people read."""

from __future__ import annotations

import pytest

from bufferlab.render.setting_text import changes_text, setting_names, setting_text, words_in_a_row


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("15000000000 ps", "15 ms"),
        ("12400 us", "12.4 ms"),
        ("20000000 bps", "20 Mbps"),
        ("1500 B", "1.5 KB"),
        ("1 packets", "1 packet"),
        ("40 packets", "40 packets"),
        ("0.5 bdp", "0.5 bdp"),
        ("uniform(10 ms, 20 ms)", "uniform(10 ms, 20 ms)"),
        ("fq_codel", "fq_codel"),
        ('{"discipline": "fq_codel", "target": "5000 us"}', "fq_codel (target 5 ms)"),
        ('{"discipline": "fifo"}', "fifo"),
        ('{"discipline": "codel", "ecn": true, "b": false, "n": 4}', "codel (ecn, no b, n 4)"),
        ('[{"name": "call"}, {"name": "ping"}]', "call, ping"),
        ("{", "{"),
        (3, 3),
        (None, None),
    ],
)
def test_values_have_the_unit_that_fits_them(value: object, text: object) -> None:
    assert setting_text(value) == text


def test_keys_are_words_and_say_whose_they_are_where_several_have_them() -> None:
    names = setting_names(["bottleneck.queue", "flows[0].rtt", "flows[1].rtt", "flows.near.count", "seed"])
    assert [*names.values()] == [
        "queue",
        "round trip of group 1",
        "round trip of group 2",
        "number of flows",
        "seed",
    ]
    assert [*setting_names(["bottleneck.buffer", "links[0].buffer"]).values()] == ["buffer", "buffer"]
    assert [*setting_names(["links[0].buffer", "links[1].buffer"]).values()] == [
        "buffer of link 1",
        "buffer of link 2",
    ]


def test_changes_are_a_line() -> None:
    changed = {"links[0].rate": "5000000 bps", "links[0].queue": {"discipline": "codel", "target": "5000 us"}}
    assert changes_text(changed) == "rate 5 Mbps, queue codel (target 5 ms)"
    assert changes_text({"flows[1].count": 3}, ["calls", "downloads"]) == "number of flows of downloads 3"
    assert changes_text({"flows[1].count": 3}, ["calls"]) == "number of flows 3"
    assert changes_text({}) == ""
    targets = {"advise.targets": "utilization >= 99 %, call.r > 80"}  # as answers say them
    said = "targets utilization at least 99 %; call: rating R at least 80"
    assert changes_text(targets, ["call"]) == said
    assert changes_text(targets, ["other"]) == "targets utilization at least 99 %; call.r > 80"
    assert words_in_a_row(["queue", "buffer", "rate"]) == "queue, buffer and rate"
