"""What is changed in the kernel's unpacked sources: its tick, and where its random numbers come from."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bufferlab.errors import InputError

HZ_CHOICES: Final = (100, 250, 300, 1000)
"""Ticks a second that a kernel can be built with (kernel/Kconfig.hz, Linux 6.12)."""

_SEEDED: Final = """\
static u64 bufferlab_seed;

static int __init set_bufferlab_seed(char *text)
{
	return kstrtoull(text, 0, &bufferlab_seed);
}
early_param("bufferlab_seed", set_bufferlab_seed);

/* All random numbers follow from the seed: splitmix64 takes the place of what machines collect. */
static void extract_entropy(void *buf, size_t len)
{
	static u64 drawn;

	while (len) {
		u64 word = (bufferlab_seed << 32) + ++drawn;
		size_t part = min_t(size_t, len, sizeof(word));

		word *= 0x9e3779b97f4a7c15ULL;
		word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
		word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
		word ^= word >> 31;
		memcpy(buf, &word, part);
		buf += part;
		len -= part;
	}
}
"""
"""In the place of drivers/char/random.c's function of that name, of which all random numbers are made.

The generator is that of Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
"""

_ZEROS: Final = "ret = max_longs * sizeof(*v);\n\t__builtin_memset(v, 0, ret);"
"""In the place of a question to the host."""

CHANGES: Final = _SEEDED + _ZEROS
"""What is changed, for the names of kernels."""


def patch(sources: Path, hz: int) -> None:
    """Change the unpacked sources; what was changed already stays.

    Raises:
        InputError: A place that is to be changed is not there: the sources are of an unknown version.
    """
    _rewrite(sources / "arch/um/Kconfig", lambda text: _with_tick(text, hz))
    _rewrite(sources / "arch/um/include/asm/archrandom.h", _without_the_host)
    _rewrite(sources / "drivers/char/random.c", _with_seed)


def _with_tick(text: str, hz: int) -> str | None:
    changed, count = re.subn(r"(config HZ\n\tint\n\tdefault )\d+", rf"\g<1>{hz}", text)
    return changed if count == 1 else None


def _without_the_host(text: str) -> str | None:
    """The processor's random numbers, which are the host's, become zeros; the kernel counts them as full."""
    if _ZEROS in text:
        return text
    old = "ret = os_getrandom(v, max_longs * sizeof(*v), 0);"
    return text.replace(old, _ZEROS) if text.count(old) == 1 else None


def _with_seed(text: str) -> str | None:
    if "bufferlab_seed" in text:
        return text
    function = re.compile(
        r"^static void extract_entropy\(void \*buf, size_t len\)\n\{\n.*?^\}\n", re.MULTILINE | re.DOTALL
    )
    changed, count = function.subn(lambda _: _SEEDED, text)
    return changed if count == 1 else None


def _rewrite(path: Path, change: Callable[[str], str | None]) -> None:
    text = path.read_text(encoding="utf-8")
    changed = change(text)
    if changed is None:
        raise InputError(
            "has not the lines that are to be changed", file=path, accepted="sources of Linux 6.6 to 6.18"
        )
    if changed != text:
        path.write_text(changed, encoding="utf-8")
