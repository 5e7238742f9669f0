"""One scenario under several queues with the same seeds: what each does to its flows, and which to run."""

from bufferlab.studies.compare.advice import Advice, advise
from bufferlab.studies.compare.study import DEFAULT_SEEDS, CompareInterrupted, Comparison, compare

__all__ = ["DEFAULT_SEEDS", "Advice", "CompareInterrupted", "Comparison", "advise", "compare"]
