"""What a capture tells, for people: one screen, a figure."""
