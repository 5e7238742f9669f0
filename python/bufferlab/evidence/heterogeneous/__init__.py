"""Heterogeneous TCP: buffers for links that carry several kinds of TCP."""
