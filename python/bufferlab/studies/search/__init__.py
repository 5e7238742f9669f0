"""Searching the least buffer that meets a target by measuring: reliably, and as the testbeds did."""

from __future__ import annotations

from bufferlab.studies.search.answer import Searched
from bufferlab.studies.search.goal import Goal, Sample
from bufferlab.studies.search.least import Effort, Found, search_least
from bufferlab.studies.search.rounds import search

__all__ = ["Effort", "Found", "Goal", "Sample", "Searched", "search", "search_least"]
