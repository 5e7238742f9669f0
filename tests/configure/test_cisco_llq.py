"""Low latency queueing on IOS XE: a policy with class maps, and what it cannot be."""

from __future__ import annotations

import pytest

from bufferlab.configure import Configuration, configuration
from bufferlab.errors import InputError


def made_for(
    classes: str, buffer: str = "300 packets", *, shape: bool = False, **others: str
) -> Configuration:
    queue = {"discipline": "diffserv", "classes": classes, **others}
    return configuration("20 Mbps", queue, buffer, platform="ios-xe", device="Gi1", shape=shape)


def test_calls_have_priority_and_class_default_its_part_of_the_buffer() -> None:
    made = made_for("EF: priority 33 %; rest: weight 1")
    assert list(made.lines) == [
        "class-map match-any bufferlab-ef",
        " match dscp ef",
        " exit",
        "policy-map bufferlab",
        " class bufferlab-ef",
        "  priority percent 33",
        "  exit",
        " class class-default",
        "  queue-limit 150 packets",
        "  exit",
        " exit",
        "interface Gi1",
        " service-policy output bufferlab",
    ]
    assert (made.amount, made.unit) == (150, "packets") and made.packets == 150
    assert list(made.undo) == [
        "interface Gi1",
        " no service-policy output bufferlab",
        " exit",
        "no policy-map bufferlab",
        "no class-map match-any bufferlab-ef",
    ]
    assert made.verify == ("show policy-map interface Gi1 output",) and "b/w exceed drops" in made.reads
    notes = " ".join(made.notes)
    assert "comes marked EF goes first, up to 33 % of the link, and nothing else" in notes
    assert "is that of all 2 classes, which share it evenly" in notes and "by more than 200 ms of it" in notes


def test_several_classes_have_levels_shares_and_names_that_ios_knows() -> None:
    classes = "EF VA: priority 20 %; AF41: priority; AF31 LE CS0: weight 3; CS1: weight 2"
    made = made_for(classes, "400 KB", shape=True)
    assert list(made.lines) == [
        "class-map match-any bufferlab-ef",
        " match dscp ef",
        " match dscp 44",
        " exit",
        "class-map match-any bufferlab-af41",
        " match dscp af41",
        " exit",
        "class-map match-any bufferlab-af31",
        " match dscp af31",
        " match dscp 1",
        " match dscp default",
        " exit",
        "policy-map bufferlab",
        " class bufferlab-ef",
        "  priority level 1 percent 20",
        "  exit",
        " class bufferlab-af41",
        "  priority level 2",
        "  exit",
        " class bufferlab-af31",
        "  bandwidth remaining ratio 3",
        "  queue-limit 100934 bytes",
        "  exit",
        " class class-default",
        "  bandwidth remaining ratio 2",
        "  queue-limit 100934 bytes",
        "  exit",
        " exit",
        "policy-map bufferlab-shaper",
        " class class-default",
        "  shape average 20000000",
        "  service-policy bufferlab",
        "  exit",
        " exit",
        "interface Gi1",
        " service-policy output bufferlab-shaper",
    ]
    assert made.undo[1] == " no service-policy output bufferlab-shaper"
    assert made.undo[3:5] == ("no policy-map bufferlab-shaper", "no policy-map bufferlab")


def test_a_burst_is_in_bytes_and_a_time_has_a_doubt() -> None:
    made = made_for("EF: priority 10 %; rest: weight 1", "20 ms", burst="100 ms")
    assert "  priority percent 10 25000" in made.lines and "  queue-limit 10000 us" in made.lines
    assert any("by more than 100 ms of it" in note for note in made.notes)
    assert any(note.startswith("No source says which rate") for note in made.notes)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (
            "EF: priority; rest: weight 1 codel",
            "queue.classes: 'codel' has a queue in a class .*accepted: fifo",
        ),
        (
            "EF: priority; VA: priority; CS6: priority; rest: weight 1",
            "'3 classes with priority' .*at most 2",
        ),
        ("EF: priority 5 %; rest: priority", "'priority' has priority for what no class lists.*a weight for"),
        ("CS1: weight 1; EF: priority 5 %", "'priority' has priority for what no class lists"),
        ("EF: priority 60 %; VA: priority 50 %; rest: weight 1", "'60 % \\+ 50 %' .*100 % together"),
    ],
)
def test_what_ios_xe_has_not_is_refused(classes: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        made_for(classes)


def test_a_burst_that_it_does_not_take_is_refused() -> None:
    with pytest.raises(InputError, match=r"queue\.burst: '5000000 bytes' .*32 to 2000000 bytes"):
        made_for("EF: priority 100 %; rest: weight 1", burst="2 s")
