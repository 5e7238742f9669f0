"""How large a buffer should be: by every published rule, and checked by simulation."""

from __future__ import annotations

from bufferlab.sizing.demand import Demand
from bufferlab.sizing.recommend import Recommendation
from bufferlab.sizing.rules import Rule, all_rules, get_rule
from bufferlab.sizing.study import Sizing, quick_scenario, size

__all__ = ["Demand", "Recommendation", "Rule", "Sizing", "all_rules", "get_rule", "quick_scenario", "size"]
