"""Which of several queues to take: what users feel, how much worse they fare, and what is equal."""
