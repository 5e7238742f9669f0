"""Common to the commands that simulate: who does, where runs are kept, and what Ctrl-C leaves."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import typer

from bufferlab.cli.common import say, status_of
from bufferlab.errors import InputError, OutputError
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import ENGINES, Runner
from bufferlab.experiment.runner import Engine as EngineName
from bufferlab.experiment.store import open_store
from bufferlab.experiment.store.pruning import prune
from bufferlab.files import probe

CACHE_VARIABLE: Final = "BUFFERLAB_CACHE"
"""Environment variable with the folder of the runs that verbs keep by themselves; empty to keep none."""

CACHE_DAYS: Final = 90
CACHE_BYTES: Final = 500_000_000
"""What verbs keep by themselves: the runs of this many days, and no more than this many bytes."""


def runner_of(
    *, threads: int | None, engine: str, ray_address: str | None, store: Path | None, fresh: bool
) -> Runner:
    """The runner that the options ask for; without `--store` it keeps runs in the user's cache, if it can.

    Raises:
        InputError: An option cannot be used.
        OutputError: The folder of `--store` cannot be written.
    """
    if store is not None:
        open_store(store, create=True)
    return runner_with(
        threads=threads,
        engine=engine,
        ray_address=ray_address,
        store=cache() if store is None else store,
        fresh=fresh,
        is_cache=store is None,
    )


def runner_with(
    *,
    threads: int | None,
    engine: str,
    ray_address: str | None,
    store: Path | None,
    fresh: bool,
    is_cache: bool = False,
) -> Runner:
    """The runner that the options ask for, which says on a log how far it is.

    Raises:
        InputError: The engine is none.
    """
    return Runner(
        threads=threads,
        engine=checked_engine(engine),
        ray_address=ray_address,
        store=store,
        is_cache=is_cache,
        fresh=fresh,
        logged=True,
    )


def checked_engine(name: str) -> EngineName:
    """The executor of this name.

    Raises:
        InputError: There is none.
    """
    found = next((each for each in ENGINES if each == name), None)
    if found is None:
        raise InputError("is no engine", file="--engine", value=name, accepted=", ".join(ENGINES))
    return found


def say_kept(runner: Runner) -> None:
    """Say where runs were taken from that earlier commands have made, if any were."""
    earlier = runner.stored - runner.repeated
    if earlier:
        total = earlier + runner.simulated
        say(f"{earlier} of {total} simulations were already in {runner.directory}; --fresh repeats them")


@contextmanager
def delivering(deliver: Callable[[Any], None]) -> Iterator[None]:
    """At Ctrl-C, deliver what the block had finished, and end with the exit status of the signal."""
    try:
        yield
    except RunInterrupted as interrupted:
        if interrupted.finished is not None:
            deliver(interrupted.finished)
        raise typer.Exit(status_of(interrupted)) from None


def cache() -> Path | None:
    """The folder of the user's cache, `None` if runs cannot be kept there."""
    named = os.environ.get(CACHE_VARIABLE)
    if named == "":
        return None
    try:
        folder = Path(named) if named else _user_cache()
        probe(folder)
        prune(open_store(folder, create=True), most_days=CACHE_DAYS, most_bytes=CACHE_BYTES)
    except (OSError, InputError, OutputError, RuntimeError) as error:  # RuntimeError: there is no home
        reason = error.strerror if isinstance(error, OSError) else None
        say(f"finished runs are not kept: {reason or error}")
        return None
    return folder


def _user_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "bufferlab" / "runs"
