"""A plan becomes a kernel's job, or is refused by key."""

from __future__ import annotations

import pytest

from bufferlab.errors import InputError
from bufferlab.kernel.job import job_of, readings
from bufferlab.kernel.refusals import CONTROLS
from bufferlab.kernel.tc import discipline
from bufferlab.plan import lower

from .conftest import link


@pytest.mark.parametrize(
    ("queue", "words"),
    [
        ("fifo", "pfifo limit 100"),
        ("codel", "codel limit 100 target 5000us interval 100000us noecn"),
        (
            {
                "discipline": "codel",
                "target": "2 ms",
                "interval": "40 ms",
                "ecn": True,
                "ce_threshold": "1 ms",
            },
            "codel limit 100 target 2000us interval 40000us ce_threshold 1000us ecn",
        ),
        (
            "fq_codel",
            "fq_codel limit 100 target 5000us interval 100000us flows 1024 drop_batch 64 quantum 1514"
            " memory_limit 1gb ecn",
        ),
        ("pie", "pie limit 100 target 15000us tupdate 15000us alpha 2 beta 20 noecn"),
        (
            "fq_pie",
            "fq_pie limit 100 target 15000us tupdate 15000us alpha 2 beta 20 flows 1024 quantum 1514"
            " memory_limit 1gb noecn",
        ),
        ("cobalt", "cake unlimited besteffort flowblind rtt 100000us memlimit 1gb"),
        (
            {"discipline": "cake", "overhead": "44 B", "framing": "atm", "tins": "besteffort"},
            "cake bandwidth 10000000bit besteffort triple-isolate overhead 58 mpu 0 atm rtt 100000us"
            " memlimit 1gb",
        ),
        (
            {"discipline": "cake", "unlimited": True, "isolation": "flows"},
            "cake unlimited diffserv3 flows overhead 14 mpu 0 noatm rtt 100000us memlimit 1gb",
        ),
    ],
)
def test_disciplines_get_the_scenarios_parameters(queue: object, words: str) -> None:
    plan = lower(link(bottleneck__queue=queue))
    assert discipline(plan["links"][0], 1500) == words.split()


def test_hosts_that_cake_tells_apart_have_addresses_of_their_own() -> None:
    job = job_of(lower(link(bottleneck__queue="cake", flows__bulk__count=3, flows__bulk__receiver="laptop")))
    assert [flow.get("from", job["address"]) for flow in job["flows"]] == ["10.0.0.2", "10.0.0.3", "10.0.0.4"]
    assert {flow["address"] for flow in job["flows"]} == {"10.1.0.2"}
    typed = "".join(command.get("input", "") for command in job["commands"])
    assert "addr add 10.0.0.4/24 dev out" in typed and "10.1.0.3" not in typed
    for queue in ("fq_codel", {"discipline": "cake", "isolation": "flows"}):
        job = job_of(lower(link(bottleneck__queue=queue, flows__bulk__count=3)))
        assert not any("from" in flow for flow in job["flows"])


def test_flows_with_hosts_of_their_own_are_received_at_as_many_addresses() -> None:
    job = job_of(lower(link(bottleneck__queue="cake", flows__bulk__count=3)))
    places = [place["address"] for place in job["receivers"]]
    assert places == [flow["address"] for flow in job["flows"]] == ["10.1.0.2", "10.1.0.3", "10.1.0.4"]


def test_one_named_receiver_has_one_round_trip_under_cake() -> None:
    spread = {"flows__bulk__count": 2, "flows__bulk__rtt": "uniform(20 ms, 80 ms)"}
    plan = lower(link(bottleneck__queue="cake", flows__bulk__receiver="laptop", **spread))
    with pytest.raises(InputError, match="one round-trip time"):
        job_of(plan)
    job_of(plan, ours=True)


def test_a_codepoint_is_that_of_the_sockets() -> None:
    plan = lower(link(flows__bulk__dscp="EF"))
    assert [flow["tos"] for flow in job_of(plan)["flows"]] == [46 << 2]
    assert "tos" not in job_of(plan, ours=True)["flows"][0]  # our link has it from the plan


def test_red_gets_thresholds_in_bytes_and_a_burst_for_its_weight() -> None:
    queue = {
        "discipline": "red", "gentle": False, "adaptive": False, "weight": 2**-9,
        "min_threshold": "10 packets", "max_threshold": "50 packets",
    }  # fmt: skip
    commands = [command["input"] for command in job_of(lower(link(bottleneck__queue=queue)))["commands"]]
    assert any(
        "red limit 150000 min 15000 max 75000 avpkt 1500 burst 72 bandwidth 10mbit probability 0.1\n" in text
        for text in commands
    )
    with pytest.raises(InputError) as refused:
        job_of(lower(link(bottleneck__queue="red")))
    keys = [refused.value.key, *(other.key for other in refused.value.others)]
    assert keys == ["links.bottleneck.queue.gentle", "links.bottleneck.queue.weight"]


def test_a_fifos_buffer_may_be_in_bytes_or_endless() -> None:
    assert discipline(lower(link(bottleneck__buffer="30 KB"))["links"][0], 1500) == [
        "bfifo", "limit", "30000",
    ]  # fmt: skip
    endless = discipline(lower(link(bottleneck__buffer="unlimited"))["links"][0], 1500)
    assert endless == ["pfifo", "limit", "1000000"]


