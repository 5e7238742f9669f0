"""Types of scenarios as dictionaries: as given (`ScenarioDict`) and as resolved (`ResolvedScenario`).

Written by `make docs` from the declarations in crates/scenario; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict


class FifoDict(TypedDict):
    """First in, first out, tail drop."""

    discipline: Literal["fifo"]


class CodelDict(TypedDict):
    """First in, first out, under CoDel (RFC 8289)."""

    discipline: Literal["codel"]
    target: NotRequired[str | None]
    interval: NotRequired[str | None]
    ecn: NotRequired[bool | None]
    ce_threshold: NotRequired[str | None]
    control_law: NotRequired[Literal["rfc", "linux"] | None]


class CobaltDict(TypedDict):
    """First in, first out, under COBALT: CoDel, and BLUE for who does not listen, as in CAKE."""

    discipline: Literal["cobalt"]
    target: NotRequired[str | None]
    interval: NotRequired[str | None]
    increment: NotRequired[float | None]
    decrement: NotRequired[float | None]
    ecn: NotRequired[bool | None]


class FqCodelDict(TypedDict):
    """FQ-CoDel (RFC 8290): flows hashed to queues that are served in rounds, each under CoDel."""

    discipline: Literal["fq_codel"]
    flows: NotRequired[int | None]
    quantum: NotRequired[str | None]
    drop_batch: NotRequired[int | None]
    codel_backlog: NotRequired[Literal["own", "all"] | None]
    target: NotRequired[str | None]
    interval: NotRequired[str | None]
    ecn: NotRequired[bool | None]
    ce_threshold: NotRequired[str | None]
    control_law: NotRequired[Literal["rfc", "linux"] | None]


class CakeDict(TypedDict):
    """CAKE: hosts and their flows get equal shares, in tins by codepoint, each queue under COBALT; its shaper knows the line's overhead."""

    discipline: Literal["cake"]
    tins: NotRequired[Literal["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"] | None]
    isolation: NotRequired[Literal["flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate"] | None]
    unlimited: NotRequired[bool | None]
    overhead: NotRequired[str | None]
    mpu: NotRequired[str | None]
    framing: NotRequired[Literal["plain", "atm", "ptm"] | None]
    target: NotRequired[str | None]
    interval: NotRequired[str | None]
    increment: NotRequired[float | None]
    decrement: NotRequired[float | None]
    ecn: NotRequired[bool | None]


class StepDict(TypedDict):
    """First in, first out, with ECN marks from a step on (RFC 8257): for DCTCP and Prague."""

    discipline: Literal["step"]
    target: NotRequired[str | None]
    threshold: NotRequired[str | None]


class SwitchDict(TypedDict):
    """First in, first out, in the memory of a switch: packets take whole cells, until their last bit has left."""

    discipline: Literal["switch"]
    cell: NotRequired[str | None]
    metadata: NotRequired[str | None]
    frees: NotRequired[Literal["start", "end"] | None]


class AdtDict(TypedDict):
    """First in, first out, with the smallest limit that keeps the link as busy as wanted (ADT, 2006)."""

    discipline: Literal["adt"]
    utilization: NotRequired[float | None]
    growth: NotRequired[float | None]
    period: NotRequired[str | None]
    weight: NotRequired[float | None]


class PieDict(TypedDict):
    """First in, first out, under PIE (RFC 8033)."""

    discipline: Literal["pie"]
    target: NotRequired[str | None]
    update: NotRequired[str | None]
    alpha: NotRequired[float | None]
    beta: NotRequired[float | None]
    burst: NotRequired[str | None]
    ecn: NotRequired[bool | None]


class FqPieDict(TypedDict):
    """FQ-PIE: flows hashed to queues that are served in rounds, each under PIE, as in Linux."""

    discipline: Literal["fq_pie"]
    flows: NotRequired[int | None]
    quantum: NotRequired[str | None]
    target: NotRequired[str | None]
    update: NotRequired[str | None]
    alpha: NotRequired[float | None]
    beta: NotRequired[float | None]
    burst: NotRequired[str | None]
    ecn: NotRequired[bool | None]


