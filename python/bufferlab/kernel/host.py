"""This machine's own kernel, live: namespaces that end with the command, a link of Bufferlab's between them.

Network, mounts and processes are the first process's own (namespaces(7)). It is killed with the command,
whatever ends that (prctl(2): PR_SET_PDEATHSIG), and with it all that is within: nothing has a name outside.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bufferlab.errors import InputError
from bufferlab.kernel.boot import ENDS_WITH_US, GUEST, Report, Who

LIVE: Final = "live"
"""The kind of a report's row about how punctual the link was."""

_CONTROLS: Final = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_TUN: Final = Path("/dev/net/tun")
_USUAL: Final = "1"
"""HyStart and fast convergence of a module that shows no parameters (net/ipv4/tcp_cubic.c, tcp_bic.c)."""

_LATE_US: Final = 1000.0
_KEPT_PERCENT: Final = 99.0
_STEAL_SHARE: Final = 0.001


class Punctual(NamedTuple):
    """How punctual a live link was.

    Attributes:
        values: As the link's process reported it (`bufferlab.kernel.guest.live.punctuality`).
    """

    values: Mapping[str, Any]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> Punctual | None:
        """What a report says of it."""
        return next((cls(json.loads(row["tables"])) for row in rows if row["kind"] == LIVE), None)

    @property
    def disturbances(self) -> list[str]:
        """What disturbed the run; nothing if it counts."""
        found, values = [], self.values
        if values.get("late_p99_us", 0) > _LATE_US:
            found.append(f"1 % of packets left {values['late_p99_us'] / 1e3:.1f} ms late or later")
        kept = values.get("within_10_percent")
        if kept is not None and kept < _KEPT_PERCENT:
            found.append(f"only {kept:.1f} % of distances were kept within 10 %")
        if values["steal_share"] > _STEAL_SHARE:
            found.append(f"{100 * values['steal_share']:.1f} % of a processor were stolen by other machines")
        return found

    def __str__(self) -> str:
        values = self.values
        if not values["packets"]:
            return "no packet left the link"
        kept = values["within_10_percent"]
        close = "" if kept is None else f"; {kept:.2f} % of distances within 10 %"
        pressure = values.get("pressure_share")
        waited = (
            ""
            if pressure is None
            else f"; somebody waited for a processor {100 * pressure:.0f} % of the time"
        )
        late = f"median {values['late_median_us']:.0f} us, 99 % {values['late_p99_us']:.0f} us"
        most = f"at most {values['late_most_us'] / 1e3:.1f} ms"
        hurry = "" if values["is_realtime"] else "; without SCHED_FIFO, which root has"
        return f"packets left late by {late}, {most}{close}{waited}{hurry}"


def title() -> str:
    """The name that results give for their source."""
    return f"Linux {os.uname().release} (this machine, live)"


def start(
    job: dict[str, Any],
    seed: int,
    is_canceled: Callable[[], bool] = lambda: False,
    *,
    captures: Path | None = None,
    looks_on: Callable[[Path], None] = lambda _folder: None,
) -> Report:
    """Have this machine's kernel do a job; as `bufferlab.kernel.boot.boot`. The kernel has no seed."""
    del seed
    check(job)
    words = command()
    who = Who(title(), lambda folder: [*words, str(folder), "host"])
    return who.done(job, is_canceled, captures, looks_on)


def command() -> list[str]:
    """The words that start the first process, but for its arguments."""
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return [
        *ENDS_WITH_US,
        "unshare", *own, "--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc",
        *GUEST,
    ]  # fmt: skip


def check(job: Mapping[str, Any]) -> None:
    """Check that this machine can do a job.

    Raises:
        InputError: It lacks TUN devices or a control, or a module's parameter is another one: those are the
            machine's, and not ours to change.
    """
    if not os.access(_TUN, os.R_OK | os.W_OK):
        raise InputError("cannot be opened", key="engine host", value=_TUN, accepted="root, or TUN for users")
    known = _CONTROLS.read_text(encoding="ascii").split()
    for control in dict.fromkeys(flow["control"] for flow in job["flows"] if flow["control"] is not None):
        if control not in known:
            raise InputError(
                "is not in this machine's kernel", key="congestion", value=control, accepted=", ".join(known)
            )
    for path, wanted in job["needs_parameters"].items():
        file = Path(path)
        has = file.read_text(encoding="ascii").strip() if file.exists() else _USUAL
        if has != wanted:
            raise InputError("is the machine's", key=path, value=wanted, accepted=f"{has}, which it has now")


def findings() -> list[tuple[str, str, bool]]:
    """Whether this kernel can be used live: what was looked at, what was found, whether it is well."""
    has_tun = os.access(_TUN, os.R_OK | os.W_OK)
    said = f"{_TUN} can be opened" if has_tun else f"{_TUN} cannot be opened: be root, or have TUN for users"
    known = _CONTROLS.read_text(encoding="ascii").split() if _CONTROLS.exists() else []
    return [
        ("TUN, for --engine host", said, has_tun),
        ("congestion controls of --engine host", ", ".join(known) or "none are listed", bool(known)),
    ]
