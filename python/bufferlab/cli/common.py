"""What the verbs share: how they end, and how they speak.

Exit status: 0 done; 1 failed (output cannot be written, or a bug); 2 bad usage or input; 130 after Ctrl-C,
143 after SIGTERM. A reader that closes the pipe early, as `head -1` does, changes nothing of that.
Errors are one line on standard error; results go to standard output.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from bufferlab.display import VIEW_VARIABLE
from bufferlab.errors import InputError, OutputError
from bufferlab.files import not_written, write_whole

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

FAILED: Final = 1
BAD_INPUT: Final = 2
INTERRUPTED: Final = 128 + signal.SIGINT
TERMINATED: Final = 128 + signal.SIGTERM

DEBUG_VARIABLE: Final = "BUFFERLAB_DEBUG"
"""Environment variable that shows tracebacks if it is set."""

_PIPE_WIDTH: Final = 80
"""Columns of what goes to a pipe or a file, the same from every terminal; COLUMNS goes before."""


_OF_LOADING: Final = (ImportError, SystemError)
"""What a compiled module fails with where a signal's exception comes while it is loaded."""


class Terminated(KeyboardInterrupt):
    """SIGTERM came; it ends work as Ctrl-C does."""


def say(message: str) -> None:
    """Write one line to standard error."""
    line = " ".join(str(message).split())
    print(f"bufferlab: {line}", file=sys.stderr)  # noqa: T201


def print_json(document: Mapping[str, Any]) -> None:
    """Write a document for machines to standard output; if that is a file, all of it or nothing.

    Raises:
        OutputError: There is no room for it.
    """
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    length = _length_of_stdout()
    try:
        print(text, flush=True)  # noqa: T201
    except BrokenPipeError:  # the reader has what it wanted
        silence_stdout()
    except OSError as error:
        if length is not None:
            os.ftruncate(sys.stdout.fileno(), length)
        silence_stdout()
        raise not_written("standard output", error) from error


def _length_of_stdout() -> int | None:
    """Bytes of the file that standard output is; `None` if it is none."""
    try:
        sys.stdout.flush()
        status = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError):  # full, closed, or not there as in tests
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def print_rich(content: RenderableType) -> None:
    """Write tables and the like to standard output; to a pipe or a file in 80 columns, or as COLUMNS says.

    Raises:
        OutputError: There is no room for them.
    """
    from rich.console import Console  # noqa: PLC0415 - slow to import, and not needed to list the commands

    _keep(content)
    try:
        _print(Console, content)
    except BrokenPipeError:  # the reader has what it wanted
        silence_stdout()
    except OSError as error:
        silence_stdout()
        raise not_written("standard output", error) from error


def _keep(content: RenderableType) -> None:
    """Write what is shown where the page asks for it."""
    if not (path := os.environ.get(VIEW_VARIABLE)):
        return
    from bufferlab.render.view import View  # noqa: PLC0415 - slow to import

    if isinstance(content, View):
        write_whole(Path(path), json.dumps(content.document(), ensure_ascii=False))


def _print(console_of: type[Console], content: RenderableType) -> None:
    console = console_of(file=sys.stdout, highlight=False)
    if console.is_terminal:
        console.print(content, crop=False)  # lines to type may be longer
    else:
        width = None if os.environ.get("COLUMNS") else _PIPE_WIDTH
        console = console_of(file=sys.stdout, highlight=False, width=width)
        with console.capture() as capture:
            console.print(content, crop=False)
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))
    sys.stdout.flush()


def status_of(error: BaseException) -> int:
    """Tell the user about an error, a line for each mistake, and return the exit status."""
    if os.environ.get(DEBUG_VARIABLE):
        traceback.print_exception(error)
    if isinstance(error, KeyboardInterrupt):
        say(str(error) or "interrupted")
        return TERMINATED if _was_terminated(error) else INTERRUPTED
    if isinstance(error, InputError):
        for line in str(error).splitlines():  # a line for each mistake
            say(line)
        return BAD_INPUT
    if isinstance(error, OutputError):
        say(str(error))
        return FAILED
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        say(f"{named}{error.strerror or error}")
        return FAILED
    if isinstance(error, MemoryError):
        say("out of memory: use fewer or shorter time series (probes), or fewer --threads")
        return FAILED
    say(
        f"unexpected error, {type(error).__name__}: {error}; this is a bug: please report it with your "
        f"command, the scenario and the traceback, which {DEBUG_VARIABLE}=1 shows"
    )
    return FAILED


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Within the block, SIGTERM ends work as Ctrl-C does, if this is the main thread, which gets signals.

    Where a signal comes while a compiled module is being loaded, that fails with an error of its own, and
    nothing in it is left of the signal; so it is remembered.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[KeyboardInterrupt] = []

    def ends_with(error: KeyboardInterrupt) -> Callable[[int, FrameType | None], None]:
        def on_signal(_number: int, _frame: FrameType | None) -> None:
            came.append(error)
            raise error

        return on_signal

    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, ends_with(Terminated("terminated")))}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is to be ignored
        before[signal.SIGINT] = signal.signal(signal.SIGINT, ends_with(KeyboardInterrupt()))
    try:
        yield
    except _OF_LOADING:
        if came:
            raise came[0] from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def silence_stdout() -> None:
    """After a failed write: what is still to be flushed goes nowhere, without a message at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # standard output is no file, as in tests
        return


def _was_terminated(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, Terminated):
            return True
        error = error.__cause__
    return False
