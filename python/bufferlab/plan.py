"""The plan of a run: plain integers, the engine's only input.

A plan is a dictionary as the engine's JSON has it (crates/simulator/src/plan.rs). What is random about the
flows is drawn by then, so that a plan is the whole truth of a run.
"""

from __future__ import annotations

import json
import operator
from typing import Any, Final, SupportsIndex

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario

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
        seed: Seed of every random draw, 0 to 2^64 - 1; the scenario's own if not given.

    Raises:
        InputError: If a drawn round-trip time is shorter than its links' delays, no flow of a group starts
            before the run's end, or a buffer's word has no flows to depend on.
    """
    plan: Plan = json.loads(scenario.plan_json(None if seed is None else _checked_seed(seed)))
    return plan


def plan_json(plan: Plan) -> str:
    """A plan as canonical JSON: keys sorted, no spaces; equal plans give equal text."""
    return _core.canonical_plan(json.dumps(plan, allow_nan=False))


def plan_hash(plan: Plan) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal: with the engine's version, the identity of a run."""
    return _core.hash_plan(json.dumps(plan, allow_nan=False))


def _checked_seed(seed: object) -> int:
    if isinstance(seed, SupportsIndex) and not isinstance(seed, bool) and 0 <= operator.index(seed) < 2**64:
        return operator.index(seed)
    raise InputError(
        "is not a usable seed", key="seed", value=seed, accepted="a whole number of 0 to 2^64 - 1"
    )
