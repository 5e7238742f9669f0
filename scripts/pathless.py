"""Takes the folder of the build out of a wheel's bill of materials: the same sources give the same bytes."""

from __future__ import annotations

import base64
import hashlib
import sys
import zipfile
from pathlib import Path


def main(wheel: Path, root: str) -> None:
    """Write the wheel anew, with `/bufferlab` in the place of the folder."""
    with zipfile.ZipFile(wheel) as archive:
        parts = [(info, archive.read(info)) for info in archive.infolist()]
    fresh = wheel.with_suffix(".new")
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
        changed: dict[str, bytes] = {}
        for info, content in parts:
            if "/sboms/" in info.filename:
                changed[info.filename] = content.replace(root.encode(), b"/bufferlab")
            elif info.filename.endswith("/RECORD"):
                changed[info.filename] = _recorded(content.decode(), changed).encode()
            archive.writestr(info, changed.get(info.filename, content))
    fresh.replace(wheel)


def _recorded(record: str, changed: dict[str, bytes]) -> str:
    """The list of files, which is the last of them, with the checksums of those that changed."""
    lines = []
    for line in record.splitlines():
        name = line.split(",")[0]
        lines.append(
            f"{name},sha256={_digest(changed[name])},{len(changed[name])}" if name in changed else line
        )
    return "\n".join(lines) + "\n"


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
