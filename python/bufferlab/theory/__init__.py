"""Closed-form results: buffer rules and TCP models. Nothing here simulates."""
