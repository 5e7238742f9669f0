"""One scenario by the simulator and by a real kernel: a verdict for each figure, and likely reasons."""

from bufferlab.studies.crosscheck.checking import crosscheck
from bufferlab.studies.crosscheck.comparison import COMPARED, Compared, Crosscheck, Row, Verdict

__all__ = ["COMPARED", "Compared", "Crosscheck", "Row", "Verdict", "crosscheck"]
