"""What `bufferlab size` reads from its options: the groups of flows and the targets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario, check_congestion
from bufferlab.studies.internet import SHARES, STACK, controls_of, shared_out
from bufferlab.studies.size import in_theory
from bufferlab.studies.targets import Target, parse_target
from bufferlab.theory.protocols import get_protocol
from bufferlab.theory.targets import Targets
from bufferlab.units import parse_time

Groups = list[tuple[str | None, int]]
"""Protocol (`None` for the stack's own) and number of flows."""

_GROUP: Final = re.compile(r"(?:([A-Za-z][^:,]*):)?(\d{1,9})", re.ASCII)
_SHARE: Final = re.compile(r"([A-Za-z][^:,]*):(\d{1,3}(?:\.\d{1,6})?)\s?%", re.ASCII)
_MEASURED: Final = re.compile(r"([A-Za-z][^=]*)=(\d{0,3}\.?\d{1,15})", re.ASCII)
_SHARES_MISS_PERCENT: Final = 0.1
_FLOWS: Final = "200, or reno:150,cubic:50"
_MIX: Final = "reno:40%,cubic:60%"
_DELAY: Final = "--max-delay"
_LOSS: Final = "--max-loss"
_USED: Final = "--utilization"
_SHARES: Final = {
    _USED: "a share of 0 to 100 %, such as '99 %' or 0.99",
    _LOSS: "a share of 0 to 100 %, such as '1 %' or 0.01",
}
_WHOLE_PERCENT: Final = 100
_OPTIONS: Final = {
    "utilization": _USED,
    "max_loss": _LOSS,
    "max_delay_s": _DELAY,
    "confidence": "--loss-confidence",
    "convention": "--z",
    "characteristics": "--characteristics",
}
SHORT: Final = {
    "utilization": "utilization >= {}",
    "max_loss": "loss <= {}",
    "max_delay": "wait_mean <= {}",
}
"""The targets that have options of their own."""


def read_groups(flows: str, mix: str | None, stack: str) -> Groups:
    """Groups of flows from `--flows` and `--mix`.

    A number alone is the Internet's mix on current hosts; another `stack` has its own control. CUBIC on a
    current host is Linux's; `--stack rfc` has the one of RFC 9438.

    Raises:
        InputError: A group that is no number of flows, is empty or names no known congestion control; or
            shares that do not add up.
    """
    groups = [_group(part.strip(), flows) for part in flows.split(",")]
    groups = [(_of_stack(name, stack), count) for name, count in groups]
    if mix is None:
        return [*controls_of(groups[0][1])] if is_number(flows) and stack == STACK else groups
    if len(groups) > 1 or groups[0][0] is not None:
        raise InputError("names protocols already", key="--flows", value=flows, accepted="200, with --mix")
    return [(_of_stack(name, stack), count) for name, count in shared_out(groups[0][1], read_shares(mix))]


def is_number(flows: str) -> bool:
    """Whether `--flows` names no control."""
    return flows.strip().isdigit()


def read_targets(**written: str | None) -> list[Target]:
    """Targets from the short options, by their names; errors name the options.

    Raises:
        InputError: A value that is no bound.
    """
    return [
        _short(f"--{name.replace('_', '-')}", SHORT[name], value)
        for name, value in written.items()
        if value is not None
    ]


def asking(
    scenario: Scenario, emphasis: str | None, *, more: Sequence[str] | None, **short: str | None
) -> Scenario:
    """The scenario with what was asked for written into it; its own targets where nothing was.

    Args:
        scenario: The scenario.
        emphasis: What matters most.
        more: Further targets, as written.
        **short: The short options, by their names.
    """
    texts = [SHORT[name].format(value) for name, value in short.items() if value is not None]
    texts += more or []
    asked = {**({"targets": texts} if texts else {}), **({"for": emphasis} if emphasis else {})}
    if not asked:
        return scenario
    own = scenario.to_dict().get("advise")
    return prepare(scenario, {"advise": {**(own if isinstance(own, dict) else {}), **asked}})


def read_conventions(**details: Any) -> Targets:  # noqa: ANN401 - Targets' own types
    """What the rules want to know beside the targets; errors name the options.

    Raises:
        InputError: A value that is not known or out of bounds.
    """
    with _named():
        return Targets(**details)


def read_theory(targets: Sequence[Target], conventions: Targets) -> Targets:
    """What the rules are asked; errors name the options.

    Raises:
        InputError: A bound that the rules cannot use.
    """
    with _named():
        return in_theory(targets, conventions)


@contextmanager
def _named() -> Iterator[None]:
    """Have errors name options in place of attributes of `Targets`."""
    try:
        yield
    except InputError as error:
        key = _OPTIONS.get(error.key or "", error.key)
        raise InputError(error.problem, key=key, value=error.value, accepted=error.accepted) from error


def _short(option: str, form: str, value: str) -> Target:
    if option == _DELAY:
        try:
            parse_time(value, least_ps=1)  # a number alone has no unit
        except InputError as error:
            raise error.at(key=option) from error
    if option == _LOSS and is_number(value) and int(value) == 1:
        raise InputError(
            "has no unit (did you mean '1 %'?)", key=option, value=value, accepted=_SHARES[option]
        )
    try:
        return parse_target(form.format(value), ())
    except InputError as error:
        if option not in _SHARES:
            raise error.at(key=option) from error
        raise InputError(_why_no_share(value), key=option, value=value, accepted=_SHARES[option]) from error


def _why_no_share(value: str) -> str:
    """What is wrong with what is no share: "has no unit" of a number that is one of percent."""
    number, percent = value.strip().removesuffix("%").rstrip(), value.strip().endswith("%")
    try:
        amount = Decimal(number)
    except InvalidOperation:
        return "is not a share"
    if not amount.is_finite():
        return "is not a share"
    if amount < 0:
        return "is negative"
    hint = f" (did you mean '{number} %'?)" if amount <= _WHOLE_PERCENT else ""
    return "is more than all" if percent else f"has no unit, and is more than 1, which is all{hint}"


def read_variation(characteristics: str, measured: list[str]) -> dict[str, float]:
    """Characteristic values in place of the models': published ones if asked for, and measured ones.

    Raises:
        InputError: A measured one is no such value.
    """
    given = read_measured(measured)
    if characteristics != "published":
        return given
    from bufferlab.evidence.heterogeneous.published import table_iii  # noqa: PLC0415 - seldom needed

    return {**table_iii(), **given}


def read_measured(texts: list[str]) -> dict[str, float]:
    """Characteristic values from `--measured`.

    Raises:
        InputError: A text that is not NAME=A, or names no known protocol.
    """
    values: dict[str, float] = {}
    for text in texts:
        match = _MEASURED.fullmatch(text.strip())
        if match is None or float(match[2]) >= 1:
            raise InputError(
                "is not a protocol with the deviation over mean of its window",
                key="--measured",
                value=text,
                accepted="westwood=0.1: 0 or more and below 1",
            )
        _known(match[1], "--measured", get_protocol)
        values[match[1]] = float(match[2])
    return values


def _group(part: str, flows: str) -> tuple[str | None, int]:
    match = _GROUP.fullmatch(part)
    if match is None:
        raise InputError("is not a number of flows", key="--flows", value=part or flows, accepted=_FLOWS)
    name, count = match[1], int(match[2])
    if name is not None:
        _known(name, "--flows")
    if count < 1:
        raise InputError(
            "is a group without flows", key="--flows", value=part, accepted=f"1 or more: {_FLOWS}"
        )
    return name, count


def _of_stack(name: str | None, stack: str) -> str | None:
    """A control as a stack has it: CUBIC on a current host is Linux's."""
    return SHARES[0][1] if name == "cubic" and stack == STACK else name


def read_shares(mix: str) -> list[tuple[str, float]]:
    """Congestion controls and their shares of `--mix`: "cubic:60%,bbr:40%", or one control.

    Raises:
        InputError: It is no such list.
    """
    shares: list[tuple[str, float]] = []
    if ":" not in mix and "," not in mix and "%" not in mix:
        _known(mix.strip(), "--mix")
        return [(mix.strip(), 100.0)]
    for part in mix.split(","):
        match = _SHARE.fullmatch(part.strip())
        if match is None or float(match[2]) <= 0:
            raise InputError("is not a share of the flows", key="--mix", value=part, accepted=_MIX)
        _known(match[1], "--mix")
        shares.append((match[1], float(match[2])))
    total = sum(share for _, share in shares)
    if abs(total - 100.0) > _SHARES_MISS_PERCENT:
        raise InputError(
            f"adds up to {total:g} %", key="--mix", value=mix, accepted="shares of 100 % together"
        )
    return shares


def _known(name: str, option: str, read: Callable[[str], object] = check_congestion) -> None:
    try:
        read(name)
    except InputError as error:
        raise error.at(key=option) from error
