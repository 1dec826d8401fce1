"""Benchmarks of Compileboard's promises in seconds and bytes: `make bench`."""
