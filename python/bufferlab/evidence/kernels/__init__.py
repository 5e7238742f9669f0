"""A grid of settings by the simulator against recorded runs of a real kernel (docs/kernel.md)."""
