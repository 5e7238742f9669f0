"""What runs inside the kernel as its first process: sets up the network, drives traffic, writes what it saw.

It needs Python's standard library only, and of Bufferlab only the engine's extension, for links of its own.
The clock is virtual: it stands still while somebody computes, so nothing here may spin.
"""
