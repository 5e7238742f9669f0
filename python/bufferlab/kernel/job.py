"""A plan as a job for the kernel: what to type, which flows, when to look. What cannot be run is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bufferlab.errors import InputError
from bufferlab.kernel import network
from bufferlab.plan import NEVER_PS, Plan

CONTROLS: Final[Mapping[str, str]] = {
    "reno": "reno",
    "cubic": "cubic",
    "cubic-linux": "cubic",
    "bic": "bic",
    "scalable": "scalable",
    "westwood": "westwood",
    "htcp": "htcp",
    "vegas": "vegas",
    "bbr": "bbr",
    "dctcp": "dctcp",
}
"""The kernel's name (TCP_CONGESTION) of each control of a plan that it has."""

FIRST_PORT: Final = 10_000
_LISTENING_PORT: Final = 5000
_MOST_FLOWS: Final = 400
"""Each has two sockets, and the guest's program may have 1024."""

_MOST_PACKETS: Final = 1_000_000
_QUEUE_READINGS: Final = 2000
_SHORTEST_STEP_NS: Final = 1_000_000
_FLOW_STEP_NS: Final = 100_000_000
_PS_PER_NS: Final = 1000
_PS_PER_US: Final = 1_000_000
_PS_PER_S: Final = 10**12
_AMPLE_WINDOW: Final = 16 * 2**20
_PIE_BURST_PS: Final = 150 * 10**9
"""Fixed in the kernel (include/net/pie.h, Linux 6.12)."""

_PIE_SCALE: Final = 16
"""tc's alpha and beta count sixteenths of the RFC's hertz (tc-pie(8))."""

_MARKS_AT: Final[Mapping[str, list[int]]] = {"codel": [24, 32], "fq_codel": [12, 28], "pie": [36]}
"""Where a discipline's own statistics count marks (include/uapi/linux/pkt_sched.h, Linux 6.12)."""

Job = dict[str, Any]


def job_of(plan: Plan) -> Job:
    """The job.

    Raises:
        InputError: The plan has something that the kernel is not given yet.
    """
    mistakes = list(_refusals(plan))
    if mistakes:
        raise InputError.of(mistakes)
    (link,), groups, flows = plan["links"], plan["groups"], plan["flows"]
    source = groups[0]["source"]
    packet_bytes = source["mss_bytes"] + source["header_bytes"]
    # HTB lets a packet leave when the one before it has been sent, so the last one's time is lacking
    own_ns = packet_bytes * 8 * 10**9 // link["rate_bps"]
    delays_ns = [round(ps / _PS_PER_NS) + own_ns for ps in round_trips_ps(plan)]
    distinct = sorted(set(delays_ns))
    homes = {delay_ns: index for index, delay_ns in enumerate(distinct)}
    controls = [CONTROLS[group["source"]["congestion"]["kind"]] for group in groups]
    ports = {control: _LISTENING_PORT + index for index, control in enumerate(dict.fromkeys(controls))}
    return {
        "commands": network.commands(
            rate_bps=link["rate_bps"],
            discipline=discipline(link["discipline"]),
            delays_ns=distinct,
            mtu=source["mss_bytes"] + (52 if source["timestamps"] else 40),
            packet_bytes=packet_bytes,
            whole=source["offload"] is not None,
        ),
        "parameters": _parameters(groups),
        "sysctls": _sysctls(len(distinct), source),
        "device": network.BOTTLENECK,
        "marks_at": _MARKS_AT.get(link["discipline"]["kind"], []),
        "router": network.ROUTER,
        "sending": network.SENDING,
        "address": network.ADDRESS,
        "first_port": FIRST_PORT,
        "receivers": [
            {
                "namespace": network.home(index),
                "address": network.address(index),
                "ports": [[port, control] for control, port in ports.items()],
            }
            for index in range(len(distinct))
        ],
        "flows": [
            {
                "start_ns": start_ps // _PS_PER_NS,
                "control": controls[group],
                "address": network.address(homes[delay_ns]),
                "port": ports[controls[group]],
            }
            for start_ps, group, delay_ns in zip(flows["start_ps"], flows["group"], delays_ns, strict=True)
        ],
        "readings": readings(plan),
    }


def round_trips_ps(plan: Plan) -> list[int]:
    """Each flow's round trip without any wait or transmission."""
    flows = plan["flows"]
    parts = (flows[f"{part}_delay_ps"] for part in ("source", "sink", "return"))
    return [sum(each) + plan["links"][0]["delay_ps"] for each in zip(*parts, strict=True)]


