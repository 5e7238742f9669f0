"""One scenario under several queues with the same seeds: what users feel under each, and which to run."""

from bufferlab.studies.compare.comparison import Comparison, Measured
from bufferlab.studies.compare.course import DEFAULT_SEEDS, compare

__all__ = ["DEFAULT_SEEDS", "Comparison", "Measured", "compare"]
