"""Drawn settings of queue disciplines and ECN in ns-3: what is drawn, its program, the same here."""