class Pi2Dict(TypedDict):
    """First in, first out, under PI2 (`CoNEXT` 2016): PIE's controller with a squared chance; ECT(1) is marked with its root."""

    discipline: Literal["pi2"]
    target: NotRequired[str | None]
    update: NotRequired[str | None]
    alpha: NotRequired[float | None]
    beta: NotRequired[float | None]
    coupling_factor: NotRequired[int | None]
    ecn: NotRequired[bool | None]


class RedDict(TypedDict):
    """First in, first out, with random early drops: adaptive RED, or RED with given parameters."""

    discipline: Literal["red"]
    min_threshold: NotRequired[str | None]
    max_threshold: NotRequired[str | None]
    min_threshold_medium: NotRequired[str | None]
    min_threshold_high: NotRequired[str | None]
    target_delay: NotRequired[str | None]
    weight: NotRequired[float | None]
    max_p: NotRequired[float | None]
    gentle: NotRequired[bool | None]
    adaptive: NotRequired[bool | None]
    ecn: NotRequired[bool | None]
    mean_packet: NotRequired[str | None]


class DrrDict(TypedDict):
    """Deficit round robin: a queue a flow, all get the same bytes a round, the longest gives way when the buffer is full."""

    discipline: Literal["drr"]
    quantum: NotRequired[str | None]


class FairQueueDict(TypedDict):
    """Flow-based fair queueing, as Cisco's fair-queue: flows hashed to few queues that share the link evenly, each with up to a quarter of the buffer."""

    discipline: Literal["fair_queue"]
    flows: NotRequired[int | None]
    share: NotRequired[int | None]
    quantum: NotRequired[str | None]


class DiffservDict(TypedDict):
    """Classes by codepoint: strict priority, policed or not (LLQ), before weighted round robin, each class with a queue of any kind."""

    discipline: Literal["diffserv"]
    classes: NotRequired[str | None]
    quantum: NotRequired[str | None]
    burst: NotRequired[str | None]


class Dualpi2Dict(TypedDict):
    """`DualPI2` (RFC 9332): a queue of low latency for L4S flows beside one for all others, coupled so that both get their share."""

    discipline: Literal["dualpi2"]
    target: NotRequired[str | None]
    update: NotRequired[str | None]
    alpha: NotRequired[float | None]
    beta: NotRequired[float | None]
    coupling_factor: NotRequired[int | None]
    step_threshold: NotRequired[str | None]
    classic_protection: NotRequired[int | None]
    drop_on_overload: NotRequired[bool | None]


class SplitBuffDict(TypedDict):
    """SplitBuff: sub-buffers by round-trip time, so that short flows do not wait behind long ones."""

    discipline: Literal["splitbuff"]
    sub_buffers: NotRequired[int | None]
    update: NotRequired[str | None]
    smoothing: NotRequired[float | None]
    first_update: NotRequired[str | None]
    rtt: NotRequired[str | None]
    weighted: NotRequired[bool | None]
    thresholds: NotRequired[Literal["mean", "gaps"] | None]
    hysteresis: NotRequired[float | None]
    mean: NotRequired[Literal["packets", "flows"] | None]
    delays: NotRequired[Literal["departures", "arrivals"] | None]
    silent: NotRequired[float | None]
    sizes: NotRequired[Literal["share", "own"] | None]
    police: NotRequired[float | None]


class SplitBuffBlindDict(TypedDict):
    """Blind-SplitBuff: flows in sub-buffers at random, `buffer` split evenly."""

    discipline: Literal["splitbuff-blind"]
    sub_buffers: NotRequired[int | None]


class BulkDict(TypedDict):
    """TCP with data that never ends."""

    kind: Literal["bulk"]


class TransferDict(TypedDict):
    """TCP with an amount of data to send."""

    kind: Literal["transfer"]
    bytes: str


class EchoDict(TypedDict):
    """A server's way back: what the flows of another group bring is returned as it comes."""

    kind: Literal["echo"]
    of: str


class OnOffDict(TypedDict):
    """TCP that has data, then none, by turns, over one connection."""

    kind: Literal["on-off"]
    on: NotRequired[str | None]
    size: NotRequired[str | None]
    off: str


