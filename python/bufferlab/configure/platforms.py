"""The table of platforms, and those of which too little is known."""

from __future__ import annotations

from typing import Final

from bufferlab.configure.cisco import IOS_XE, IOS_XR, NX_OS
from bufferlab.configure.junos import JUNOS
from bufferlab.configure.linux import LINUX
from bufferlab.configure.openwrt import OPENWRT
from bufferlab.configure.platform import Platform
from bufferlab.configure.routeros import ROUTEROS
from bufferlab.errors import InputError, did_you_mean

PLATFORMS: Final = {
    platform.name: platform for platform in (LINUX, OPENWRT, ROUTEROS, JUNOS, IOS_XE, IOS_XR, NX_OS)
}
"""What can be configured, by name."""

NOT_KNOWN: Final = {
    "eos": "Arista EOS can bound the latency of a virtual output queue, but no source has the command",
}
"""Platforms that were looked for, and what was missing."""


_MAKERS: Final = {
    "mikrotik": ("routeros",),
    "juniper": ("junos",),
    "cisco": ("ios-xe", "ios-xr", "nx-os"),
    "ios": ("ios-xe", "ios-xr"),
    "iosxe": ("ios-xe",),
    "iosxr": ("ios-xr",),
    "xr": ("ios-xr",),
    "nxos": ("nx-os",),
    "nexus": ("nx-os",),
    "tc": ("linux",),
    "debian": ("linux",),
    "ubuntu": ("linux",),
    "lede": ("openwrt",),
    "sqm": ("openwrt",),
    "arista": ("eos",),
}
"""Names of makers and the like, and the platforms that may be meant."""


def find_platform(name: str) -> Platform:
    """The platform of a name.

    Raises:
        InputError: There is none; the message says the nearest.
    """
    if name in PLATFORMS:
        return PLATFORMS[name]
    accepted = ", ".join(PLATFORMS)
    word = name.lower().strip()
    meant = _MAKERS.get(word, ())
    word = meant[0] if meant and meant[0] in NOT_KNOWN else word
    if word in NOT_KNOWN:
        raise InputError(
            f"is not known well enough: {NOT_KNOWN[word]}", key="platform", value=name, accepted=accepted
        )
    hint = f" (did you mean {' or '.join(map(repr, meant))}?)" if meant else did_you_mean(name, PLATFORMS)
    raise InputError(f"is not a known platform{hint}", key="platform", value=name, accepted=accepted)
