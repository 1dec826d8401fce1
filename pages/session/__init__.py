"""The visitor's session: the only readers of the session's state, of query parameters and of caches."""
