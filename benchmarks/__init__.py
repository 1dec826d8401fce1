"""Benchmarks of Compileboard's promised times and sizes: `make bench`."""