def readings(plan: Plan) -> list[tuple[int, str]]:
    """The moments, ns, at which to look, each with what at: everything at the warm-up's end and the run's."""
    warmup, end = plan["warmup_ps"] // _PS_PER_NS, plan["duration_ps"] // _PS_PER_NS
    sample_ps = plan["sample_interval_ps"]
    step = max((end - warmup) // _QUEUE_READINGS, _SHORTEST_STEP_NS)
    own = range(_FLOW_STEP_NS, end, _FLOW_STEP_NS)
    asked = range(0, end + 1, sample_ps // _PS_PER_NS)[1:] if sample_ps else range(0)
    kinds = dict.fromkeys(range(warmup, end, step), "queue") | dict.fromkeys(own, "flows")
    kinds |= dict.fromkeys(asked, "sample") | {warmup: "warmup"} | {end: "end"}
    return sorted(kinds.items())


def discipline(of: Mapping[str, Any]) -> list[str]:
    """A plan's discipline in tc's words."""
    kind, limit = of["kind"], of["limit"]
    packets = _MOST_PACKETS if limit == "unlimited" else limit.get("packets")
    if kind == "fifo":
        return ["pfifo", "limit", str(packets)] if packets else ["bfifo", "limit", str(limit["bytes"])]
    words: dict[str, object] = {"limit": packets, "target": f"{of['target_ps'] / _PS_PER_US:g}us"}
    if kind == "pie":
        words |= {
            "tupdate": f"{of['t_update_ps'] / _PS_PER_US:g}us",
            "alpha": round(of["alpha"] * _PIE_SCALE),
            "beta": round(of["beta"] * _PIE_SCALE),
        }
    else:
        words["interval"] = f"{of['interval_ps'] / _PS_PER_US:g}us"
        if of["ce_threshold_ps"] is not None:
            words["ce_threshold"] = f"{of['ce_threshold_ps'] / _PS_PER_US:g}us"
    if kind == "fq_codel":
        words |= {name: of[name] for name in ("flows", "drop_batch")} | {"quantum": of["quantum_bytes"]}
        words["memory_limit"] = "1gb"
    return [kind, *network.fixed(words), "ecn" if of["ecn"] else "noecn"]


def _parameters(groups: list[dict[str, Any]]) -> dict[str, str]:
    cubic = [group["source"]["congestion"] for group in groups]
    hystart = [control["hystart"] for control in cubic if CONTROLS[control["kind"]] == "cubic"]
    return {"/sys/module/tcp_cubic/parameters/hystart": str(int(hystart[0]))} if hystart else {}


def _sysctls(homes: int, source: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    values = network.sysctls(homes)
    ours = {"net/ipv4/tcp_timestamps": str(int(source["timestamps"]))}
    if source["tuned_window"]:  # the kernel's own limits: what it tunes is looked at
        ours["net/ipv4/tcp_rmem"] = "4096 131072 6291456"
    hosts = [network.SENDING, *map(network.home, range(homes))]
    return values | {name: values[name] | ours for name in hosts}


def _refusals(plan: Plan) -> Iterator[InputError]:
    def refuse(key: str, value: object, accepted: str) -> InputError:
        return InputError("is not given to a kernel yet", key=key, value=value, accepted=accepted)

    links, groups, flows = plan["links"], plan["groups"], plan["flows"]
    if len(links) != 1:
        yield refuse("links", [link["name"] for link in links], "one link")
    yield from _link_refusals(links[0], refuse)
    if len(flows["group"]) > _MOST_FLOWS:
        yield refuse("flows", len(flows["group"]), f"at most {_MOST_FLOWS} flows")
    for group in groups:
        yield from _group_refusals(f"flows.{group['name']}", group, refuse)
    if any(stop_ps != NEVER_PS for stop_ps in flows["stop_ps"]):
        yield refuse("flows.stop", "a time", "flows without a stop")
    sources = [group["source"] for group in groups if group["source"]["kind"] == "tcp"]
    for name in ("mss_bytes", "header_bytes", "timestamps", "offload", "tuned_window"):
        values = list(dict.fromkeys(source[name] for source in sources))
        if len(values) > 1:
            yield refuse(f"flows.{name}", values, "one value for all groups")


def _link_refusals(link: Mapping[str, Any], refuse: Any) -> Iterator[InputError]:  # noqa: ANN401
    key, queue = f"links.{link['name']}", link["discipline"]
    if link["loss_ppb"]:
        yield refuse(f"{key}.loss", link["loss_ppb"] / 1e9, "0")
    if link["changes"]:
        yield refuse(f"{key}.changes", len(link["changes"]), "a buffer that stays as it is")
    if queue["kind"] not in {"fifo", "codel", "fq_codel", "pie"}:
        yield refuse(f"{key}.queue", queue["kind"], "fifo, codel, fq_codel, pie")
        return
    if queue.get("mark_above") is not None:
        yield refuse(f"{key}.mark_above", queue["mark_above"], "none; codel's ecn marks")
    if queue["kind"] != "fifo" and queue["limit"] != "unlimited" and "packets" not in queue["limit"]:
        yield refuse(f"{key}.buffer", queue["limit"], "packets, which the kernel's discipline counts")
    if queue["kind"] == "pie":
        if queue["max_burst_ps"] != _PIE_BURST_PS:
            yield refuse(f"{key}.queue.max_burst", f"{queue['max_burst_ps'] / 1e9:g} ms", "150 ms")
        for name in ("alpha", "beta"):
            if (queue[name] * _PIE_SCALE) % 1 or not 0 <= queue[name] * _PIE_SCALE <= 32:
                yield refuse(f"{key}.queue.{name}", queue[name], "a multiple of 1/16 up to 2")


def _group_refusals(key: str, group: Mapping[str, Any], refuse: Any) -> Iterator[InputError]:  # noqa: ANN401
    source = group["source"]
    if source["kind"] != "tcp" or source["on_off"] or source["transfer_bytes"] is not None:
        yield refuse(f"{key}.application", source["kind"], "bulk")
        return
    kind = source["congestion"]["kind"]
    if kind not in CONTROLS:
        yield refuse(f"{key}.congestion", kind, ", ".join(CONTROLS))
    if source["recovery"] != "linux":
        yield refuse(f"{key}.recovery", source["recovery"], "linux, as with run.stack = 'linux'")
    if group["access_bps"] is not None:
        yield refuse(f"{key}.access_rate", group["access_bps"], "none")
    if group["reverse"]:
        yield refuse(f"{key}.reverse_path", len(group["reverse"]), "none")
    if group["host"] is not None:
        yield refuse(f"{key}.host", "a host model", "ideal")
    if not source["tuned_window"] and source["receive_window_bytes"] < _AMPLE_WINDOW:
        yield refuse(f"{key}.window", f"{source['receive_window_bytes']} B", "16 MiB and more, or auto")
    if not source["timestamps"]:
        yield refuse(f"{key}.timestamps", False, "true")
