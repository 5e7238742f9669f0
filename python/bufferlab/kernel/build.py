"""Build a kernel: get its sources, configure it, compile it, keep the program."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Final

from bufferlab.errors import InputError
from bufferlab.files import make_folder, not_written
from bufferlab.kernel import needs, patches, sources
from bufferlab.kernel.cache import Kernel, keep, kernels, kernels_folder
from bufferlab.progress import Bar, progress_bar

DEFAULT_HZ: Final = 1000
_FILES: Final = 1500
"""About how many files are compiled."""

_WANTED: Final = re.compile(r"^CONFIG_\w+=y$", re.MULTILINE)
_UNPACKED: Final = "unpacked"


def build(source: Path | None = None, *, jobs: int | None = None, hz: int = DEFAULT_HZ) -> Kernel:
    """Build a kernel, or find the one that was built of the same; an interrupted build goes on.

    Args:
        source: Unpacked sources; default the newest package `linux-source-X` of this system.
        jobs: Compilers at the same time; default one for each processor.
        hz: The kernel's ticks a second.

    Raises:
        InputError: Sources, programs, memory or disk are lacking, or another build is going on.
        OutputError: The cache cannot be written.
    """
    if hz not in patches.HZ_CHOICES:
        accepted = ", ".join(map(str, patches.HZ_CHOICES))
        raise InputError("is no tick of Linux", file="--hz", value=hz, accepted=accepted)
    if jobs is not None and jobs < 1:
        raise InputError("is no number of compilers", file="--jobs", value=jobs, accepted="1 and more")
    release = None if source is None else sources.release_of(source)
    with _alone() as folder, progress_bar("kernel", logged=True) as bar:
        lacking = needs.missing_to_build()
        if lacking:
            bar.update(0.0, f"installs {', '.join(lacking)}")
            needs.install(lacking)
        package, version = ("", release) if release is not None else sources.newest_package()
        name = name_of(str(version), hz)
        for known in kernels():
            if known.name == name:
                return known
        needs.check_room(folder)
        tree = folder / "work" / name
        if not (tree.with_name(f"{name}.{_UNPACKED}")).exists():
            _unpack(source, package, tree, bar)
        return _compile(tree, name, jobs or os.cpu_count() or 1, hz, bar)


def name_of(version: str, hz: int) -> str:
    """A kernel's key: what differs in it differs in what it does."""
    what = _fragment() + patches.CHANGES
    plain = re.sub(r"[^\w.+-]", "_", version)
    return f"{plain}-hz{hz}-{hashlib.sha256(what.encode()).hexdigest()[:8]}"


def _fragment() -> str:
    return files("bufferlab.kernel").joinpath("data/uml.config").read_text(encoding="utf-8")


@contextmanager
def _alone() -> Iterator[Path]:
    """The folder of kernels, which one build at a time may write to."""
    folder = kernels_folder()
    make_folder(folder)
    try:
        stream = (folder / "lock").open("a")
    except OSError as error:
        raise not_written(folder, error) from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                "is being used by another build", file=folder, accepted="one at a time"
            ) from None
        yield folder


def _unpack(source: Path | None, package: str, tree: Path, bar: Bar) -> None:
    make_folder(tree.parent)
    if source is not None:
        bar.update(0.02, f"copies {source}")
        sources.copy_tree(source, tree)
        _make(tree, "mrproper")
    else:
        bar.update(0.02, f"downloads {package}")
        fetched = sources.fetch(package, tree.parent)
        bar.update(0.05, f"unpacks {fetched.name}")
        sources.unpack(fetched, tree)
        fetched.unlink()
    tree.with_name(f"{tree.name}.{_UNPACKED}").touch()


def _compile(tree: Path, name: str, jobs: int, hz: int, bar: Bar) -> Kernel:
    release = sources.release_of(tree)
    bar.update(0.1, "configures it")
    patches.patch(tree, hz)
    configuration = configure(tree)
    log = tree.parent / f"{name}.log"
    with log.open("w", encoding="utf-8") as stream:
        for done, line in enumerate(_lines(tree, jobs)):
            stream.write(line)
            bar.update(min(0.1 + 0.9 * done / _FILES, 0.99), f"compiles {done} of about {_FILES} files")
    program = tree / "linux"
    if not program.is_file():
        errors = [line.strip() for line in log.read_text("utf-8").splitlines() if "error" in line.lower()]
        raise InputError(f"could not be built ({(errors or ['see the log'])[0]})", file=log)
    _run(tree, "strip", "--strip-all", "-o", "linux.stripped", "linux")
    made = keep(
        name,
        tree / "linux.stripped",
        {
            "release": release,
            "hz": hz,
            "configuration": hashlib.sha256(configuration.encode()).hexdigest()[:16],
            "compiler": _run(tree, "gcc", "--version").splitlines()[0],
            "built": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    )
    shutil.rmtree(tree.parent, ignore_errors=True)
    return made


def configure(tree: Path) -> str:
    """Configure unpacked sources; return the configuration.

    Raises:
        InputError: They lack an option that is needed.
    """
    fragment = tree / "bufferlab.config"
    fragment.write_text(_fragment(), encoding="utf-8")
    _make(tree, "defconfig")
    _run(tree, "scripts/kconfig/merge_config.sh", "-m", ".config", fragment.name)
    _make(tree, "olddefconfig")
    text = (tree / ".config").read_text(encoding="utf-8")
    lacking = sorted(set(_WANTED.findall(_fragment())) - set(_WANTED.findall(text)))
    if lacking:
        raise InputError(f"have no {', '.join(lacking)}", file=tree, accepted="sources of Linux 6.6 to 6.18")
    return text


def _make(tree: Path, target: str) -> str:
    return _run(tree, "make", "ARCH=um", target)


def _run(tree: Path, *words: str) -> str:
    done = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        lines = done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or ["it said nothing"]
        raise InputError(f"failed ({lines[0]})", file=" ".join(words))
    return done.stdout


def _lines(tree: Path, jobs: int) -> Iterator[str]:
    """What make says; if nobody listens any more, make and all its compilers end."""
    process = subprocess.Popen(  # noqa: S603
        ["make", "ARCH=um", f"-j{jobs}", "linux"],  # noqa: S607
        cwd=tree,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None  # noqa: S101 - as asked above
    try:
        yield from process.stdout
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()
