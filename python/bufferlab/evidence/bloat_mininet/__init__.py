"""Bufferbloat measured in Mininet."""
