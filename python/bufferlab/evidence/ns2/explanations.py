"""Why settings differ from ns-2, for those that do: the reasons of criteria.toml."""

from __future__ import annotations

from typing import Final

from bufferlab.evidence.expressions import Names, holds
from bufferlab.evidence.ns2.classes import criteria
from bufferlab.evidence.ns2.reference import Setting

_LINUX: Final = "linux-"
_OPTIONS: Final = ("access", "overhead", "spread")
_REASONS: Final = tuple((each["when"], each["text"]) for each in criteria()["reasons"])


def explain(setting: Setting) -> str:
    """The known reason why a setting differs from ns-2's; empty if none is known."""
    names = Names(
        {
            "scenario": setting.scenario,
            "stack": setting.stack,
            "control": setting.stack.removeprefix(_LINUX) if setting.stack.startswith(_LINUX) else "",
            "flows": setting.flows,
            **{name: setting.option(name) for name in _OPTIONS},
        }
    )
    return next((text for when, text in _REASONS if holds(when, names)), "")
