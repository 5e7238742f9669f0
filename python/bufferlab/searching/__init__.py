"""Searching the least buffer that meets a target by measuring: reliably, and as the testbeds did."""

from __future__ import annotations

from bufferlab.searching.goal import Goal, Sample
from bufferlab.searching.least import Effort, Found, search_least
from bufferlab.searching.study import Searched, search

__all__ = ["Effort", "Found", "Goal", "Sample", "Searched", "search", "search_least"]
