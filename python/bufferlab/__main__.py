"""`python -m bufferlab` is the command `bufferlab`."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command; return its exit status. Its imports are within, as Ctrl-C may come before they end."""
    try:
        from bufferlab import cli  # noqa: PLC0415 - see above

        return cli.main()
    except KeyboardInterrupt:  # before the command could take charge of signals
        return 130


if __name__ == "__main__":
    sys.exit(main())
