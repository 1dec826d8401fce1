"""Runs on disk and in the queue: store, runner, limits, permission, progress and stored reports."""
