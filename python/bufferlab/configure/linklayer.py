"""What a packet takes on the line beyond what the router's interface counts, for sqm-scripts and tc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bufferlab import _core
from bufferlab.errors import InputError, did_you_mean

KINDS: Final = ("ethernet", "atm")
"""Link layers: whole packets, or cells of 53 bytes for each 48 (tc-stab(8), linklayer)."""

PPP: Final = "ppp"
"""How names of interfaces begin that count from the IP packet on: pppoe-wan, ppp0."""

_ETHERNET_BYTES: Final = 14
"""The header that an Ethernet interface counts (tc-stab(8))."""

MOST_BYTES: Final = 256
"""Largest overhead, bytes; that of CAKE's `overhead` (tc-cake(8))."""

_MOST: Final = MOST_BYTES - _ETHERNET_BYTES
"""The largest beyond an Ethernet interface, bytes: CAKE counts from the IP packet on."""

_TABLE: Final = "mtu 2047 tsize 512 mpu 0"
"""Size of the kernel's table, as sqm-scripts have it (src/defaults.sh: STAB_MTU, STAB_TSIZE, STAB_MPU)."""

_ACCEPTED: Final = f"one of {', '.join(KINDS)}, and 0 B to {_MOST} B for each packet: 'ethernet 16 B'"


@dataclass(frozen=True)
class LinkLayer:
    """A line below a shaper.

    Attributes:
        kind: One of `KINDS`.
        overhead_bytes: What a packet is longer there than the interface counts it.
        header_bytes: What the interface counts beyond the IP packet.
    """

    kind: str
    overhead_bytes: int
    header_bytes: int

    @property
    def stab(self) -> str:
        """The size table that `tc` has a shaper count by (sqm-scripts, src/functions.sh, get_stab_string)."""
        return f"stab {_TABLE} overhead {self.overhead_bytes} linklayer {self.kind}"

    def options(self, *, cake: bool) -> dict[str, str]:
        """The options of `/etc/config/sqm`; sqm-scripts hand them to CAKE, or to a size table."""
        overhead = self._beyond_ip if cake else self.overhead_bytes
        return {"linklayer": self.kind, "overhead": str(overhead)}

    @property
    def of_cake(self) -> tuple[str, ...]:
        """The words by which CAKE's own shaper counts the line."""
        return f"overhead {self._beyond_ip}", "mpu 0", "atm" if self.kind == "atm" else "noatm"

    def note(self, *, cake: bool) -> str:
        """What the bytes are counted from."""
        cells = ", in whole cells" if self.kind == "atm" else ""
        own = ""
        if cake and self.header_bytes:
            own = f" CAKE counts from the IP packet on, so its overhead is both together: {self._beyond_ip}."
        return (
            f"{self.overhead_bytes} bytes are counted for each packet beyond what the interface counts"
            f"{cells}. An Ethernet interface counts its {_ETHERNET_BYTES} bytes, one of PPPoE does not.{own} "
            "They are not in the simulation."
        )

    @property
    def _beyond_ip(self) -> int:
        """What a packet is longer on the line than from its IP header on, which is how CAKE counts."""
        return self.overhead_bytes + self.header_bytes


def read_linklayer(text: str, device: str = "") -> LinkLayer:
    """Read a link layer and its overhead: "ethernet 16 B", "atm 26 B".

    Args:
        text: The text.
        device: Name of the interface to the line, which is one of Ethernet if it is not named as one of PPP.

    Raises:
        InputError: It is none.
    """
    kind, _, size = text.strip().partition(" ")
    if kind not in KINDS or not size:
        hint = did_you_mean(kind, KINDS) if kind not in KINDS else ""
        raise InputError(
            f"is not a link layer and its overhead{hint}", key="linklayer", value=text, accepted=_ACCEPTED
        )
    try:
        overhead = _core.parse_quantity("size", size, 0)
    except InputError as error:
        raise InputError(error.problem, key="linklayer", value=text, accepted=_ACCEPTED) from None
    if overhead > _MOST:
        raise InputError("is too large", key="linklayer", value=text, accepted=_ACCEPTED)
    return LinkLayer(kind, overhead, 0 if device.startswith(PPP) else _ETHERNET_BYTES)
