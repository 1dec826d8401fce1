"""Engines, which execute runs: `queues` has the interface, and `opening` is the constructor.

`local` is the engine of this machine, and `cluster` the engine of several machines.
"""
