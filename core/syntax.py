"""Python's own parser, for several threads.

Up to 3.12 the interpreter counts the depth of a tree for all threads together, so a parse that is interrupted by
another's raises SystemError.
"""

from __future__ import annotations

import ast
from threading import Lock

# What Python's parser raises for text that is no Python, or too deep or too large for it.
NOT_READ = (SyntaxError, ValueError, RecursionError, MemoryError)
_lock = Lock()


def module(text: str, name: str = "<unknown>") -> ast.Module:
    """The tree of a file, one thread at a time; raises what `ast.parse` raises."""
    with _lock:
        return ast.parse(text, name)


def expression(text: str) -> ast.expr:
    """The tree of one expression, in the same way."""
    with _lock:
        return ast.parse(text, mode="eval").body
