"""Resolves a flow group's TCP keys: the preset, and what the group overrides."""

from __future__ import annotations

import dataclasses
from typing import Any

from bufferlab.presets import STACKS, Congestion, Recovery, Stack
from bufferlab.scenario.models import Flow


def stack_of(flow: Flow, run_stack: str) -> Stack:
    """The TCP of a flow group.

    Args:
        flow: The group.
        run_stack: Name of the preset that holds where the group names none.
    """
    preset = STACKS[flow.stack or run_stack]
    given: dict[str, Any] = flow.given_tcp()
    if given.get("initial_ssthresh") == "none":
        given["initial_ssthresh"] = None
    if "recovery" not in given and "congestion" in given:
        given["recovery"] = _recovery(given["congestion"], preset)
    return dataclasses.replace(preset, **given)


def _recovery(congestion: Congestion, preset: Stack) -> Recovery:
    """The recovery that a congestion control's name asks for; all but Tahoe and NewReno keep the preset's."""
    return congestion.kind if congestion.kind in ("tahoe", "newreno") else preset.recovery
