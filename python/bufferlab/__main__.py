"""`python -m bufferlab` is the command `bufferlab`."""

import sys

from bufferlab.cli import main

sys.exit(main())
