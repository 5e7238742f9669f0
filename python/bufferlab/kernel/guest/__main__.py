"""The first process. Its argument is the folder that it shares with the host.

`job.json` is read there, and `report.jsonl` written. With "host" it is the first process of namespaces of the
machine's own kernel.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    from bufferlab.kernel.guest.machine import hide, mount, power_off
    from bufferlab.kernel.guest.work import work

    if "host" in sys.argv[2:]:
        work(hide(sys.argv[1]))
    else:
        work(mount(sys.argv[1]))
        os.sync()
        power_off()
