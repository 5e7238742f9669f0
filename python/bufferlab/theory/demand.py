"""The input of the sizing rules: a link and its flows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from bufferlab.errors import InputError
from bufferlab.theory.arrays import FloatArray
from bufferlab.theory.heterogeneous import mix_characteristic, relative_deviation
from bufferlab.theory.normal import z_score
from bufferlab.theory.protocols import Protocol, get_protocol
from bufferlab.theory.targets import Targets

LEAST_WINDOW_PACKETS: Final = 2.0
"""A window is no smaller, whatever the share of the bandwidth-delay product."""


@dataclass(frozen=True)
class Demand:
    """A bottleneck, the long-lived flows that share it, and the targets.

    Attributes:
        rate_bps: Rate of the link, bit/s.
        rtt_s: Arithmetic mean of the flows' two-way propagation delays, s. It excludes queueing.
        flows: Number of long-lived flows: one number, or an array over which every rule is evaluated.
        packet_bytes: Size of a full data packet on the wire, bytes.
        mix: Protocols, each with its number or share of the flows.
        harmonic_rtt_s: Harmonic mean of the delays, s; `None` if all are `rtt_s`.
        targets: Targets for utilization, loss and delay.
        measured: Measured or published characteristic values by protocol, used in place of the model's.
    """

    rate_bps: float
    rtt_s: float
    flows: ArrayLike = 1
    packet_bytes: int = 1500
    mix: tuple[tuple[str, float], ...] = (("reno", 1.0),)
    harmonic_rtt_s: float | None = None
    targets: Targets = field(default_factory=Targets)
    measured: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse impossible values.

        Raises:
            ValueError: A rate, delay, count or size that is not finite and positive, or an empty mix.
            InputError: An unknown protocol, or a measured value that is not a characteristic value.
        """
        for name in ("rate_bps", "rtt_s", "packet_bytes", "harmonic_mean_rtt_s"):
            value = float(getattr(self, name))
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be finite and positive, not {value:g}")
        count = np.asarray(self.flows, dtype=np.float64)
        if count.size == 0 or not np.all(np.isfinite(count) & (count >= 1)):
            raise ValueError(f"flows must be 1 or more, not {self.flows!r}")
        weights = [weight for _, weight in self.mix]
        if not weights or not all(math.isfinite(weight) and weight > 0 for weight in weights):
            raise ValueError(f"mix must name protocols with positive weights, not {self.mix!r}")
        given = {get_protocol(name).name: _checked(name, value) for name, value in self.measured.items()}
        object.__setattr__(self, "measured", given)
        for name, _ in self.mix:
            get_protocol(name)

    @property
    def flow_count(self) -> FloatArray:
        """Number of flows as an array of floats (of dimension 0 for one number)."""
        return np.asarray(self.flows, dtype=np.float64)

    @property
    def bdp_bytes(self) -> float:
        """Bandwidth-delay product, bytes."""
        return self.rate_bps * self.rtt_s / 8.0

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product, packets of `packet_bytes`."""
        return self.bdp_bytes / self.packet_bytes

    @property
    def harmonic_mean_rtt_s(self) -> float:
        """Harmonic mean of the propagation delays, s."""
        return self.rtt_s if self.harmonic_rtt_s is None else self.harmonic_rtt_s

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        """The protocols of the mix."""
        return tuple(get_protocol(name) for name, _ in self.mix)

    @property
    def characteristic(self) -> FloatArray:
        """Characteristic value of the mix, one value for each number of flows.

        If a protocol's epoch depends on its window, the mean window is the flow's share of the BDP; see
        `Protocol.peak`.

        Raises:
            InputError: Published values are requested, and `measured` has none for a protocol.
        """
        values = [
            mix_characteristic([self._one(each, float(count)) for each in self.protocols], self._weights)
            for count in self.flow_count.ravel()
        ]
        return np.asarray(values, dtype=np.float64).reshape(self.flow_count.shape)

    @property
    def spread(self) -> FloatArray:
        """a/√n: standard deviation over mean of the sum of windows, one value per number of flows."""
        return relative_deviation(self.characteristic, self.flow_count)

    @property
    def standing_bytes(self) -> FloatArray:
        """What the flows always keep queued, whatever the buffer: 4 packets per Vegas flow."""
        each = np.average([protocol.standing_packets for protocol in self.protocols], weights=self._weights)
        return np.asarray(self.flow_count * each * self.packet_bytes, dtype=np.float64)

    @property
    def z_tau(self) -> float:
        """z-score of the utilization."""
        return float(z_score(self.targets.utilization, self.targets.convention))

    @property
    def z_rho(self) -> float:
        """z-score of the confidence in the loss bound."""
        return float(z_score(self.targets.confidence, self.targets.convention))

    @property
    def _weights(self) -> list[float]:
        return [weight for _, weight in self.mix]

    def _one(self, protocol: Protocol, flows: float) -> float:
        if protocol.name in self.measured:
            return self.measured[protocol.name]
        if self.targets.characteristics == "published":
            raise InputError(
                "has no published characteristic value",
                key="characteristics",
                value=protocol.name,
                accepted=f"derived values, or the protocols that have one: {', '.join(self.measured)}",
            )
        if protocol.scale_free:
            return protocol.characteristic()
        window = max(self.bdp_packets / flows * protocol.peak_over_mean, LEAST_WINDOW_PACKETS)
        return protocol.characteristic(window, self.rtt_s)


def _checked(name: str, value: float) -> float:
    if math.isfinite(value) and 0.0 <= value < 1.0:
        return float(value)
    raise InputError(
        "is not a characteristic value",
        key=f"measured.{name}",
        value=value,
        accepted="deviation over mean of a window, 0 or more and below 1",
    )
