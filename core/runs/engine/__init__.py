"""Engines, which execute runs: `protocol` is the interface, `opening` the constructor, `local` this machine."""
