"""Helpers shared by all packages, without torch: errors, files, JSON, numbers as text, machine data."""
