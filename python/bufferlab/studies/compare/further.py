"""What goes on where a comparison ends: the command that tries other traffic and searches buffers."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bufferlab.studies.choosing.choice import Choice
from bufferlab.studies.choosing.objectives import Emphasis

_ANY: Final = "FILE"
"""What stands for a scenario that is in no file."""

_MOST_TRIED: Final = 5
"""Of equal queues this many are left to `advise`, the first in our order: it searches each one's setting."""


def advise_command(
    file: str | None,
    overrides: Mapping[str, object],
    choice: Choice | None,
    *,
    link: str | None = None,
    emphasis: Emphasis | None = None,
    platform: str | None = None,
) -> str:
    """The command `advise` about the same, of equal queues with a choice between these, or the first of them.

    Args:
        file: The scenario's.
        overrides: What of it was changed, by path.
        choice: What was recommended.
        link: The link that was asked about, if one was.
        emphasis: What was asked to matter most.
        platform: On what the queues shall run, if that was said.
    """
    words = ["bufferlab", "advise", file or _ANY]
    if choice is not None and choice.tied:
        words += ["--queues", ",".join([*_queues((choice.name, *choice.tied))][:_MOST_TRIED])]
    if link is not None:
        words += ["--link", link]
    if platform is not None:
        words += ["--platform", platform]
    if isinstance(emphasis, str):
        words += ["--for", emphasis]
    for path, value in _flat(overrides):
        words += ["--set", f"{path}={value}"]
    return shlex.join(words)


def _queues(names: Sequence[str]) -> Iterable[str]:
    return dict.fromkeys(name.partition(":")[0] for name in names)


def _flat(overrides: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    return [(path, value) for path, value in overrides.items() if isinstance(value, (str, int, float))]
