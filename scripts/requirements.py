"""Prints what pyproject.toml asks for, one requirement a line: to run, to check and to build the project."""

import sys
import tomllib
from pathlib import Path


def main() -> None:
    """Reads ./pyproject.toml."""
    document = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    project = document["project"]
    requirements = [
        *project["dependencies"],
        *project["optional-dependencies"]["dev"],
        *document["build-system"]["requires"],
    ]
    sys.stdout.write("\n".join(requirements) + "\n")


if __name__ == "__main__":
    main()