def test_each_flow_has_the_plans_start_control_and_round_trip() -> None:
    scenario = link(
        flows__bulk__count=3, flows__bulk__rtt="uniform(40 ms, 80 ms)", flows__bulk__start="uniform(0 s, 1 s)"
    )
    plan = lower(scenario, 7)
    job = job_of(plan)
    assert [flow["start_ns"] for flow in job["flows"]] == [ps // 1000 for ps in plan["flows"]["start_ps"]]
    assert [flow["control"] for flow in job["flows"]] == ["reno"] * 3
    delays = {
        command["words"][2]: command["input"].split("delay ")[1].split("us")[0]
        for command in job["commands"]
        if "netem" in command["input"]
    }
    places = {place["address"]: place["namespace"] for place in job["receivers"]}
    for number, flow in enumerate(job["flows"]):
        parts = (plan["flows"][f"{part}_delay_ps"][number] for part in ("source", "sink", "return"))
        # a full packet takes 1.2 ms at 10 Mbps, which HTB does not let it wait
        expected_us = sum(parts) / 1e6 + 1200
        assert float(delays[places[flow["address"]]]) == pytest.approx(expected_us, abs=0.002)


def test_the_link_counts_the_scenarios_packets() -> None:
    def table(header: str) -> str:
        plan = lower(link(flows__bulk__header=header))
        (shaped,) = [command["input"] for command in job_of(plan)["commands"] if "htb" in command["input"]]
        return str(shaped).splitlines()[0]

    assert "stab overhead -14 " in table("52 B")
    assert "stab" not in table("66 B")  # what Ethernet has
    assert "stab overhead 4 " in table("70 B")


def test_readings_are_in_order_and_end_with_the_run() -> None:
    found = readings(lower(link(probes__interval="500 ms")))
    moments = [at for at, _ in found]
    assert moments == sorted(set(moments))
    assert found[-1] == (20 * 10**9, "end")
    assert (5 * 10**9, "warmup") in found
    assert {at for at, kind in found if kind == "sample"} < set(range(0, 20 * 10**9, 5 * 10**8))
    assert sum(kind == "queue" for _, kind in found) > 1800


@pytest.mark.parametrize("control", CONTROLS)
def test_controls_that_linux_has_are_accepted(control: str) -> None:
    queue = {"discipline": "codel", "ecn": True}
    job = job_of(lower(link(flows__bulk__congestion=control, bottleneck__queue=queue)))
    assert job["flows"][0]["control"] == control.partition("-")[0]


@pytest.mark.parametrize(
    ("overrides", "key", "accepted"),
    [
        ({"bottleneck__queue": "drr"}, "links.bottleneck.queue", "fifo, codel, fq_codel, pie"),
        ({"bottleneck__loss": 0.01}, "links.bottleneck.loss", "0"),
        ({"flows__bulk__congestion": "ctcp"}, "flows.bulk.congestion", "reno, cubic"),
        ({"flows__bulk__count": 2001}, "flows", "at most 2000 flows"),
        (
            {"flows__bulk__count": 401, "flows__bulk__rtt": "uniform(40 ms, 80 ms)"},
            "flows.rtt",
            "at most 400 different round-trip times",
        ),
        ({"run__stack": "rfc"}, "flows.bulk.recovery", "linux"),
        (
            {"run__stack": "quic"},
            "flows.bulk.recovery",
            "linux, as with run.stack = 'linux': the kernel has no QUIC",
        ),
        ({"flows__bulk__window": "64 KB"}, "flows.bulk.window", "16 MiB"),
        ({"flows__bulk__access_rate": "1 Gbps"}, "flows.bulk.access_rate", "none"),
        (
            {"bottleneck__queue": "codel", "bottleneck__buffer": "90 KB"},
            "links.bottleneck.buffer",
            "packets",
        ),
        (
            {"bottleneck__queue": {"discipline": "pie", "alpha": 0.1}},
            "links.bottleneck.queue.alpha",
            "a multiple of 1/16",
        ),
    ],
)
def test_what_a_kernel_is_not_given_is_refused_by_key(
    overrides: dict[str, object], key: str, accepted: str
) -> None:
    with pytest.raises(InputError) as refused:
        job_of(lower(link(**overrides)))
    assert refused.value.key == key
    assert accepted in str(refused.value.accepted)


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(InputError) as refused:
        job_of(lower(link(bottleneck__queue="drr", flows__bulk__congestion="ctcp")))
    assert [refused.value.key, *(other.key for other in refused.value.others)] == [
        "links.bottleneck.queue",
        "flows.bulk.congestion",
    ]


def test_ecn_is_asked_for_by_all_connections_or_none() -> None:
    def setting(**overrides: object) -> set[str | None]:
        values = job_of(lower(link(**overrides)))["sysctls"].values()
        return {each.get("net/ipv4/tcp_ecn") for each in values if "net/ipv4/tcp_rmem" in each}

    assert setting() == {None}
    assert setting(flows__bulk__ecn="classic") == {"1"}
    with pytest.raises(InputError, match=r"flows\.bulk\.ecn: 'abe'.*off or classic"):
        job_of(lower(link(flows__bulk__ecn="abe")))
