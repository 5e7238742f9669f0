"""SplitBuff: sub-buffers by round-trip time."""