class ShortFlowsDict(TypedDict):
    """Transfers that come one after the other, each over a connection of its own."""

    kind: Literal["short-flows"]
    size: str
    interval: NotRequired[str | None]
    load: NotRequired[str | None]
    arrivals: NotRequired[Literal["constant", "poisson"] | None]


class WebDict(TypedDict):
    """Fetches over TCP, one after the other, each over a connection of its own; the sender is the server."""

    kind: Literal["web"]
    size: str
    every: str


class VideoDict(TypedDict):
    """Adaptive video (DASH): a client fetches segments over one TCP connection, each at a bitrate of its choice, and plays them; the sender is the server."""

    kind: Literal["video"]
    segment: NotRequired[str | None]
    ladder: NotRequired[Sequence[str] | None]
    rule: NotRequired[Literal["throughput", "bola"] | None]
    buffer: NotRequired[str | None]
    startup: NotRequired[str | None]
    resume: NotRequired[str | None]
    safety: NotRequired[float | None]


class VideoCallDict(TypedDict):
    """A video call whose bitrate follows Google Congestion Control (WebRTC); the receiver's reports take the way back."""

    kind: Literal["video-call"]
    min_rate: NotRequired[str | None]
    start_rate: NotRequired[str | None]
    max_rate: NotRequired[str | None]
    low_rate: NotRequired[str | None]
    fps: NotRequired[int | None]
    variation: NotRequired[float | None]
    packet: NotRequired[str | None]
    header: NotRequired[str | None]
    report: NotRequired[str | None]


class UdpDict(TypedDict):
    """A source that does not listen to its path; its mean rate or mean interval is given."""

    kind: Literal["udp"]
    packet: str
    rate: NotRequired[str | None]
    interval: NotRequired[str | None]
    header: NotRequired[str | None]
    arrivals: NotRequired[Literal["constant", "poisson"] | None]
    sizes: NotRequired[Literal["constant", "exponential"] | None]
    record: NotRequired[bool | None]


class PingDict(TypedDict):
    """Packets that the receiver returns."""

    kind: Literal["ping"]
    interval: str
    packet: NotRequired[str | None]


ApplicationDict = (
    BulkDict
    | TransferDict
    | EchoDict
    | OnOffDict
    | ShortFlowsDict
    | WebDict
    | VideoDict
    | VideoCallDict
    | UdpDict
    | PingDict
)

QueueDict = (
    FifoDict
    | CodelDict
    | CobaltDict
    | FqCodelDict
    | CakeDict
    | StepDict
    | SwitchDict
    | AdtDict
    | PieDict
    | FqPieDict
    | Pi2Dict
    | RedDict
    | DrrDict
    | FairQueueDict
    | DiffservDict
    | Dualpi2Dict
    | SplitBuffDict
    | SplitBuffBlindDict
)

class RunDict(TypedDict):
    """Length, warm-up, seed, stack and hosts of the run."""

    name: NotRequired[str | None]
    duration: str
    warmup: NotRequired[str | None]
    seed: NotRequired[int | None]
    stack: NotRequired[Literal["rfc", "ns2-sack1", "linux", "inet-reno", "quic"] | None]
    host: NotRequired[Literal["ideal", "linux-1g", "linux-10g", "linux-100g", "mininet"] | None]


class ChangeDict(TypedDict):
    """What is new of a link from a moment on."""

    at: str
    buffer: NotRequired[str | None]
    rate: NotRequired[str | None]
    delay: NotRequired[str | None]


class LinkDict(TypedDict):
    """A queue, a transmitter and a propagation delay."""

    name: NotRequired[str | None]
    rate: str
    delay: NotRequired[str | None]
    buffer: NotRequired[str | None]
    queue: NotRequired[QueueDict | str | None]
    mark_above: NotRequired[str | None]
    loss: NotRequired[float | None]
    loss_bursts: NotRequired[str | None]
    jitter: NotRequired[str | None]
    reorder: NotRequired[bool | None]
    handover: NotRequired[str | None]
    changes: NotRequired[Sequence[ChangeDict] | None]


class MemoryDict(TypedDict):
    """A memory that the queues of several links share."""

    name: NotRequired[str | None]
    size: str
    links: Sequence[str]
    alpha: NotRequired[float | None]
    congested: NotRequired[str | None]


