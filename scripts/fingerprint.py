"""Prints one hash of words and of the files that they name, folders with all that is in them."""

import hashlib
import sys
from pathlib import Path


def main() -> None:
    """Hashes the command line's words."""
    digest = hashlib.sha256()
    for word in sys.argv[1:]:
        digest.update(word.encode() + b"\0")
        path = Path(word)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file():
                digest.update(file.as_posix().encode() + b"\0")
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    sys.stdout.write(digest.hexdigest() + "\n")


if __name__ == "__main__":
    main()
