"""What load does to latency: round trips, responsiveness, a grade of the bloat, voice quality."""
