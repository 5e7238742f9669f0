"""A live view of a run on the terminal. Watching does not change the run."""

from bufferlab.render.watching.live import run_watched
from bufferlab.render.watching.readings import Reading, Watch

__all__ = ["Reading", "Watch", "run_watched"]
