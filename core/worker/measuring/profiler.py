"""torch.profiler without the lines that Kineto writes to standard error, into the run's output."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from torch.profiler import ProfilerActivity, profile

LOG_LEVEL, NOTHING = "KINETO_LOG_LEVEL", "99"


@contextmanager
def quiet_profile(activities: Collection[ProfilerActivity] | None, **options: Any) -> Iterator[profile]:
    """Profile some activities in this context, or all that torch has here."""
    os.environ.setdefault(LOG_LEVEL, NOTHING)
    with profile(activities=activities, **options) as found:
        yield found
