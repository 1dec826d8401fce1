"""Runs on disk and in the queue: the store, the runner, limits, permission, progress and stored reports."""
