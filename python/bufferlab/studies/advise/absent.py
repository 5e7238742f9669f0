"""What a queue would do that was not to choose from: whether another box or choice is worth its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from bufferlab.studies.advise.beside import Beside
from bufferlab.studies.advise.queues import Queue

ASKED: Final = "fq_codel"
"""What is tried: it is free in Linux and OpenWrt, and on many access lines."""


@dataclass(frozen=True)
class Absent(Beside):
    """A queue that was not to choose from, with the setting that its specification has.

    Attributes:
        platform: The platform that does not have it; `None` where it was not asked for.
        queue: The queue.
    """

    platform: str | None
    queue: Queue

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        setting = self.queue.show(self.queue.usual)
        return {"platform": self.platform, "queue": self.queue.name, "setting": setting, **self.measured()}
