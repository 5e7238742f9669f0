"""Which queue, how large, what it costs, how sure: one answer from runs."""

from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.advising import advise

__all__ = ["Advice", "advise"]
