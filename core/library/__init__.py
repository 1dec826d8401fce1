"""Compileboard in a user's own process: recording, and assertions for tests."""
