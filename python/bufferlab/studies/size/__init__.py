"""How large a buffer must be: measured, beside what every published rule says."""

from __future__ import annotations

from bufferlab.studies.size.course import size
from bufferlab.studies.size.published import Rules, in_theory, rules
from bufferlab.studies.size.quick import quick_scenario
from bufferlab.studies.size.sizing import Sizing
from bufferlab.theory import bscl, heterogeneous_rules, single_flow, spang, stanford, tiny
from bufferlab.theory.constraints import Feasibility, feasibility
from bufferlab.theory.demand import Demand
from bufferlab.theory.rules import Rule, all_rules, get_rule
from bufferlab.theory.targets import Targets

__all__ = [
    "Demand",
    "Feasibility",
    "Rule",
    "Rules",
    "Sizing",
    "Targets",
    "all_rules",
    "bscl",
    "feasibility",
    "get_rule",
    "heterogeneous_rules",
    "in_theory",
    "quick_scenario",
    "rules",
    "single_flow",
    "size",
    "spang",
    "stanford",
    "tiny",
]
