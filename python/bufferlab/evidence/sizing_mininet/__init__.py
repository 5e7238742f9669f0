"""The student report on buffer sizing in Mininet."""
