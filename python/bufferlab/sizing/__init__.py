"""How large a buffer should be: by every published rule, and checked by simulation."""

from __future__ import annotations

from bufferlab.sizing import bscl, heterogeneous_rules, single_flow, spang, stanford, tiny
from bufferlab.sizing.constraints import Feasibility, feasibility
from bufferlab.sizing.demand import Demand
from bufferlab.sizing.quick import quick_scenario
from bufferlab.sizing.recommend import Recommendation
from bufferlab.sizing.rules import Rule, all_rules, get_rule
from bufferlab.sizing.study import Sizing, size
from bufferlab.sizing.targets import Targets

__all__ = [
    "Demand",
    "Feasibility",
    "Recommendation",
    "Rule",
    "Sizing",
    "Targets",
    "all_rules",
    "bscl",
    "feasibility",
    "get_rule",
    "heterogeneous_rules",
    "quick_scenario",
    "single_flow",
    "size",
    "spang",
    "stanford",
    "tiny",
]
