"""The kernel as a machine: its file systems, namespaces, devices, clock."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import stat
import struct
import subprocess
import time
from pathlib import Path
from typing import IO, Any, Final

CLONE_NEWNET: Final = 0x40000000
_TFD_TIMER_ABSTIME: Final = 1  # include/uapi/linux/timerfd.h

# include/uapi/linux/if_tun.h, Linux 6.12; the number of the device: include/uapi/linux/major.h, miscdevice.h
_TUNSETIFF: Final = 0x400454CA
_IFF_TUN: Final = 0x0001
_IFF_NO_PI: Final = 0x1000
_TUN_DEVICE: Final = (10, 200)

Job = dict[str, Any]


def mount(folder: str) -> Path:
    """Mount what every program expects, and the folder that is shared with the host."""
    os.environ["PATH"] = "/usr/sbin:/sbin:/usr/bin:/bin"
    for kind, place, options in (
        ("proc", "/proc", ""),
        ("sysfs", "/sys", ""),
        ("tmpfs", "/run", ""),
        ("hostfs", "/run/shared", folder),
    ):
        Path(place).mkdir(exist_ok=True)
        words = ["mount", "-t", kind, kind, place, *(["-o", options] if options else [])]
        subprocess.run(words, check=True)  # noqa: S603 - the words are ours
    Path("/run/netns").mkdir()
    return Path("/run/shared")


def hide(folder: str) -> Path:
    """On a machine's own kernel: names of networks in a place that ends with this process's namespaces."""
    os.environ["PATH"] = f"/usr/sbin:/sbin:{os.environ.get('PATH', '/usr/bin:/bin')}"
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)  # noqa: S607
    Path("/run/netns").mkdir()
    return Path(folder)


def share(folder: str) -> None:
    """Make a user's folder, and the one for temporary files, writable as they are outside."""
    for place in ("/tmp", folder):  # noqa: S108 - the host's own
        if place != "/":
            words = ["mount", "-t", "hostfs", "hostfs", place, "-o", place]
            subprocess.run(words, check=True)  # noqa: S603 - the words are ours
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], check=False)  # noqa: S607, S108


def power_off() -> None:
    """End the kernel's process (Documentation/admin-guide/sysrq.rst)."""
    Path("/proc/sysrq-trigger").write_text("o", encoding="ascii")
    time.sleep(3600)


def tell(report: IO[str], row: object) -> None:
    """Write a row."""
    report.write(json.dumps(row, sort_keys=True) + "\n")
    report.flush()


def set_up(job: Job) -> dict[str, int]:
    """Run the job's commands, and set the kernel's variables.

    Returns:
        The descriptors of the TUN devices that were made, by name.
    """
    tuns = {}
    for command in job["commands"]:
        if "tun" in command:
            tuns[command["tun"]] = tun(command["tun"], command["namespace"])
            continue
        done = subprocess.run(  # noqa: S603 - the job is ours
            command["words"], input=command["input"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command['words'])}: {done.stderr.strip() or done.stdout.strip()}")
    for path, value in job["parameters"].items():
        Path(path).write_text(value, encoding="ascii")
    for namespace, values in job["sysctls"].items():
        enter(namespace)
        for path, value in values.items():
            Path("/proc/sys", path).write_text(value, encoding="ascii")
    return tuns


def tun(name: str, namespace: str) -> int:
    """A new device of packets without Ethernet, whose other end is the descriptor."""
    node = Path("/dev/net/tun")
    if not os.access(node, os.R_OK | os.W_OK):  # a kernel in a process has it where its host has none
        node = Path("/run/tun")
    if not node.exists():
        os.mknod(node, stat.S_IFCHR | 0o600, os.makedev(*_TUN_DEVICE))
    enter(namespace)
    descriptor = os.open(node, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI))
    return descriptor


def enter(namespace: str) -> None:
    """Sockets that are made from now on belong to this network namespace."""
    descriptor = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(descriptor, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns failed")
    finally:
        os.close(descriptor)


def dropped(device: str) -> int:
    """Packets that a device of this namespace did not send (Documentation/networking/statistics.rst)."""
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()
    (values,) = (line.split(":")[1].split() for line in lines if line.split(":")[0].strip() == device)
    return int(values[11])


class Alarm:
    """Becomes readable at a moment, to the nanosecond: what poll and select wait for is rounded up."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(None, use_errno=True)
        self.descriptor: int = self.library.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK)

    def set(self, at_ns: int) -> None:
        """Set the moment, by the monotonic clock."""
        moment = (ctypes.c_int64 * 4)(0, 0, *divmod(at_ns, 10**9))
        if self.library.timerfd_settime(self.descriptor, _TFD_TIMER_ABSTIME, moment, None):
            raise OSError(ctypes.get_errno(), "timerfd_settime failed")

    def clear(self) -> None:
        """It went off."""
        try:
            os.read(self.descriptor, 8)
        except BlockingIOError:
            return
