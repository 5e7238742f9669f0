"""RED's options for `tc`: thresholds in bytes, and the burst that stands for the weight."""

from __future__ import annotations

from math import log2
from typing import Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.shared import (
    FIFO_SOURCE,
    MOST_U32,
    counted_limit,
    counted_note,
    rate_text,
    show_time,
)
from bufferlab.errors import InputError

_MOST_SHIFT: Final = 31
"""tc tries weights from 1/2 to 2^-31 (iproute2, tc/tc_red.c, tc_red_eval_ewma)."""

_MOST_BITS: Final = 31
"""A threshold's bits and the weight's shift together, at most (include/net/red.h, red_check_params)."""

_WARNS_FROM: Final = 10
"""The shift of the weight from which on tc warns of a burst (iproute2, tc/q_red.c, red_parse_opt)."""

_MOST_RATE: Final = MOST_U32 * 8
"""Highest `bandwidth` that tc's RED takes, bit/s: bytes a second in 32 bits (tc(8), RATES)."""


def red(answer: Answer, notes: list[str]) -> tuple[list[str], int]:
    """The options of `tc ... red`, and its limit in bytes.

    Raises:
        InputError: The kernel would refuse them.
    """
    given = answer.parameters
    limit = counted_limit(answer, "red", "bytes", FIFO_SOURCE)
    low = answer.threshold_bytes(given["min_threshold"])
    high = answer.threshold_bytes(given["max_threshold"])
    if high > limit:
        raise InputError(
            "is larger than the buffer, which tc refuses",
            key="queue.max_threshold",
            value=f"{high} bytes",
            accepted=f"at most the buffer's {limit} bytes",
        )
    packet = given["mean_packet_bytes"] + answer.overhead_bytes
    most = _MOST_BITS - high.bit_length()
    if given["weight"] is None:
        burst = _own_burst(low, high, packet, most, notes)
    else:
        # a weight that nobody wrote follows the rate, and may be as near as the kernel takes it
        least = 0.0 if "weight" in answer.changed else 2.0 ** -max(most, 1)
        burst = _burst_of(given["weight"], low, packet, notes, least)
    shift = shift_of(low, burst, packet)
    if shift > most:
        raise InputError(
            "is too small a weight for such thresholds: the kernel refuses both together",
            key="queue.weight",
            value=given["weight"],
            accepted=f"at least {2.0**-most:g}",
        )
    if shift >= _WARNS_FROM:
        notes.append(
            f'tc says "RED: WARNING. Burst {burst} seems to be too large." of each weight of '
            f"2^-{_WARNS_FROM} and less, and takes it."
        )
    notes.append(counted_note(answer))
    if "target_delay_ps" in answer.changed:
        aim = show_time(given["target_delay_ps"])
        notes.append(f"tc's RED takes no target_delay; {aim} are in min and max.")
    if given["gentle"]:
        notes.append("Linux's RED is not gentle: above max all packets are dropped.")
    rate = min(answer.rate_bps, _MOST_RATE)
    if rate < answer.rate_bps:
        notes.append(
            "tc's RED takes no bandwidth above 34 Gbit/s; it serves to age the average of an idle queue only."
        )
    options = [f"limit {limit}", f"min {low}", f"max {high}", f"avpkt {packet}", f"burst {burst}"]
    options += [f"bandwidth {rate_text(rate)}", f"probability {given['max_p']:g}"]
    options += [word for word in ("ecn", "adaptive") if given[word]]
    return options, limit


def shift_of(low: int, burst: int, packet: int) -> int:
    """The shift w of RED's weight 2^-w that tc takes for a burst: 0 if it is too short, 32 if it is too long.

    It is the least w with burst + 1 - min/avpkt at most (1 - (1 - W)^burst)/W, W = 2^-w, as in iproute2's
    tc/tc_red.c (after Floyd and Jacobson 1993, section 6).

    Args:
        low: Lower threshold, bytes.
        burst: Packets.
        packet: Mean packet, bytes.
    """
    allowed = burst + 1 - low / packet
    if allowed < 1:
        return 0
    for shift in range(1, _MOST_SHIFT + 1):
        weight = 2.0**-shift
        if allowed <= (1 - (1 - weight) ** burst) / weight:
            return shift
    return _MOST_SHIFT + 1


def _own_burst(low: int, high: int, packet: int, most: int, notes: list[str]) -> int:
    """The burst that tc would choose, or a shorter one if the kernel refused its weight."""
    burst = max((2 * low + high) // (3 * packet), 1 + low // packet)
    notes.append(
        "The weight is left to tc: burst is its guideline (min + min + max)/(3 avpkt), not the simulated "
        "weight, which follows the rate."
    )
    if shift_of(low, burst, packet) > most > 0:
        burst = _least_burst(most, low, packet)
        notes.append(f"burst is shortened to a weight of 2^-{most}: the kernel refuses smaller ones here.")
    return burst


def _burst_of(weight: float, low: int, packet: int, notes: list[str], least: float) -> int:
    """The burst for which tc takes the weight or the least one, rounded to a power of two."""
    wanted = round(-log2(max(weight, least, 2.0**-_MOST_SHIFT)))
    burst = _least_burst(max(wanted, 1), low, packet)
    shift = shift_of(low, burst, packet)
    if weight < least:
        notes.append(
            f"The weight is 2^-{shift} = {2.0**-shift:g}, not {weight:.3g} as simulated, which follows the "
            "rate: the kernel takes no less with such thresholds. The average follows the queue sooner."
        )
    elif 2.0**-shift != weight:
        notes.append(f"Linux's weight is a power of two: 2^-{shift} = {2.0**-shift:g} for {weight:g}.")
    return burst


def _least_burst(wanted: int, low: int, packet: int) -> int:
    """The least burst for which tc takes the shift or more: longer bursts are for smaller weights."""
    below = low // packet
    above = below + 1
    while shift_of(low, above, packet) < wanted:
        below, above = above, above * 2
    while above - below > 1:
        middle = (below + above) // 2
        if shift_of(low, middle, packet) < wanted:
            below = middle
        else:
            above = middle
    return above
