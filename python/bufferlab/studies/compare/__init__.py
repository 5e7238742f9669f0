"""One scenario under several queues with the same seeds: what each does to its flows, and which to run."""

from bufferlab.studies.compare.advice import Advice, advise
from bufferlab.studies.compare.comparison import DEFAULT_SEEDS, Comparison, compare

__all__ = ["DEFAULT_SEEDS", "Advice", "Comparison", "advise", "compare"]
