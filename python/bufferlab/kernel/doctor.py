"""Whether this machine can build and run a kernel, and whether its virtual time works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bufferlab.errors import InputError
from bufferlab.kernel import host, needs, network
from bufferlab.kernel.boot import boot
from bufferlab.kernel.cache import BUILD, Kernel, kernels

_DELAY_NS: Final = 40_000_000
_NS_PER_MS: Final = 1e6
_TOLERANCE_NS: Final = 1000
"""What a ping may be off in virtual time: the clock stands still while the kernel computes."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        what: What.
        said: What was found, and what to do if it is not well.
        is_well: Whether it is.
    """

    what: str
    said: str
    is_well: bool


def findings() -> list[Finding]:
    """Look at everything; boot the newest kernel, if there is one."""
    found = [_programs("programs to build", needs.missing_to_build())]
    found.append(_programs("programs to run", needs.missing_to_run()))
    found += [Finding(*each) for each in host.findings()]
    known = kernels()
    if not known:
        return [*found, Finding("kernel", f"none was built; make one by '{BUILD}'", is_well=False)]
    found.append(Finding("kernel", known[0].title, is_well=True))
    return [*found, _virtual_time(known[0])]


def ping_ms(kernel: Kernel) -> float:
    """Boot a kernel and measure a round trip of 40 ms in it, ms.

    Raises:
        InputError: It does not start.
    """
    job = {
        "commands": network.commands(
            rate_bps=10**10,
            discipline=("pfifo", "limit", "100"),
            delays_ns=[_DELAY_NS],
            mtu=1500,
            packet_bytes=1500,
        ),
        "parameters": {},
        "sysctls": network.sysctls(1),
        "ping": network.address(0),
        "sending": network.SENDING,
        "from": network.home(0),
    }
    (row,) = boot(kernel, job, seed=1).rows
    return float(row["ping_ns"]) / _NS_PER_MS


def _virtual_time(kernel: Kernel) -> Finding:
    try:
        measured_ms = ping_ms(kernel)
    except InputError as error:
        return Finding("virtual time", str(error), is_well=False)
    exact = abs(measured_ms * _NS_PER_MS - _DELAY_NS) <= _TOLERANCE_NS
    return Finding("virtual time", f"a ping over 40 ms took {measured_ms:.3f} ms", is_well=exact)


def _programs(what: str, lacking: dict[str, str]) -> Finding:
    if not lacking:
        return Finding(what, "all are there", is_well=True)
    return Finding(what, f"no {', '.join(lacking)}; '{' '.join(needs.command_for(lacking))}'", is_well=False)
