"""The visitor's session: the only modules that use session state, query parameters and caches."""
