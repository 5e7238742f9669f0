"""A run that is looked at while it goes, on a terminal. Looking changes nothing."""

from bufferlab.render.watching.live import run_watched
from bufferlab.render.watching.readings import Reading, Watch

__all__ = ["Reading", "Watch", "run_watched"]
