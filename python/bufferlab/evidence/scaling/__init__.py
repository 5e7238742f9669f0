"""What twins and short runs of a large link get wrong, and what they cost: docs/capacity.md."""
