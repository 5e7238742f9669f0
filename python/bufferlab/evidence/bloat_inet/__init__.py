"""Bufferbloat simulated in INET."""
