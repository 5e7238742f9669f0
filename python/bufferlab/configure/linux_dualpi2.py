"""DualPI2 on Linux: the options of `tc qdisc ... dualpi2`."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any, Final

from bufferlab.configure.platform import Source
from bufferlab.configure.shared import time_text
from bufferlab.errors import InputError

_STEPS: Final = 256
"""alpha and beta are in 256ths of a hertz; tc cuts the rest off (tc/q_dualpi2.c, parse_alpha_beta)."""

_DECIMALS: Final = 4

_NOTED: Final = 0.01
"""Part by which rounding must change a gain to be said."""

SOURCES: Final = (
    Source("iproute2 (with dualpi2)", "tc-dualpi2(8), tc/q_dualpi2.c", "options, units, what tc leaves out"),
    Source("Linux 6.17", "net/sched/sch_dualpi2.c", "defaults and bounds"),
)


def dualpi2(given: Mapping[str, Any], notes: list[str]) -> list[str]:
    """The options of dualpi2 beside the limit.

    Raises:
        InputError: A value is none that Linux takes.
    """
    notes.append(
        "dualpi2 needs Linux 6.17 and a tc that knows it (tc qdisc add dualpi2 help). Its short queue is for "
        "L4S hosts, such as those with TCP Prague; for all others it is PI2."
    )
    return [
        f"target {_time('target', given['target_ps'])}",
        f"tupdate {_time('update', given['update_ps'])}",
        f"alpha {_gain('alpha', given['alpha'], notes)}",
        f"beta {_gain('beta', given['beta'], notes)}",
        f"coupling_factor {given['coupling_factor']}",
        f"step_thresh {_time('step_threshold', given['step_threshold_ps'])}",
        f"classic_protection {given['classic_protection']}%",
        "drop_on_overload" if given["drop_on_overload"] else "overflow",
    ]


def _time(name: str, time_ps: int) -> str:
    """A time; tc leaves out zero, so that the default would hold."""
    if time_ps == 0:
        raise InputError(
            "is less than Linux's DualPI2 takes",
            key=f"queue.{name}",
            value=time_text(time_ps),
            accepted="1 us or more",
        )
    return time_text(time_ps)


def _gain(name: str, value: float, notes: list[str]) -> str:
    """A gain that is still the nearest one once tc has cut it."""
    steps = round(value * _STEPS)
    if steps == 0:
        raise InputError(
            "is less than Linux's DualPI2 takes",
            key=f"queue.{name}",
            value=value,
            accepted=f"1/{_STEPS} or more",
        )
    if abs(steps / _STEPS - value) > _NOTED * value:
        notes.append(f"Linux counts {name} in 256ths: {steps}/256, not {value:g}.")
    return f"{ceil(steps / _STEPS * 10**_DECIMALS) / 10**_DECIMALS:g}"
