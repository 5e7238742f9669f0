"""Mutants: programs with one bug each, to see whether a test notices."""
