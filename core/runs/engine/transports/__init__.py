"""Transports to other machines: a module for each scheme of an engine's address, which `open_engine` finds here."""
