"""The answers of `size` and `advise` against the true smallest buffers: docs/answers.md."""
