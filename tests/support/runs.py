"""Runs that tests make for real, through the one warm fork server."""

from collections.abc import Callable

from core import Run

RunCode = Callable[..., Run]
