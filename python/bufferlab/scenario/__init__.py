"""Scenarios: what users write, validated; see docs/scenario.md."""

from bufferlab.scenario.models import Bulk, Flow, Link, Probes, Run, Transfer, Udp
from bufferlab.scenario.overrides import parse_value, split_override
from bufferlab.scenario.scenario import Scenario

__all__ = [
    "Bulk",
    "Flow",
    "Link",
    "Probes",
    "Run",
    "Scenario",
    "Transfer",
    "Udp",
    "parse_value",
    "split_override",
]
