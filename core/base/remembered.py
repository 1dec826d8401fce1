"""Cache of a function's last results, by the identity of its first argument.

Identity, not equality: comparing two large reports would take as long as the function itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
V = TypeVar("V")
T = TypeVar("T")
MOST_REMEMBERED = 4  #: cached results of one function


class LastResults(Generic[V, T]):
    """Cache of the last results of a function.

    A result is reused for the same value (`is`) with an equal key (`==`).
    """

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._last: deque[tuple[V, object, T]] = deque(maxlen=MOST_REMEMBERED)

    def of(self, value: V, key: object, make: Callable[[], T]) -> T:
        """Return the cached result for this value and key; without one, call `make` and cache its result."""
        # Another thread may add a result meanwhile.
        for known, known_key, result in list(self._last):
            if known is value and known_key == key:
                return result
        result = make()
        self._last.appendleft((value, key, result))
        return result


def remembered(function: Callable[Concatenate[V, P], T]) -> Callable[Concatenate[V, P], T]:
    """Return a wrapper of the function that caches its last results.

    A result is reused if the first argument is the same object and the other arguments are equal. The first
    argument must be immutable, and the result must depend on the arguments alone. The cache keeps the first
    arguments in memory.
    """
    results = LastResults[V, T]()

    @wraps(function)
    def remembering(value: V, /, *args: P.args, **options: P.kwargs) -> T:
        return results.of(value, (args, options), lambda: function(value, *args, **options))

    return remembering
