"""Engines, which execute runs: `protocol` is the seam, `opening` the constructor, `local` this machine's engine."""
