"""`bufferlab serve`: who is answered, and what is said where there is no page."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bufferlab import cli, web

PAGE = {"index.html": "<!doctype html><title>a page</title>", "assets/lab.wasm": "wasm"}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page, built or not."""
    folder = tmp_path / "page"
    for name, text in PAGE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(web, "PAGE", folder)
    return folder


PROGRAM = """
import sys
from pathlib import Path
from bufferlab import cli, web
web.PAGE = Path(sys.argv[1])
sys.exit(cli.main(["serve", "--port", "0"]))
"""


@pytest.fixture
def address(page: Path) -> Iterator[str]:
    """That of a server."""
    command = [sys.executable, "-c", PROGRAM, str(page)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()
        _, said = server.communicate()
    assert "Traceback" not in said


def asked(address: str, path: str, **headers: str) -> tuple[int, str, http.client.HTTPMessage]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 0)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers


def test_only_the_page_s_own_requests_are_answered(address: str) -> None:
    parts = urlsplit(address)
    path, port = parts.path, parts.port
    status, text, headers = asked(address, path)
    assert (status, text) == (200, PAGE["index.html"])
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert len(path) > 20
    wasm = asked(address, f"{path}assets/lab.wasm", Origin=f"http://127.0.0.1:{port}")
    assert (wasm[0], wasm[2]["Content-Type"]) == (200, "application/wasm")
    assert asked(address, path, Host=f"localhost:{port}")[0] == 200
    refused = [
        asked(address, "/"),
        asked(address, "/wrong/index.html"),
        asked(address, "/%C3%A9%C3%A9/"),
        asked(address, path, Host=f"rebound.example:{port}"),
        asked(address, path, Host="127.0.0.1"),
        asked(address, path, Origin="https://evil.example"),
        asked(address, path, Origin="null"),
        asked(address, f"{path}../../../pyproject.toml"),
        asked(address, f"{path}..%2f..%2fpyproject.toml"),
    ]
    assert {(status, "Not" in text) for status, text, _ in refused} == {(404, True)}


def test_an_export_is_the_page_s_files(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "public" / "lab"
    assert cli.main(["serve", "--export", str(target)]) == 0
    assert {name: (target / name).read_text() for name in PAGE} == PAGE
    assert cli.main(["serve", "--export", str(target)]) == 2
    assert "is not empty; accepted: a new folder" in capsys.readouterr().err
    assert cli.main(["serve", "--export", str(page / "index.html" / "lab")]) == 1


def test_without_a_built_page_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(web, "PAGE", tmp_path / "none")
    for args in (["serve"], ["serve", "--export", str(tmp_path / "lab")]):
        assert cli.main(args) == 2
        said = capsys.readouterr().err
        assert "the page for browsers is not part of this installation" in said
        assert "scripts/web.sh" in said


@pytest.mark.parametrize(
    "args", [("--host", "0.0.0.0"), ("--host", "192.0.2.1"), ("--host", "no such name")], ids=" ".join
)
def test_addresses_that_cannot_be_are_refused(
    page: Path, args: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert page.exists()
    assert cli.main(["serve", "--port", "0", *args]) == 2
    assert capsys.readouterr().err.count("\n") == 1
