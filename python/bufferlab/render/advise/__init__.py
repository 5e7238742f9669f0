"""What `advise` shows: the answer in a box, the evidence, how it was found, a figure."""
