"""The E-model: how good a telephone call is.

Source: ITU-T Recommendation G.107 (06/2015), "The E-model: a computational model for use in transmission
planning"; section numbers below are its. Codecs: G.113 (11/2007), appendix I. All parameters that a packet
network does not change have their defaults (table 3), with which R is 93.2 and the mean opinion score 4.41.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

_SLR, _RLR = 8.0, 2.0  # send and receive loudness ratings, dB
_OLR: Final = _SLR + _RLR
_STMR: Final = 15.0  # sidetone masking rating, dB
_DS, _DR = 3.0, 3.0  # D-values of the telephones
_LSTR: Final = _STMR + _DR  # listener sidetone rating, dB
_TELR: Final = 65.0  # talker echo loudness rating, dB
_WEPL: Final = 110.0  # weighted echo path loss, dB
_QDU: Final = 1.0  # quantizing distortion units
_NC: Final = -70.0  # circuit noise, dBm0p
_NFOR: Final = -64.0  # noise floor at the receiver, dBmp
_PS, _PR = 35.0, 35.0  # room noise, dB(A)
_ST: Final = 1.0  # delay sensitivity
_MT_MS: Final = 100.0  # shortest delay that is noticed, ms
_MOST_IE: Final = 95.0  # of section 7.5


@dataclass(frozen=True)
class Codec:
    """What a codec costs.

    Attributes:
        name: Its name.
        impairment: Equipment impairment factor Ie without loss.
        robustness: Packet-loss robustness factor Bpl, %.
        lookahead_ms: What the encoder waits for beyond the packet's own speech, ms (G.114, annex A).
        payload_bps: Rate of the speech, bits/s.
    """

    name: str
    impairment: float
    robustness: float
    lookahead_ms: float
    payload_bps: int


G711: Final = Codec("G.711", impairment=0.0, robustness=25.1, lookahead_ms=0.0, payload_bps=64_000)
"""With packet-loss concealment (G.711 appendix I), random loss."""

G729A: Final = Codec("G.729A", impairment=11.0, robustness=19.0, lookahead_ms=5.0, payload_bps=8_000)
"""With voice activity detection, which conceals losses, too."""


def rating(
    delay_ms: float,
    loss: float = 0.0,
    codec: Codec = G711,
    *,
    burst_ratio: float = 1.0,
    echo: bool = False,
    advantage: float = 0.0,
) -> float:
    """The transmission rating R = Ro - Is - Id - Ie,eff + A (section 7.1), 0 to 100.

    Args:
        delay_ms: Delay from mouth to ear, one way, ms.
        loss: Share of the packets that are not played.
        codec: Who encodes the speech.
        burst_ratio: Mean length of a burst of losses over that under random loss.
        echo: The far end returns an echo 65 dB down, the default, which comes late. Without it the delay only
            keeps people waiting, as in figure 1 of G.114: echo is canceled.
        advantage: What people forgive for convenience, A.
    """
    talker_delay_ms = delay_ms if echo else 0.0
    noise_dbm = _noise()
    basic = 15 - 1.5 * (_SLR + noise_dbm)  # Ro, section 7.2
    delayed = (
        _talker_echo(noise_dbm, talker_delay_ms)
        + _listener_echo(basic, 2 * talker_delay_ms)
        + delay_impairment(delay_ms)
    )
    found = (
        basic
        - _simultaneous(basic, noise_dbm, talker_delay_ms)
        - delayed
        - loss_impairment(loss, codec, burst_ratio)
        + advantage
    )
    return min(max(found, 0.0), 100.0)


def opinion_score(rated: float) -> float:
    """The mean opinion score of a rating (annex B): 1 to 4.5.

    Below a rating of 6.5 the formula would fall below 1, the worst opinion there is: G.107 inverts it from
    6.5 on only (appendix I).

    >>> round(opinion_score(rating(0.0)), 2)
    4.41
    """
    if rated <= 0:
        return 1.0
    if rated >= 100:
        return 4.5
    return max(1 + 0.035 * rated + rated * (rated - 60) * (100 - rated) * 7e-6, 1.0)


def delay_impairment(delay_ms: float) -> float:
    """Idd, what too long an absolute delay costs (section 7.4).

    >>> delay_impairment(100.0), round(delay_impairment(200.0), 2)
    (0.0, 3.04)
    """
    if delay_ms <= _MT_MS:
        return 0.0
    x, power = math.log2(delay_ms / _MT_MS), 6 * _ST
    return float(25 * ((1 + x**power) ** (1 / power) - 3 * (1 + (x / 3) ** power) ** (1 / power) + 2))


def loss_impairment(loss: float, codec: Codec, burst_ratio: float = 1.0) -> float:
    """Ie,eff = Ie + (95 - Ie) Ppl / (Ppl/BurstR + Bpl) (section 7.5), Ppl in %.

    >>> round(loss_impairment(0.01, G711), 2)
    3.64
    """
    lost_percent = 100 * loss
    share = lost_percent / (lost_percent / burst_ratio + codec.robustness)
    return codec.impairment + (_MOST_IE - codec.impairment) * share


def _noise() -> float:
    """No, the sum of all noise at the 0 dBr point, dBm0p (section 7.2)."""
    sent = _PS - _SLR - _DS - 100 + 0.004 * (_PS - _OLR - _DS - 14) ** 2
    heard = _PR + 10 * math.log10(1 + 10 ** ((10 - _LSTR) / 10))
    received = _RLR - 121 + heard + 0.008 * (heard - 35) ** 2
    return 10 * math.log10(sum(10 ** (level / 10) for level in (_NC, sent, received, _NFOR + _RLR)))


def _simultaneous(basic: float, noise_dbm: float, talker_delay_ms: float) -> float:
    """Is: too loud, sidetone out of place, quantizing (section 7.3)."""
    x = _OLR + 0.2 * (64 + noise_dbm - _RLR)
    loud = 20 * ((1 + (x / 8) ** 8) ** (1 / 8) - x / 8)
    echo = math.exp(-talker_delay_ms / 4) * 10 ** (-_TELR / 10)
    sidetone_db = -10 * math.log10(10 ** (-_STMR / 10) + echo)
    sidetone = (
        12 * (1 + ((sidetone_db - 13) / 6) ** 8) ** (1 / 8)
        - 28 * (1 + ((sidetone_db + 1) / 19.4) ** 35) ** (1 / 35)
        - 13 * (1 + ((sidetone_db - 3) / 33) ** 13) ** (1 / 13)
        + 29
    )
    q = 37 - 15 * math.log10(_QDU)
    g = 1.07 + 0.258 * q + 0.0602 * q**2
    y, z = (basic - 100) / 15 + 46 / 8.4 - g / 9, 46 / 30 - g / 40
    return float(loud + sidetone + 15 * math.log10(1 + 10**y + 10**z))


def _talker_echo(noise_dbm: float, delay_ms: float) -> float:
    """Idte, one's own echo (section 7.4); below 1 ms it is heard as sidetone."""
    if delay_ms < 1:
        return 0.0
    heard_db = (
        _TELR - 40 * math.log10((1 + delay_ms / 10) / (1 + delay_ms / 150)) + 6 * math.exp(-0.3 * delay_ms**2)
    )
    basic, echo = -1.5 * (noise_dbm - _RLR), 80 + 2.5 * (heard_db - 14)
    half = (basic - echo) / 2
    return (half + math.sqrt(half**2 + 100) - 1) * (1 - math.exp(-delay_ms))


def _listener_echo(basic: float, round_trip_ms: float) -> float:
    """Idle, the other's echo (section 7.4)."""
    half = (basic - 10.5 * (_WEPL + 7) * (round_trip_ms + 1) ** -0.25) / 2
    return float(half + math.sqrt(half**2 + 169))
