"""How late timers wake a thread on this machine, and the Pareto law of the tail; see docs/hosts.md.

sudo python scripts/timer_noise.py
"""

from __future__ import annotations

import math
import os
import sys
import time

COUNT = 40_000
TIMER_S = 200e-6
#: Hill's estimator takes the largest part of the times.
TAIL = 0.01


def main() -> None:
    """Measure, and print percentiles and the law."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    late = sorted(_late_us() for _ in range(COUNT))
    sys.stdout.write("late, us: " + ", ".join(f"{100 * part:g} %: {_at(late, part):.1f}" for part in PARTS))
    above = [us - late[0] for us in late]
    threshold = _at(above, 1 - TAIL)
    tail = [us for us in above if us > threshold]
    shape = len(tail) / sum(math.log(us / threshold) for us in tail)
    # P(X > threshold) = TAIL = (least/threshold)^shape
    least = threshold * TAIL ** (1 / shape)
    mean = least * shape / (shape - 1) if shape > 1 else math.inf
    sys.stdout.write(f"\nabove the least: pareto(mean={mean:.1f} us, shape={shape:.2f})\n")


PARTS = (0.0, 0.5, 0.99, 0.999, 0.9999, 1.0)


def _late_us() -> float:
    begin = time.monotonic_ns()
    time.sleep(TIMER_S)
    return (time.monotonic_ns() - begin) / 1e3 - TIMER_S * 1e6


def _at(ordered: list[float], part: float) -> float:
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]


if __name__ == "__main__":
    main()
