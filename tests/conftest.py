"""What all tests share."""

import os
import shutil
import signal
import tempfile
from pathlib import Path
from typing import Final

import pytest

_CACHES: Final = Path(tempfile.mkdtemp(prefix="bufferlab-caches-"))


def pytest_configure() -> None:
    """Take Ctrl-C, as at a terminal, so that tests can send it.

    A shell that starts something in the background has it ignore SIGINT, and its children inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give each test a cache of runs of its own, which is made if it is used."""
    os.environ["BUFFERLAB_CACHE"] = str(_CACHES / f"{abs(hash(item.nodeid))}")


def pytest_unconfigure() -> None:
    """Remove the caches."""
    shutil.rmtree(_CACHES, ignore_errors=True)
