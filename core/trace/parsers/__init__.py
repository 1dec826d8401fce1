"""Parsers that turn the records of a log into a Report."""
