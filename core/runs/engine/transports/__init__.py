"""Transports to other machines: one module for each scheme of an engine's address.

`open_engine` imports the module that has the scheme's name.
"""
