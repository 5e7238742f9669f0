"""How large a buffer should be: by every published rule, and checked by simulation."""

from __future__ import annotations

from bufferlab.studies.size.quick import quick_scenario
from bufferlab.studies.size.recommend import Recommendation
from bufferlab.studies.size.sizing import Sizing, size
from bufferlab.theory import bscl, heterogeneous_rules, single_flow, spang, stanford, tiny
from bufferlab.theory.constraints import Feasibility, feasibility
from bufferlab.theory.demand import Demand
from bufferlab.theory.rules import Rule, all_rules, get_rule
from bufferlab.theory.targets import Targets

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
