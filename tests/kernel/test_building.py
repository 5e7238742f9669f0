"""Building a kernel: which sources, what is changed in them, who may build, and what is kept."""

from __future__ import annotations

import fcntl
from inspect import signature
from pathlib import Path

import pytest

from bufferlab.cli.kernel import kernel as command
from bufferlab.errors import InputError
from bufferlab.kernel import needs
from bufferlab.kernel.build import DEFAULT_HZ, build, name_of
from bufferlab.kernel.cache import keep, kernel, kernels, kernels_folder, remove
from bufferlab.kernel.patches import patch
from bufferlab.kernel.sources import release_of

NAME = "static void extract_entropy(void *buf, size_t len)"
RANDOM = f"{NAME};\n\n{NAME}\n{{\n\tdefault_one();\n}}\n"
ARCH = "\tret = os_getrandom(v, max_longs * sizeof(*v), 0);\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(name="tree")
def a_tree(tmp_path: Path) -> Path:
    texts = {
        "Makefile": "# SPDX-License-Identifier: GPL-2.0\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\n"
        "EXTRAVERSION =\nNAME = x\n",
        "arch/um/Kconfig": "config HZ\n\tint\n\tdefault 100\n",
        "arch/um/include/asm/archrandom.h": ARCH,
        "drivers/char/random.c": RANDOM,
    }
    for name, text in texts.items():
        path = tmp_path / "linux" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "linux"


def test_the_tick_and_the_random_numbers_are_changed_once(tree: Path) -> None:
    patch(tree, 1000)
    assert "\tdefault 1000\n" in (tree / "arch/um/Kconfig").read_text()
    text = (tree / "drivers/char/random.c").read_text()
    assert "default_one()" not in text and text.count("bufferlab_seed;") == 1
    assert "os_getrandom" not in (tree / "arch/um/include/asm/archrandom.h").read_text()
    patch(tree, 1000)
    assert (tree / "drivers/char/random.c").read_text() == text


def test_sources_that_look_otherwise_are_refused(tree: Path) -> None:
    (tree / "drivers/char/random.c").write_text("nothing\n")
    with pytest.raises(InputError, match=r"random\.c: has not the lines that are to be changed"):
        patch(tree, 1000)


def test_sources_are_known_by_their_makefile(tree: Path) -> None:
    assert release_of(tree) == "6.12.117"
    makefile = tree / "Makefile"
    makefile.write_text(makefile.read_text().replace("= 12", "= 1"))
    with pytest.raises(InputError, match=r"holds Linux 6\.1; accepted: the sources of Linux 6\.6 or newer"):
        release_of(tree)


def test_a_folder_without_sources_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no kernel's source tree"):
        build(tmp_path)


def test_odd_numbers_are_refused(tree: Path) -> None:
    with pytest.raises(InputError, match="--hz: 99 is no tick of Linux; accepted: 100, 250, 300, 1000"):
        build(tree, hz=99)
    with pytest.raises(InputError, match="--jobs: 0 is no number of compilers"):
        build(tree, jobs=0)


def test_two_builds_at_once_are_refused(tree: Path) -> None:
    kernels_folder().mkdir(parents=True)
    with (kernels_folder() / "lock").open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="is being used by another build; accepted: one at a time"):
            build(tree)


def test_what_is_lacking_is_named_with_the_command(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "missing_to_build", lambda: {"flex": "flex", "gcc": "gcc"})
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(
        InputError, match=r"needs flex, gcc; accepted: after 'sudo apt-get install .*flex gcc'"
    ):
        build(tree)


@pytest.mark.parametrize(
    ("name", "message"),
    [("LEAST_DISK_BYTES", "GB free; accepted"), ("LEAST_MEMORY_BYTES", "GB available; accepted")],
)
def test_too_little_room_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.setattr(needs, "missing_to_build", dict)
    monkeypatch.setattr(needs, name, 10**18)
    with pytest.raises(InputError, match=message):
        build(tree)


def test_a_kernel_is_kept_found_and_removed(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    about = {"release": "6.12.117", "hz": 1000, "built": "2026-01-01", "compiler": "gcc"}
    made = keep("a", program, about)
    keep("b", program, about | {"built": "2026-02-01"})
    assert [each.name for each in kernels()] == ["b", "a"]
    assert kernel().name == "b"
    assert kernel("a").program.read_text() == "#!/bin/sh\n"
    assert made.title == "Linux 6.12.117 (User-Mode Linux, HZ 1000, a)"
    remove("b")
    assert kernel().name == "a"
    with pytest.raises(InputError, match="'b' is no kernel that was built; accepted: a"):
        remove("b")


def test_there_may_be_no_kernel() -> None:
    with pytest.raises(InputError, match="'bufferlab kernel build'; there is none yet"):
        kernel()


def test_what_is_built_is_distinguished() -> None:
    assert name_of("6.12", 1000) != name_of("6.12", 100)
    assert name_of("6.12.117-1~deb12u1", 1000).startswith("6.12.117-1_deb12u1-hz1000-")


def test_the_commands_tick_is_that_of_the_function() -> None:
    assert signature(command).parameters["hz"].default == DEFAULT_HZ
