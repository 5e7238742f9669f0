"""The plan of a run: plain integers, the engine's only input.

A plan is a dictionary as the engine's JSON has it (crates/simulator/src/plan.rs). What is random about the
flows is drawn by then, so that a plan is the whole truth of a run.
"""

from __future__ import annotations

import json
from typing import Any, Final

from bufferlab import _core
from bufferlab.scenario import Scenario, Seeded

PLAN_VERSION: Final = _core.PLAN_VERSION
"""Format of the plan; the engine refuses others."""

NEVER_PS: Final = 2**64 - 1
"""Stands for "never" among the plan's times, and for the group's size among the flows' transfers."""

Plan = dict[str, Any]
"""A plan as the engine's JSON has it."""


def lower(scenario: Scenario, seed: int | None = None) -> Plan:
    """Lower a scenario to a plan.

    Args:
        scenario: The scenario.
        seed: Seed of every random draw; the scenario's own if not given.

    Raises:
        InputError: As `Scenario.seeded`.
    """
    return plan_of(scenario.seeded(seed))


def plan_of(seeded: Seeded) -> Plan:
    """The plan of a scenario under a seed."""
    plan: Plan = json.loads(seeded.plan_json())
    return plan


def plan_json(plan: Plan) -> str:
    """A plan as canonical JSON: keys sorted, no spaces; equal plans give equal text."""
    return _core.canonical_plan(json.dumps(plan, allow_nan=False))


def plan_hash(text: str) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal: with the engine's version, the identity of a run."""
    return _core.hash_plan(text)
