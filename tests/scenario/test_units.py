from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bufferlab.errors import InputError
from bufferlab.units import (
    MAX_TIME_PS,
    PS_PER_S,
    format_rate,
    format_size,
    format_time,
    parse_rate,
    parse_size,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "time_ps"),
    [
        ("10 ms", 10**10),
        ("0 s", 0),
        ("1ps", 1),
        ("2.5 us", 2_500_000),
        ("2.5 µs", 2_500_000),
        ("1e-3 s", 10**9),
        (" 1 min ", 60 * PS_PER_S),
        (".5 h", 1800 * PS_PER_S),
        ("0.1 ps", 0),
        ("0.6 ps", 1),
        ("100000 s", MAX_TIME_PS),
        ("33.333333333333336 ms", 33_333_333_333),
    ],
)
def test_times(text: str, time_ps: int) -> None:
    assert parse_time(text) == time_ps


@pytest.mark.parametrize(
    ("text", "rate_bps"),
    [
        ("100 Mbps", 10**8),
        ("62.5 Mbps", 62_500_000),
        ("1 bps", 1),
        ("2 Gbit/s", 2 * 10**9),
        ("1.5 kbps", 1500),
    ],
)
def test_rates(text: str, rate_bps: int) -> None:
    assert parse_rate(text) == rate_bps


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("1500 B", 1500),
        ("1 KB", 1000),
        ("1 kB", 1000),
        ("64 KiB", 65_536),
        ("1.5 MB", 1_500_000),
        ("3 bytes", 3),
    ],
)
def test_sizes(text: str, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize(
    ("parse", "value", "message"),
    [
        (parse_time, "10", "'10' has no unit"),
        (parse_time, 10, "10 is not a text with a number and a unit"),
        (parse_time, "ten ms", "'ten ms' is not a number with a unit"),
        (parse_time, "10 Mbps", "'10 Mbps' has a wrong unit"),
        (parse_time, "-1 ms", "'-1 ms' is negative"),
        (parse_time, "nan s", "'nan s' is not a number with a unit"),
        (parse_time, "inf s", "'inf s' is not a number with a unit"),
        (parse_time, "1000001 s", "'1000001 s' is too large"),
        (parse_time, "1e99 s", "'1e99 s' is too large"),
        (parse_time, "1e999999999 s", "has a wrong unit"),
        (parse_rate, "10 mbps", "has a wrong unit (did you mean 'Mbps'?)"),
        (parse_rate, "10 MB/s", "has a wrong unit"),
        (parse_rate, "0 bps", "'0 bps' is too small"),
        (parse_rate, "0.1 bps", "'0.1 bps' is too small"),
        (parse_rate, "1000 Tbps", "is too large"),
        (parse_size, "1.5 B", "is not a whole number of bytes"),
        (parse_size, "1 mb", "has a wrong unit (did you mean 'MB'?)"),
        (parse_size, "0 B", "is too small"),
        (parse_size, "1e20 B", "is too large"),
        (parse_size, None, "None is not a text"),
    ],
)
def test_refused_quantities(parse: Callable[[object], int], value: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(value)
    assert message in str(caught.value)
    assert caught.value.accepted


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (format_time(10**10), "10 ms"),
        (format_time(0), "0 s"),
        (format_time(7200 * PS_PER_S), "7200 s"),
        (format_time(1_234_567), "1.23457 us"),
        (format_rate(62_500_000), "62.5 Mbps"),
        (format_rate(0), "0 bps"),
        (format_size(1_500_000), "1.5 MB"),
        (format_size(65_536), "65.536 KB"),
    ],
)
def test_formatting(written: str, text: str) -> None:
    assert written == text


@given(st.integers(0, MAX_TIME_PS))
def test_whole_picoseconds_survive_writing_and_parsing(time_ps: int) -> None:
    assert parse_time(f"{time_ps} ps") == time_ps


@given(st.integers(1, 999_999), st.sampled_from(["ps", "ns", "us", "ms"]))
def test_formatted_times_parse_to_themselves(number: int, unit: str) -> None:
    time_ps = parse_time(f"{number} {unit}")
    assert parse_time(format_time(time_ps)) == time_ps
