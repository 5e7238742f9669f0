"""What a packet takes on the line beyond what the router's interface counts, for sqm-scripts and tc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bufferlab import _core
from bufferlab.errors import InputError, did_you_mean

KINDS: Final = ("ethernet", "atm")
"""Link layers: whole packets, or cells of 53 bytes for each 48 (tc-stab(8), linklayer)."""

MOST_BYTES: Final = 256
"""Largest overhead, bytes; that of CAKE's `overhead` (tc-cake(8))."""

_TABLE: Final = "mtu 2047 tsize 512 mpu 0"
"""Size of the kernel's table, as sqm-scripts have it (src/defaults.sh: STAB_MTU, STAB_TSIZE, STAB_MPU)."""

_ACCEPTED: Final = f"one of {', '.join(KINDS)}, and 0 B to {MOST_BYTES} B for each packet: 'ethernet 16 B'"


@dataclass(frozen=True)
class LinkLayer:
    """A line below a shaper.

    Attributes:
        kind: One of `KINDS`.
        overhead_bytes: What a packet is longer there than the interface counts it.
    """

    kind: str
    overhead_bytes: int

    @property
    def stab(self) -> str:
        """The size table that `tc` has a shaper count by (sqm-scripts, src/functions.sh, get_stab_string)."""
        return f"stab {_TABLE} overhead {self.overhead_bytes} linklayer {self.kind}"

    @property
    def options(self) -> dict[str, str]:
        """The options of `/etc/config/sqm`."""
        return {"linklayer": self.kind, "overhead": str(self.overhead_bytes)}

    @property
    def note(self) -> str:
        """What the bytes are counted from."""
        cells = ", in whole cells" if self.kind == "atm" else ""
        return (
            f"{self.overhead_bytes} bytes are counted for each packet beyond what the interface counts"
            f"{cells}. An Ethernet interface counts its 14 bytes, one of PPPoE does not. They are not in the "
            "simulation."
        )


def read_linklayer(text: str) -> LinkLayer:
    """Read a link layer and its overhead: "ethernet 16 B", "atm 26 B".

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
    if overhead > MOST_BYTES:
        raise InputError("is too large", key="linklayer", value=text, accepted=_ACCEPTED)
    return LinkLayer(kind, overhead)
