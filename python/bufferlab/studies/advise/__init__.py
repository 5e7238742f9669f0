"""Which queue, how large, what it costs, how sure: one answer from runs."""
