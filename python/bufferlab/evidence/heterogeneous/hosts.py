"""The senders of the heterogeneous-TCP document's testbed as flow groups, and what keeps them out of step.

The document's hosts were Linux 2.6.25 and 2.6.27 and Windows 7, all behind one emulated round-trip time. How
far its flows kept step with each other is not known and decides much, so everything is simulated thrice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.evidence.heterogeneous.settings import MIX, RATE_BPS

WIRE_BYTES: Final = 1500
SAMPLE_S: Final = 0.05

_LINUX_2_6: Final[Mapping[str, Any]] = {
    "stack": "linux",
    # Linux 2.6 had neither tail-loss probes nor RACK; its rate halving is what RFC 6937 grew out of.
    "recovery": "linux",
    "rto_margin": "200 ms",
    # BIC, CUBIC' and CUBIC'' are written for it.
    "delayed_ack": 2,
    # 2.6's tcp_init_cwnd for this segment size, RFC 3390, and TCP_TIMEOUT_INIT 3*HZ.
    "initial_window": 3,
    "initial_rto": "3 s",
}
_NS2_LINUX: Final[Mapping[str, Any]] = {
    # Agent/TCP/Linux: the kernel's controls and recovery under ns-2's timers, an acknowledgment a packet
    "stack": "ns2-sack1",
    "recovery": "linux",
    "timestamps": True,
    "segment": "1460 B",
    "header": "40 B",
    "ack": "40 B",
    "access_rate": "10 Gbps",
}
_NS2_HOSTS: Final = 20
SPREAD: Final = 0.2


@dataclass(frozen=True)
class Hosts:
    """How the senders behave.

    Attributes:
        name: In tables.
        keys: What every flow group gets.
        mix: Flows of each congestion control.
        round_trips: Number of different round-trip times, evenly spaced over ± 20 %; 0 for as many as flows.
        ns2_spread: The spread of ns-2's runs that these are compared with; `None` for none.
    """

    name: str
    keys: Mapping[str, Any]
    mix: Mapping[str, int]
    round_trips: int = 1
    ns2_spread: float | None = None

    def groups(self, rtt_ms: float, mix: Mapping[str, int] | None = None) -> list[dict[str, Any]]:
        """Flow groups, one a congestion control.

        Args:
            rtt_ms: Mean round-trip propagation delay, ms.
            mix: Flows of each congestion control, if not those of the document's evaluation.
        """
        common: dict[str, Any] = {"rtt": self._round_trip(rtt_ms), "start": "uniform(0 s, 5 s)", **self.keys}
        if not self.round_trips:
            common["rtt_spread"] = SPREAD
        return [
            {"name": control.replace(".", "_"), "congestion": control, "count": count, **common}
            for control, count in (mix or self.mix).items()
        ]

    def _round_trip(self, rtt_ms: float) -> str:
        if self.round_trips < 2:
            return f"{rtt_ms:g} ms"
        steps = (2.0 * (host + 0.5) / self.round_trips - 1.0 for host in range(self.round_trips))
        return f"choice({', '.join(f'{rtt_ms * (1.0 + SPREAD * step):.6f} ms' for step in steps)})"


IN_STEP: Final = Hosts("in step", _LINUX_2_6, MIX)
JITTER: Final = Hosts("jitter", {**_LINUX_2_6, "jitter": "uniform(0 s, 1 ms)"}, MIX)
RTT_SPREAD: Final = Hosts("spread", _LINUX_2_6, MIX, round_trips=0)
LINUX_HOSTS: Final = (IN_STEP, JITTER, RTT_SPREAD)
"""One round-trip time and nothing random but the starts; 1 ms of jitter in the senders; times of ± 20 %."""

_NS2_MIX: Final = {"reno": 42, "bic": 51, "cubic-0.8": 71, "ctcp": 34}
"""ns-2's only CUBIC is CUBIC'."""

NS2_HOSTS: Final = (
    Hosts("ns-2's, in step", _NS2_LINUX, _NS2_MIX, ns2_spread=0.0),
    Hosts("ns-2's, spread", _NS2_LINUX, _NS2_MIX, round_trips=_NS2_HOSTS, ns2_spread=SPREAD),
)
"""ns-2's runs, as near as our hosts come: ± 20 % over twenty round-trip times, each flow at one of them."""


def bdp_packets(rtt_ms: float) -> float:
    """The OC-12's bandwidth-delay product in packets of 1500 bytes."""
    return RATE_BPS * rtt_ms / 1e3 / 8.0 / WIRE_BYTES


def scenario(
    groups: list[dict[str, Any]], buffer_packets: int, duration_s: float, warmup_s: float, sample_s: float
) -> dict[str, Any]:
    """An OC-12 of 622 Mbps, drop-tail, with every flow's window sampled.

    Args:
        groups: Flow groups.
        buffer_packets: How many packets may wait.
        duration_s: Length of the run, s.
        warmup_s: Measured from here on, s.
        sample_s: Time between samples, s.
    """
    return {
        "run": {"duration": f"{duration_s:g} s", "warmup": f"{warmup_s:g} s"},
        "bottleneck": {
            "rate": f"{RATE_BPS:.0f} bps",
            "delay": "1 ms",
            "buffer": f"{buffer_packets} packets",
        },
        "flows": groups,
        "probes": {
            "interval": f"{sample_s:g} s",
            "per_group": max(int(group["count"]) for group in groups),
        },
    }
