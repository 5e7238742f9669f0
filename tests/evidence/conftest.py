"""A small document of a user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

SCENARIO = """
[run]
duration = "5 s"
warmup = "1 s"

[bottleneck]
rate = "10 Mbps"
delay = "1 ms"
buffer = "50 packets"

[[flows]]
name = "bulk"
count = 2
rtt = "20 ms"
"""


CLAIMS = """
format = "bufferlab-claims"
format_version = 1

[document]
title = "A title"
citation = "A. Author"

[runs.lone]
scenario = "lone.toml"
seeds = "2 if buffer_packets == 20 else 1"
vary.buffer_packets = [5, 20]
set."bottleneck.buffer" = "{buffer_packets} packets"
measure.utilization = "queues.bottleneck.all.utilization"
measure.rate_mbps = "flows.bulk.goodput_bps * flows.bulk.flows / 1e6"
derive.idle = "1 - utilization"
quick = { seeds = 1, set = { "run.duration" = "2 s" } }

[figures.fig2]
title = "Utilization"
runs = "lone"
tables = "own:more"
draw = "own:draw"
others.them = { who = "somebody", points = "own:theirs" }
notes = ["{seeds} runs of {duration_s:g} s."]

[[figures.fig2.show]]
title = "By buffer"
rows = ["buffer_packets"]
cells = { "utilization, %" = "{100 * utilization:.0f}" }
others = ["them"]

[[figures.fig2.show]]
title = "In one row"
rows = []
column = "buffer_packets"
cell = "{seeds}"

[[figures.fig2.findings]]
setting = { buffer_packets = "last" }
text = [{ when = "seeds == 2", text = "Most runs have {buffer_packets} packets." }]

[[figures.fig2.findings]]
text = [{ when = "seeds == 7", text = "Never." }]

[[claims]]
id = "busy"
figure = "fig2"
place = "page 1"
what = "utilization"
setting = { buffer_packets = 20 }
quantity = "utilization"
value = 0.9
bound = ">"

[[claims]]
id = "idle"
figure = "fig2"
place = "page 2"
what = "idle part"
quantity = "idle"
value = 0.5
tolerance = "10 %"
because = "a guess"
others = [{ who = "she", value = 0.4, source = "page 9" }]
why = [
    { when = "ours < 0.1", text = "Ours is {ours:.0e} of {stated:.1f}, theirs {them.idle}." },
]

[[claims]]
id = "words"
figure = "fig2"
place = "page 3"
what = "rate"
says = "some"
setting = { buffer_packets = "last" }
quantity = "rate_mbps / at(rate_mbps, buffer_packets = first)"
not_comparable = "The document has no number."
"""


HOOKS = """
import polars as pl
from matplotlib.figure import Figure

def theirs():
    return pl.DataFrame({"buffer_packets": [5], "utilization": [0.75]})

def more(work):
    return {"more": work.points.head(1)}

def fail(work):
    raise ValueError("no picture")

def five(*_):
    return 5

def draw(work):
    assert work.document.claims_of("fig2")[0].number == 0.9
    return Figure()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "my-paper"
    (made / "scenarios").mkdir(parents=True)
    (made / "scenarios" / "lone.toml").write_text(SCENARIO)
    (made / "claims.toml").write_text(CLAIMS)
    (made / "own.py").write_text(HOOKS)
    return made


def rewrite(folder: Path, old: str, new: str) -> None:
    text = (folder / "claims.toml").read_text()
    assert old in text
    (folder / "claims.toml").write_text(text.replace(old, new, 1))
