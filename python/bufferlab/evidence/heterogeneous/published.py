"""What the document states, from its claims: inputs of the calculations that are done as published."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from bufferlab.evidence.expressions import Names, evaluate
from bufferlab.evidence.reading import read_document

_CHARACTERISTIC = "characteristic"


@cache
def table_iii() -> Mapping[str, float]:
    """Table III: the characteristic value of each protocol, in the order of the table.

    BIC's is an error: its growth function in Table II gives 0.1/(0.85·sqrt 12), sqrt 2 times as much.
    """
    claims = read_document(Path(__file__).parent).claims_of("table3")
    return {
        str(claim.setting["protocol"]): _number(claim.value)
        for claim in claims
        if claim.quantity == _CHARACTERISTIC
    }


def _number(stated: object) -> float:
    found = evaluate(stated, Names({})) if isinstance(stated, str) else stated
    if not isinstance(found, float):
        raise TypeError(f"{stated!r} is no number")
    return found
