"""Session state, query parameters and caches of pages. Components have separate session state."""
