"""The smallest buffer, and what the published rules say, in words, tables and figures."""
