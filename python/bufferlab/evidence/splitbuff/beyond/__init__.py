"""Beyond SplitBuff's document: what it leaves open, measured. One module a study."""

from __future__ import annotations

from bufferlab.evidence.splitbuff.beyond import classes as classes
from bufferlab.evidence.splitbuff.beyond import sources as sources
from bufferlab.evidence.splitbuff.beyond import threshold as threshold
from bufferlab.evidence.splitbuff.beyond import traffic as traffic
from bufferlab.evidence.splitbuff.beyond import unequal as unequal
