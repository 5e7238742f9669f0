"""The page in a browser: what readers do with it, from a plain static server and from `bufferlab serve`."""

from __future__ import annotations

import functools
import gzip
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest

from bufferlab import cli
from bufferlab.web import PAGE

from .engine import CHROMIUM, MODULES, NODE, ROOT, missing

DRIVER: Final = Path(__file__).with_name("page.mjs")
LACKS: Final = missing() or next(
    (
        reason
        for reason, there in {
            "the page is not built: scripts/web.sh says why": PAGE.exists() and MODULES.exists(),
            "needs chromium": CHROMIUM,
        }.items()
        if not there
    ),
    "",
)

pytestmark = pytest.mark.skipif(bool(LACKS), reason=LACKS)


class Quiet(SimpleHTTPRequestHandler):
    """A static server that does not log."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name
        """Say nothing."""


@contextmanager
def static_server(root: Path) -> Iterator[str]:
    """The address of a plain web server of a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=root))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an exported page, in a folder of a plain web server."""
    root = tmp_path_factory.mktemp("host")
    assert cli.main(["serve", "--export", str(root / "lab")]) == 0
    with static_server(root) as address:
        yield f"{address}lab/"


def used(address: str) -> dict[str, str | None]:
    """What went wrong as a browser used the page, by what was tried."""
    command = [NODE or "node", str(DRIVER), CHROMIUM or "chromium", address]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    results: dict[str, str | None] = json.loads(ended.stdout)
    return results


@pytest.mark.timeout(400)
def test_readers_can_use_the_page(static: str) -> None:
    results = used(static)
    assert len(results) >= 35
    assert {name: wrong for name, wrong in results.items() if wrong} == {}


@pytest.mark.timeout(300)
def test_readers_can_ask_the_computer_that_serves_the_page(tmp_path: Path) -> None:
    store = str(tmp_path / "runs")
    command = [sys.executable, "-m", "bufferlab", "serve", "--port", "0", "--store", store]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        driver = [NODE or "node", str(DRIVER.with_name("served.mjs")), CHROMIUM or "chromium", address]
        ended = subprocess.run(driver, capture_output=True, text=True, check=False)
        server.terminate()
    assert ended.returncode == 0, ended.stderr


def test_the_page_is_less_than_a_megabyte_to_load() -> None:
    files = [path for path in PAGE.rglob("*") if path.is_file()]
    assert any(path.suffix == ".wasm" for path in files)
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) <= 1_000_000


def test_types_and_markup_are_sound() -> None:
    ended = subprocess.run(
        [MODULES / ".bin" / "svelte-check", "--fail-on-warnings"],
        cwd=ROOT / "web",
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout


def test_the_lock_file_names_no_addresses() -> None:
    packages = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]
    assert len(packages) > 20
    assert not [name for name, package in packages.items() if "resolved" in package]
    assert not [name for name, package in packages.items() if name and "integrity" not in package]
