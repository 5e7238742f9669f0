"""`python -m bufferlab` is the command `bufferlab`."""

import sys

try:
    from bufferlab.cli import main

    status = main()
except KeyboardInterrupt:  # before the command could take charge of signals
    status = 130
sys.exit(status)
