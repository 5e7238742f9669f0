"""What Linux and OpenWrt run on an interface if nobody configured a queue."""

from __future__ import annotations

from typing import Final

from bufferlab.configure.platform import Default, Source

FQ_CODEL: Final = {"discipline": "fq_codel", "control_law": "linux", "codel_backlog": "all"}
"""FQ-CoDel as the kernel runs it without parameters (net/sched/sch_fq_codel.c, fq_codel_init): those of RFC
8290, with ECN, and with Linux's law of drops."""

_FQ_CODEL_SOURCE: Final = Source(
    "Linux", "net/sched/sch_fq_codel.c, fq_codel_init", "10240 packets, 1024 queues, 32 MB of memory"
)

DEFAULTS: Final = (
    Default(
        of="the kernel (many distributions set fq_codel)",
        queue={"discipline": "fifo"},
        buffer="1000 packets",
        sources=(
            Source("Linux", "Documentation/admin-guide/sysctl/net.rst, default_qdisc", "pfifo_fast"),
            Source("Linux", "include/net/pkt_sched.h, DEFAULT_TX_QUEUE_LEN", "1000 packets"),
            Source("iproute2 6.1.0", "tc-pfifo_fast(8)", "three bands of txqueuelen packets each"),
        ),
        note=(
            "pfifo_fast has three bands by the packets' type of service; a FIFO is the one that packets "
            "without a mark share. 'sysctl net.core.default_qdisc' tells what runs."
        ),
    ),
    Default(
        of="systemd's sysctl.d/50-default.conf, where a distribution ships it",
        queue=FQ_CODEL,
        buffer="10240 packets",
        sources=(
            Source("systemd", "sysctl.d/50-default.conf", "net.core.default_qdisc = fq_codel"),
            _FQ_CODEL_SOURCE,
        ),
        note="An interface with several transmit queues has one such queue for each (mq).",
    ),
)

OF_OPENWRT: Final = (
    Default(
        of="OpenWrt's kernel",
        queue=FQ_CODEL,
        buffer=f"{4 << 20} B",
        sources=(
            Source("OpenWrt", "target/linux/generic, 661-use_fq_codel_by_default.patch", "fq_codel"),
            Source(
                "OpenWrt",
                "target/linux/generic, 660-fq_codel_defaults.patch",
                "4 MiB of memory, 32 MiB on x86-64",
            ),
        ),
        note=(
            "The limits are 10240 packets and 4 MiB of the kernel's memory, which counts more than packets' "
            "bytes, so that fewer fit; 32 MiB on x86-64. Without a shaper, what waits in a modem is not here."
        ),
    ),
)
