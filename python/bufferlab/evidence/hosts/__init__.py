"""What real hosts do to the least buffer of a fast link: docs/hosts.md."""
