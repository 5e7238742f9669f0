"""Questions answered by runs: size, search, compare, sweep."""
