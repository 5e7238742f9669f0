"""Runs simulations: points and seeds over executors, with an optional store of runs."""
