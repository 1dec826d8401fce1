"""Results of a function for the values that it was last called with.

A value is known by its identity: comparing two large reports takes as long as the function does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
V = TypeVar("V")
T = TypeVar("T")
MOST_REMEMBERED = 4


def remembered(function: Callable[Concatenate[V, P], T]) -> Callable[Concatenate[V, P], T]:
    """Return a function that makes its result once for the same value and equal other arguments.

    The value must be immutable, and the function depend on its arguments alone. Values stay in memory while they are
    among the last few.
    """
    last: deque[tuple[V, object, T]] = deque(maxlen=MOST_REMEMBERED)

    @wraps(function)
    def remembering(value: V, /, *args: P.args, **options: P.kwargs) -> T:
        others = (args, options)
        # Another thread may add a result meanwhile.
        for known, known_others, result in list(last):
            if known is value and known_others == others:
                return result
        result = function(value, *args, **options)
        last.appendleft((value, others, result))
        return result

    return remembering
