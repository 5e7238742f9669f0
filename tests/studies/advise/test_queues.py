"""The queues to choose from, whatever the link in question has."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.configure import configuration
from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import QUEUE_WORDS, Scenario
from bufferlab.studies.advise.queues import Queue, queues_for
from bufferlab.studies.home import home_scenario, read_rates
from bufferlab.studies.words import DEPLOYED

Names = str | list[str] | None


def dumbbell(queue: Any = None, **link: Any) -> Scenario:
    bottleneck = {"rate": "10 Mbps", "delay": "2 ms", "buffer": "20 packets"} | link
    if queue is not None:
        bottleneck["queue"] = queue
    return prepare(
        {"run": {"duration": "2 s"}, "bottleneck": bottleneck, "flows": [{"name": "a", "rtt": "20 ms"}]}
    )


def two_links(queue: Any) -> Scenario:
    """A path over two links, the second with a queue."""
    first: dict[str, Any] = {"name": "in", "rate": "20 Mbps", "delay": "1 ms", "buffer": "50 packets"}
    second = first | {"name": "out", "rate": "10 Mbps", "queue": queue}
    links = [first, second]
    flow = {"name": "a", "rtt": "20 ms", "path": ["in", "out"]}
    return prepare({"run": {"duration": "2 s"}, "links": links, "flows": [flow]})


def offered(names: Names, base: Scenario, link: int = 0, rtt_us: float = 20e3) -> dict[str, Queue]:
    found = queues_for(names, base, link, upper=64, packet_us=1200.0, rtt_us=rtt_us)
    return {queue.name: queue for queue in found}


def disciplines(base: Scenario) -> list[str]:
    return [link["queue"]["discipline"] for link in base.links]


@pytest.mark.parametrize("queue", [None, "fifo", "codel", {"discipline": "fifo"}])
def test_a_deployed_queue_is_offered_once(queue: Any) -> None:
    assert tuple(offered(None, dumbbell(queue))) == DEPLOYED


@pytest.mark.parametrize(
    ("packet_us", "most", "ample"),
    [
        (1200.0, 1 << 20, 1000),  # 10 Mbps: 1.2 s
        (1.2, 1 << 20, 16_667),  # 10 Gbps: of 1000 packets none would wait for 5 ms
        (1.2, 8192, 8192),  # what the device takes
        (1.2, None, 1000),  # as somebody asked
    ],
)
def test_the_buffer_holds_some_of_the_delays_that_are_aimed_at(
    packet_us: float, most: int | None, ample: int
) -> None:
    found = queues_for(None, dumbbell(), 0, upper=64, ample=1000, most=most, packet_us=packet_us, rtt_us=1e3)
    assert {queue.name: queue.ample for queue in found} == {
        "fifo": 64,
        "codel": ample,
        "fq_codel": ample,
        # 15 ms: RFC 8033, section 5.1
        "pie": ample if ample != 16_667 else 50_000,
    }


def test_a_queue_of_other_parameters_is_offered_beside_the_others() -> None:
    own = {"discipline": "codel", "target": "7 ms", "interval": "50 ms"}
    found = offered(None, dumbbell(own))
    assert tuple(found) == ("scenario", "fifo", "fq_codel", "pie")
    queue = found["scenario"]
    assert (queue.table, queue.knob, queue.usual) == (own, "target", 7000)
    changed = queue.scenario(dumbbell(own), 0, 12_000).resolved["links"][0]["queue"]
    assert changed == dumbbell(own | {"target": "12 ms"}).resolved["links"][0]["queue"]


def test_a_queue_that_an_override_sets_is_the_scenario_s() -> None:
    base = prepare(dumbbell(), {"bottleneck.queue": {"discipline": "red", "ecn": True}})
    assert offered("scenario", base)["scenario"].table == {"discipline": "red", "ecn": True}


@pytest.mark.parametrize("queue", ["red", {"discipline": "red", "ecn": True}])
def test_only_the_link_in_question_gets_the_queue(queue: Any) -> None:
    base = two_links(queue)
    own = offered(None, base, 1)["scenario"]
    assert own.table == (dict(QUEUE_WORDS[queue]) if isinstance(queue, str) else queue)
    same = own.scenario(base, 1, 33)
    assert same.resolved["links"][1]["queue"] == base.resolved["links"][1]["queue"]
    assert same.links[1]["buffer"]["text"] == "33 packets"
    assert same.resolved["links"][0] == base.resolved["links"][0]
    for name, each in offered(None, base, 1).items():
        if name != "scenario":
            assert disciplines(each.scenario(base, 1, each.usual)) == ["fifo", name]
    assert tuple(offered(None, base, 0)) == DEPLOYED


@pytest.mark.parametrize("name", QUEUE_WORDS)
def test_every_word_makes_a_scenario_at_both_ends(name: str) -> None:
    base = dumbbell()
    (queue,) = offered(name, base).values()
    assert 1 <= queue.lower <= queue.usual <= queue.upper
    for setting in (queue.lower, queue.usual, queue.upper):
        changed = queue.scenario(base, 0, setting)
        assert disciplines(changed) == [QUEUE_WORDS[name]["discipline"]]
        assert changed.links[0]["buffer"]["text"] == f"{queue.limit(setting)} packets"
    assert queue.show(queue.usual)


def test_disciplines_with_a_target_are_searched_by_it_and_others_by_their_buffer() -> None:
    base = dumbbell("splitbuff", buffer="unlimited")
    aiming = {name for name, queue in offered("all", base).items() if queue.knob == "target"}
    assert aiming == {"codel", "cobalt", "cake", "fq_codel", "fq_pie", "pie", "pi2", "step", "dualpi2"}


def test_a_step_in_packets_is_searched_by_its_buffer() -> None:
    own = prepare(dumbbell(), {"bottleneck.queue": {"discipline": "step", "threshold": "20 packets"}})
    found = offered("scenario,step", own)
    assert (found["scenario"].knob, found["step"].knob) == ("limit", "target")
    assert found["step"].usual == 1800  # 1.5 times a packet of this link is longer than 1 ms


def test_all_are_all_words() -> None:
    assert tuple(offered("all", dumbbell())) == tuple(QUEUE_WORDS)


def of_platform(names: Names, base: Scenario, platform: str) -> list[str]:
    found = queues_for(names, base, 0, upper=64, packet_us=1200.0, rtt_us=20e3, platform=platform)
    return [queue.name for queue in found]


def test_a_platform_s_queues_are_those_that_it_can_run() -> None:
    own = prepare(dumbbell(), {"bottleneck.queue": {"discipline": "fq_codel", "quantum": "300 B"}})
    assert of_platform(None, dumbbell(), "linux") == [*DEPLOYED]
    assert of_platform(None, dumbbell(), "junos") == of_platform("all", dumbbell(), "junos") == ["fifo"]
    assert of_platform(None, own, "junos") == ["fifo"]
    assert of_platform(None, own, "openwrt") == ["scenario", "fifo", "codel", "pie", "cake"]
    assert of_platform("fifo", own, "openwrt") == ["fifo"]
    assert of_platform(None, dumbbell("splitbuff"), "linux") == [*DEPLOYED]


def test_cake_is_tried_at_its_usual_delay_where_homes_run_it() -> None:
    def offers(base: Scenario, platform: str | None) -> dict[str, Queue]:
        found = queues_for(None, base, 0, upper=64, packet_us=1200.0, rtt_us=20e3, platform=platform)
        return {queue.name: queue for queue in found}

    on_openwrt = offers(dumbbell(), "openwrt")["cake"]
    assert on_openwrt.lower == on_openwrt.usual == on_openwrt.upper
    home = prepare(Scenario.from_dict(home_scenario(read_rates("50/10Mbps")), file="--home"))
    assert "cake" in offers(home, None) and "cake" in offers(home, "linux")
    assert "cake" not in offers(home, "junos") and "cake" not in offers(dumbbell(), "linux")


def test_a_target_is_one_that_the_platform_can_count() -> None:
    (codel,) = queues_for("codel", dumbbell(), 0, upper=64, packet_us=120.0, rtt_us=20e3, platform="routeros")
    assert (codel.lower, codel.usual) == (1000, 5000)
    assert codel.show(1400) == "target 2 ms"
    assert codel.with_setting(1400)["target"] == "2000 us"
    (linux,) = queues_for("codel", dumbbell(), 0, upper=64, packet_us=120.0, rtt_us=20e3, platform="linux")
    assert (linux.lower, linux.show(1400)) == (180, "target 1.4 ms")


def test_what_is_run_is_what_the_platform_takes_of_the_scenario_s_own_delays() -> None:
    base = dumbbell({"discipline": "codel", "target": "7.5 ms", "interval": "50.2 ms"})

    def table(platform: str) -> Any:
        found = queues_for("scenario", base, 0, upper=64, packet_us=1200.0, rtt_us=20e3, platform=platform)
        return found[0].with_setting(found[0].usual)

    given = configuration("10 Mbps", table("routeros"), "64 packets", platform="routeros")
    assert "codel-target=8ms codel-interval=51ms" in " ".join(given.lines)
    assert not any("rounded" in note for note in given.notes)
    assert table("routeros")["interval"] == "51 ms"
    assert table("linux") == {"discipline": "codel", "target": "7500 us", "interval": "50.2 ms"}


@pytest.mark.parametrize("names", ["fq_codel", "fifo,fq_codel", ["fifo", "fq_codel"]])
def test_a_queue_that_the_platform_lacks_is_an_error_if_it_was_asked_for(names: Names) -> None:
    with pytest.raises(InputError) as error:
        of_platform(names, dumbbell(), "junos")
    assert str(error.value) == (
        "queues: 'fq_codel' has no equivalent on Juniper Junos that is known here; accepted: fifo"
    )


@pytest.mark.parametrize("names", ["pie, fifo ,pie", ["pie", "fifo"]])
def test_names_are_taken_in_their_order_and_once(names: Names) -> None:
    assert tuple(offered(names, dumbbell())) == ("pie", "fifo")


@pytest.mark.parametrize(
    ("names", "hint"), [("fq_codle", "did you mean 'fq_codel'?"), ("", ""), ("fifo,", "")]
)
def test_an_unknown_name_is_an_error(names: str, hint: str) -> None:
    with pytest.raises(InputError) as error:
        offered(names, dumbbell())
    assert error.value.key == "queues" and hint in str(error.value)
    assert all(word in str(error.value) for word in (*QUEUE_WORDS, "scenario", "all"))


def test_a_target_is_not_below_a_packet_s_time_nor_above_a_round_trip() -> None:
    codel = offered("codel", dumbbell(), rtt_us=100e3)["codel"]
    assert (codel.lower, codel.usual, codel.upper) == (1800, 5000, 100_000)
    assert codel.show(5000) == "target 5 ms"
    assert offered("codel", dumbbell(), rtt_us=1e3)["codel"].upper == 20_000
    fifo = offered("fifo", dumbbell())["fifo"]
    assert (fifo.lower, fifo.usual, fifo.upper, fifo.limit(7), fifo.show(7)) == (1, 64, 64, 7, "7 packets")
    assert codel.limit(5000) == 64


@pytest.mark.parametrize("name", ["codel", "fq_codel"])
def test_codel_s_interval_covers_a_round_trip_that_is_longer_than_usual(name: str) -> None:
    """RFC 8289, sections 4.3 and 5.3: as long as the round trip; the target is 5 % of it."""
    assert "interval" not in offered(name, dumbbell(), rtt_us=100e3)[name].table
    queue = offered(name, dumbbell(), rtt_us=591e3)[name]
    assert queue.table["interval"] == "600 ms" and queue.usual == 30_000
    assert queue.scenario(dumbbell(), 0, 30_000).resolved["links"][0]["queue"]["interval_ps"] == 6 * 10**11
    own = {"discipline": name, "interval": "50 ms"}
    assert offered("scenario", dumbbell(own), rtt_us=591e3)["scenario"].table == own
    assert "interval" not in offered("pie", dumbbell(), rtt_us=591e3)["pie"].table


def test_marks_above_a_backlog_go_with_fifo_only() -> None:
    base = dumbbell(mark_above="10 packets")
    assert base.links[0]["mark_above"] is not None
    found = offered(None, base)
    assert found["fifo"].scenario(base, 0, 30).links[0]["mark_above"] == base.links[0]["mark_above"]
    for name in ("codel", "fq_codel", "pie"):
        assert found[name].scenario(base, 0, 5000).links[0]["mark_above"] is None


def test_changes_of_the_buffer_during_the_run_are_left_out() -> None:
    base = dumbbell(changes=[{"at": "1 s", "buffer": "5 packets"}])
    assert base.links[0]["changes"]
    for queue in offered(None, base).values():
        assert not queue.scenario(base, 0, queue.usual).links[0]["changes"]


def test_only_a_scenario_that_somebody_wrote_has_a_queue_of_its_own() -> None:
    own = {"discipline": "fq_codel", "quantum": "300 B"}
    content = dumbbell(own).to_dict()
    named = {
        file: offered("scenario,codel", Scenario.from_dict(content, file=file))["scenario"]
        for file in ("some.toml", "--home")
    }
    assert (named["some.toml"].title, named["some.toml"].label) == ("the scenario's fq_codel", "scenario")
    assert (named["--home"].title, named["--home"].label) == ("fq_codel", "fq_codel")


def test_a_buffer_of_a_platform_that_counts_bytes_is_run_in_bytes() -> None:
    base = dumbbell()
    for counted, limit in ((None, {"packets": 12}), (1500, {"bytes": 18_000})):
        (queue,) = queues_for("fifo", base, 0, upper=64, packet_us=1200.0, rtt_us=20e3, counted_bytes=counted)
        found = queue.scenario(base, 0, 12).seeded().resolved["links"][0]["buffer"]["limit"]
        assert found == limit
