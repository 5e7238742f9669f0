"""Beyond SplitBuff's document: what it leaves open, measured. One module a study."""

from __future__ import annotations

from bufferlab.papers.beyond import classes as classes
from bufferlab.papers.beyond import sources as sources
from bufferlab.papers.beyond import threshold as threshold
from bufferlab.papers.beyond import traffic as traffic
from bufferlab.papers.beyond import unequal as unequal
