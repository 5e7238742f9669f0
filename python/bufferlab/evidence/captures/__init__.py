"""What `observe` says of captures whose truth is known: docs/observe.md."""