class HostDict(TypedDict):
    """What hosts do beside TCP, in place of what their presets say: of every flow group whose host is not `ideal`."""

    line_rate: NotRequired[str | None]
    queue_limit: NotRequired[str | None]
    queue: NotRequired[Literal["fifo", "fq"] | None]
    interrupt_delay: NotRequired[str | None]
    quick_acks: NotRequired[int | None]
    noise: NotRequired[str | None]


class FlowDict(TypedDict):
    """A group of flows that share everything but what is drawn at random."""

    congestion: NotRequired[str | None]
    fast_convergence: NotRequired[bool | None]
    growth: NotRequired[Literal["per-ack", "per-segment"] | None]
    recovery: NotRequired[Literal["tahoe", "reno", "newreno", "sack", "sack-ns2", "reno-ns2", "newreno-ns2", "linux-ns2", "linux", "quic"] | None]
    segment: NotRequired[str | None]
    header: NotRequired[str | None]
    ack: NotRequired[str | None]
    initial_window: NotRequired[int | None]
    initial_ssthresh: NotRequired[int | Literal["none"] | None]
    delayed_ack: NotRequired[bool | int | None]
    ack_delay: NotRequired[str | None]
    min_rto: NotRequired[str | None]
    max_rto: NotRequired[str | None]
    rto_margin: NotRequired[str | None]
    initial_rto: NotRequired[str | None]
    clock: NotRequired[str | None]
    timestamps: NotRequired[bool | None]
    limited_transmit: NotRequired[bool | None]
    ecn: NotRequired[Literal["off", "classic", "abe", "l4s"] | None]
    handshake: NotRequired[bool | None]
    paced: NotRequired[bool | None]
    stated_rtt: NotRequired[str | None]
    stated_in: NotRequired[Literal["header", "timestamps", "handshake"] | None]
    window: NotRequired[str | None]
    window_scaling: NotRequired[bool | None]
    offload: NotRequired[str | None]
    jitter: NotRequired[str | None]
    after_idle: NotRequired[Literal["keep", "restart", "decay"] | None]
    name: NotRequired[str | None]
    count: NotRequired[int | None]
    rtt: str
    rtt_spread: NotRequired[float | None]
    path: NotRequired[Sequence[str] | None]
    reverse_path: NotRequired[Sequence[str] | None]
    access_rate: NotRequired[str | None]
    dscp: NotRequired[str | int | None]
    sender: NotRequired[str | None]
    receiver: NotRequired[str | None]
    start: NotRequired[str | None]
    stop: NotRequired[str | None]
    application: NotRequired[ApplicationDict | Literal["bulk"] | None]
    stack: NotRequired[Literal["rfc", "ns2-sack1", "linux", "inet-reno", "quic"] | None]
    host: NotRequired[Literal["ideal", "linux-1g", "linux-10g", "linux-100g", "mininet"] | None]


class ProbesDict(TypedDict):
    """What to sample over time."""

    interval: str
    links: NotRequired[Sequence[str] | None]
    flows: NotRequired[Sequence[str] | None]
    per_group: NotRequired[int | None]


class WeightsDict(TypedDict):
    """How much each kind of what users feel weighs."""

    throughput: NotRequired[float | None]
    fairness: NotRequired[float | None]
    latency: NotRequired[float | None]
    calls: NotRequired[float | None]
    pages: NotRequired[float | None]
    video: NotRequired[float | None]
    transfers: NotRequired[float | None]


AdviseDict = TypedDict(
    "AdviseDict",
    {
        "for": NotRequired[Literal["throughput", "fairness", "latency", "calls", "pages", "video", "transfers"] | None],
        "weights": NotRequired[WeightsDict | None],
        "targets": NotRequired[Sequence[str] | None],
    },
)
"""What users need: commands that choose a queue or a buffer read it, and runs ignore it."""


class ScenarioDict(TypedDict):
    """A network, the flows that cross it, and what to measure: docs/scenario.md."""

    run: RunDict
    bottleneck: NotRequired[LinkDict | None]
    links: NotRequired[Sequence[LinkDict] | None]
    memories: NotRequired[Sequence[MemoryDict] | None]
    host: NotRequired[HostDict | None]
    flows: Sequence[FlowDict]
    probes: NotRequired[ProbesDict | None]
    advise: NotRequired[AdviseDict | None]



