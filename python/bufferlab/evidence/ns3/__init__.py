"""ns-3's published checks of TCP over CoDel."""
