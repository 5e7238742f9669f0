"""Closed-form results: buffer rules, TCP models, queueing formulas. Nothing here simulates."""
