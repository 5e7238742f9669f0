"""What SplitBuff's document leaves open, by our own simulations."""