ResolvedLimit = dict[Literal["packets", "bytes"], int] | Literal["unlimited"]
"""How much may wait: {"packets": 50}, {"bytes": 75000}, or "unlimited"."""


class ResolvedBuffer(TypedDict):
    """A buffer as written, its number parsed: packets, bytes, ps of draining, or multiples of the word.

    `limit` is what it comes to with the flows of a seed, `None` without one.
    """

    text: str
    kind: Literal["packets", "bytes", "time", "bdp", "stanford", "unlimited"]
    amount: float
    limit: ResolvedLimit | None


class ResolvedLaw(TypedDict):
    """A law of times in ps or sizes in bytes: its text, its kind and that kind's parameters."""

    text: str
    kind: Literal["constant", "uniform", "normal", "lognormal", "exponential", "pareto", "choice", "empirical"]
    least: int
    most: int
    truncated: bool
    value: NotRequired[int]
    low: NotRequired[int]
    high: NotRequired[int]
    mean: NotRequired[float]
    sd: NotRequired[int]
    median: NotRequired[float]
    sigma: NotRequired[float]
    shape: NotRequired[float]
    values: NotRequired[list[int]]
    weights: NotRequired[list[float]]


ResolvedQueue = dict[str, Any]
"""A queue: its `discipline` and that discipline's parameters, by their keys with units."""


class ResolvedBulk(TypedDict):
    """TCP with data that never ends."""

    kind: Literal["bulk"]


class ResolvedTransfer(TypedDict):
    """TCP with an amount of data to send."""

    kind: Literal["transfer"]
    transfer_bytes: int


class ResolvedEcho(TypedDict):
    """A server's way back: what the flows of another group bring is returned as it comes."""

    kind: Literal["echo"]
    of: str


class ResolvedOnOff(TypedDict):
    """TCP that has data, then none, by turns, over one connection."""

    kind: Literal["on-off"]
    on: ResolvedLaw | None
    size: ResolvedLaw | None
    off: ResolvedLaw


class ResolvedShortFlows(TypedDict):
    """Transfers that come one after the other, each over a connection of its own."""

    kind: Literal["short-flows"]
    size: ResolvedLaw
    interval_ps: int
    load_bps: int | None
    arrivals: Literal["constant", "poisson"]


class ResolvedWeb(TypedDict):
    """Fetches over TCP, one after the other, each over a connection of its own; the sender is the server."""

    kind: Literal["web"]
    size: ResolvedLaw
    every: ResolvedLaw


class ResolvedVideo(TypedDict):
    """Adaptive video (DASH): a client fetches segments over one TCP connection, each at a bitrate of its choice, and plays them; the sender is the server."""

    kind: Literal["video"]
    segment_ps: int
    ladder_bps: list[int]
    rule: Literal["throughput", "bola"]
    buffer_ps: int
    startup_ps: int
    resume_ps: int
    safety: float


class ResolvedVideoCall(TypedDict):
    """A video call whose bitrate follows Google Congestion Control (WebRTC); the receiver's reports take the way back."""

    kind: Literal["video-call"]
    min_rate_bps: int
    start_rate_bps: int
    max_rate_bps: int
    low_rate_bps: int
    fps: int
    variation: float
    packet_bytes: int
    header_bytes: int
    report_ps: int


class ResolvedUdp(TypedDict):
    """A source that does not listen to its path; its mean rate or mean interval is given."""

    kind: Literal["udp"]
    packet_bytes: int
    rate_bps: int | None
    interval_ps: int
    header_bytes: int
    arrivals: Literal["constant", "poisson"]
    sizes: Literal["constant", "exponential"]
    record: bool | None


class ResolvedPing(TypedDict):
    """Packets that the receiver returns."""

    kind: Literal["ping"]
    interval_ps: int
    packet_bytes: int


ResolvedApplication = (
    ResolvedBulk
    | ResolvedTransfer
    | ResolvedEcho
    | ResolvedOnOff
    | ResolvedShortFlows
    | ResolvedWeb
    | ResolvedVideo
    | ResolvedVideoCall
    | ResolvedUdp
    | ResolvedPing
)

