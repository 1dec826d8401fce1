"""Python's own parser, for several threads.

Up to 3.12 the interpreter counts the depth of a tree for all threads together, so a parse that is interrupted by
another's raises SystemError.
"""

from __future__ import annotations

import ast
from threading import Lock

# What Python's parser raises for text that is no Python, or too deep or too large for it.
NOT_READ = (SyntaxError, ValueError, RecursionError, MemoryError)
# A tree takes some 100 bytes and a microsecond of the interpreter for each character.
MAX_CHARS = 8_000_000
_lock = Lock()


def module(text: str, name: str = "<unknown>") -> ast.Module:
    """The tree of a file, one thread at a time; raises what `ast.parse` raises, ValueError if it is too long."""
    with _lock:
        return ast.parse(_bounded(text), name)


def expression(text: str) -> ast.expr:
    """The tree of one expression, in the same way."""
    with _lock:
        return ast.parse(_bounded(text), mode="eval").body


def _bounded(text: str) -> str:
    if len(text) > MAX_CHARS:
        raise ValueError(f"it has more than {MAX_CHARS} characters")
    return text
