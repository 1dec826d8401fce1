"""What this visitor looks at: the only readers of the session's state, of query parameters and of caches."""
