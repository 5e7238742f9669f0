"""L4S: waits and shares of Prague and CUBIC under DualPI2 over rates and round-trip times."""