class ResolvedRun(TypedDict):
    """Length, warm-up, seed, stack and hosts of the run."""

    name: str | None
    duration_ps: int
    warmup_ps: int
    seed: int
    stack: str
    host: str


class ResolvedChange(TypedDict):
    """What is new of a link from a moment on."""

    at_ps: int
    buffer: ResolvedBuffer | None
    rate_bps: int | None
    delay_ps: int | None


class ResolvedLink(TypedDict):
    """A queue, a transmitter and a propagation delay."""

    name: str
    capacity: str | None
    delay_ps: int
    buffer: ResolvedBuffer
    queue: ResolvedQueue
    mark_above: ResolvedBuffer | None
    loss: float
    loss_bursts: str | None
    jitter: ResolvedLaw | None
    reorder: bool
    handover: str | None
    changes: list[ResolvedChange]
    rate_bps: int
    packet_bytes: int | None


class ResolvedMemory(TypedDict):
    """A memory that the queues of several links share."""

    name: str
    size_bytes: int
    links: list[str]
    alpha: float | None
    congested_bytes: int | None


class ResolvedStack(TypedDict):
    """A TCP sender and its receiver."""

    congestion: str
    fast_convergence: bool
    growth: Literal["per_ack", "per_segment"]
    recovery: Literal["tahoe", "reno", "newreno", "sack", "sack_ns2", "reno_ns2", "newreno_ns2", "linux_ns2", "linux", "quic"]
    segment_bytes: int
    header_bytes: int
    ack_bytes: int
    initial_window: int
    initial_ssthresh: int | None
    delayed_ack: int
    ack_delay_ps: int
    min_rto_ps: int
    max_rto_ps: int
    rto_margin_ps: int
    initial_rto_ps: int
    clock_ps: int
    timestamps: bool
    limited_transmit: bool
    ecn: Literal["off", "classic", "abe", "l4s"]
    handshake: bool
    paced: bool
    stated_rtt_ps: int | None
    stated_in: Literal["header", "timestamps", "handshake"]
    window: str
    window_scaling: bool
    offload: int | str
    jitter: ResolvedLaw | None
    after_idle: Literal["keep", "restart", "decay"]


class ResolvedHostModel(TypedDict):
    """What a host does beside TCP."""

    line_rate_bps: int | None
    queue_limit_bytes: int
    queue: Literal["fifo", "fq"]
    interrupt_delay_ps: int
    quick_acks: int
    noise: ResolvedLaw | None


class ResolvedFlow(TypedDict):
    """A group of flows that share everything but what is drawn at random."""

    name: str
    count: int
    rtt: ResolvedLaw
    rtt_spread: float
    path: list[str]
    reverse_path: list[str]
    access_rate_bps: int | None
    dscp: int
    sender: str | None
    receiver: str | None
    start: ResolvedLaw
    stop: ResolvedLaw | None
    application: ResolvedApplication
    stack: str | None
    host: str | None
    tcp: ResolvedStack | None
    host_model: ResolvedHostModel | None


class ResolvedProbes(TypedDict):
    """What to sample over time."""

    interval_ps: int
    links: list[str] | None
    flows: list[str] | None
    per_group: int


class ResolvedWeights(TypedDict):
    """How much each kind of what users feel weighs."""

    throughput: float | None
    fairness: float | None
    latency: float | None
    calls: float | None
    pages: float | None
    video: float | None
    transfers: float | None


class ResolvedAdvise(TypedDict):
    """What users need: commands that choose a queue or a buffer read it, and runs ignore it."""

    emphasis: str | None
    weights: ResolvedWeights | None
    targets: list[str]


class ResolvedScenario(TypedDict):
    """A scenario as it is meant."""

    run: ResolvedRun
    links: list[ResolvedLink]
    memories: list[ResolvedMemory]
    flows: list[ResolvedFlow]
    probes: ResolvedProbes | None
    advise: ResolvedAdvise | None


class Draws(TypedDict):
    """What was drawn for the flows of a group, each list in their order; `None` where nothing is drawn."""

    rtt_ps: list[int]
    start_ps: list[int]
    stop_ps: list[int] | None
    transfer_bytes: list[int] | None
