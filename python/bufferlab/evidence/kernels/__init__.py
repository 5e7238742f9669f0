"""A grid of settings by the simulator against recorded runs of a real kernel (docs/kernel.md).

There is no claims.toml, as nobody published these numbers: they are runs of a kernel, a row each in data/.
They are judged by the margins of `crosscheck`.
"""
