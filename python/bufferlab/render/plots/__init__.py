"""Figures of results: time series, distributions of the wait, bands over seeds; PNG and SVG.

Every function takes a `Result` or a `RunSet` and returns a matplotlib figure, which `display.save_figure`
writes; `save_plots` writes all that a result has data for.
"""

from bufferlab.render.plots.exchanges import exchanges
from bufferlab.render.plots.figures import save_plots
from bufferlab.render.plots.style import line_style, new_figure
from bufferlab.render.plots.time_series import backlog, cwnd, goodput, rtt
from bufferlab.render.plots.waits import wait_cdf

__all__ = [
    "backlog",
    "cwnd",
    "exchanges",
    "goodput",
    "line_style",
    "new_figure",
    "rtt",
    "save_plots",
    "wait_cdf",
]
