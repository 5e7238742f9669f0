"""Scenarios: what users write, validated; see docs/scenario.md."""

from bufferlab.scenario.applications import Bulk, Echo, OnOff, Ping, ShortFlows, Transfer, Udp, Web
from bufferlab.scenario.models import Flow, Link, Probes, Run
from bufferlab.scenario.overrides import parse_value, split_override
from bufferlab.scenario.scenario import Scenario

__all__ = [
    "Bulk",
    "Echo",
    "Flow",
    "Link",
    "OnOff",
    "Ping",
    "Probes",
    "Run",
    "Scenario",
    "ShortFlows",
    "Transfer",
    "Udp",
    "Web",
    "parse_value",
    "split_override",
]
