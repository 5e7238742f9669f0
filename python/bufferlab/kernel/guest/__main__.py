"""The first process. Its argument is the folder that it shares with the host.

`job.json` is read there, and `report.jsonl` written.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    from bufferlab.kernel.guest.machine import mount, power_off
    from bufferlab.kernel.guest.work import work

    work(mount(sys.argv[1]))
    power_off()
