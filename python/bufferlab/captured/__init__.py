"""What a capture tells of a link, and the scenario that it makes."""
