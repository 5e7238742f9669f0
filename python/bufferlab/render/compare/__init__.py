"""A comparison of queues in words, tables and figures."""
