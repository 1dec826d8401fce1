"""Conditions of a job's calls: threads, configuration, stance, caches, and other inputs."""
