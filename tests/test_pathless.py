"""Wheels that were built in two folders are the same, and their list of files is right."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

SCRIPT: Final = Path(__file__).parents[1] / "scripts" / "pathless.py"
BOM: Final = "x.dist-info/sboms/x.json"


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def made(wheel: Path, root: str) -> bytes:
    """A wheel built in a folder, without it."""
    files = {"x.py": b"pass\n", BOM: f"path+file://{root}/crates/x".encode()}
    lines = [f"{name},sha256={digest(content)},{len(content)}" for name, content in files.items()]
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
        record = "\n".join([*lines, "x.dist-info/RECORD,,"]) + "\n"
        archive.writestr(zipfile.ZipInfo("x.dist-info/RECORD"), record)
    subprocess.run([sys.executable, SCRIPT, wheel, root], check=True)
    return wheel.read_bytes()


def test_two_folders_give_one_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "one.whl"
    assert made(wheel, "/home/somebody") == made(tmp_path / "other.whl", "/tmp/build")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(BOM) == b"path+file:///bufferlab/crates/x"
        lines = archive.read("x.dist-info/RECORD").decode().splitlines()
        for line in lines[:-1]:
            name, checksum, size = line.split(",")
            content = archive.read(name)
            assert (checksum, size) == (f"sha256={digest(content)}", str(len(content)))
