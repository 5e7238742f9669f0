"""DCTCP: the marking threshold that keeps a link busy, over rates, round trips and numbers of flows."""
