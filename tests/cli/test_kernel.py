"""`bufferlab kernel` and `bufferlab emulate`, as far as they go without a kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Command


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_list_without_kernels_says_where_it_looked(bufferlab: Command, tmp_path: Path) -> None:
    ended = bufferlab("kernel", "list")
    assert ended.status == 0
    assert ended.out == f"no kernels in {tmp_path}/cache/bufferlab/kernels\n"


def test_the_doctor_fails_without_a_kernel(bufferlab: Command) -> None:
    ended = bufferlab("kernel", "doctor")
    assert ended.status == 1
    assert "NOT kernel: none was built; make one by 'bufferlab kernel build'" in ended.out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("mend",), "kernel: 'mend' is no action; accepted: build, list, remove, doctor"),
        (("remove",), "kernel remove: lacks a name; accepted: one that 'kernel list' has"),
        (("list", "x"), "kernel list: 'x' is not taken here; accepted: no name"),
        (("build", "--source", "."), ".: is no kernel's source tree"),
    ],
)
def test_bad_usage_is_reported(bufferlab: Command, args: tuple[str, ...], message: str) -> None:
    ended = bufferlab("kernel", *args)
    assert ended.status == 2
    assert message in ended.line()


def test_emulate_names_what_a_kernel_is_not_given(bufferlab: Command) -> None:
    ended = bufferlab("emulate", "small.toml", "--set", "run.stack=linux", "--set", "bottleneck.queue=drr")
    assert ended.status == 2
    assert "small.toml: links.bottleneck.queue: 'drr' is not given to a kernel yet" in ended.line()


def test_emulate_says_how_to_get_a_kernel(bufferlab: Command) -> None:
    ended = bufferlab("emulate", "small.toml", "--set", "run.stack=linux")
    assert ended.status == 2
    assert "'bufferlab kernel build'; there is none yet" in ended.line()
    assert bufferlab("emulate", "small.toml", "--engine", "tun").status == 2


def test_crosscheck_refuses_what_emulate_does(bufferlab: Command) -> None:
    ended = bufferlab("crosscheck", "small.toml", "--set", "bottleneck.queue=drr")
    assert ended.status == 2
    assert "links.bottleneck.queue: 'drr' is not given to a kernel yet" in ended.err
    assert "there is none yet" in bufferlab("crosscheck", "small.toml", "--set", "run.stack=linux").line()
