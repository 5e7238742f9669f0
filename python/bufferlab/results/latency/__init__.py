"""What load does to latency: round trips, responsiveness, a grade of the bloat, voice quality."""

from bufferlab.results.latency.bloat import grade
from bufferlab.results.latency.rows import GRADED, LATENCY_FIGURES, latency_values, with_grades

__all__ = ["GRADED", "LATENCY_FIGURES", "grade", "latency_values", "with_grades"]
