"""Torch's threads and Dynamo's configuration, for the whole of a run's process."""

from __future__ import annotations

import torch
import torch._dynamo.config

from core.base.errors import JobError
from core.job import Conditions, OptionValue


def set_threads(conditions: Conditions) -> None:
    """Set the intra-op threads that the job requests; Inductor's C++ uses torch's number."""
    if conditions.threads:
        torch.set_num_threads(conditions.threads)


def set_dynamo(conditions: Conditions) -> None:
    """Set names of `torch._dynamo.config`, over what the file has set; raises JobError that names one."""
    for name, value in (conditions.dynamo or {}).items():
        field = f"conditions.dynamo.{name}"
        _check(field, name, value)
        try:
            setattr(torch._dynamo.config, name, value)
        except Exception as error:
            raise JobError(field, f"torch does not take it: {error}") from None


def _check(field: str, name: str, value: OptionValue) -> None:
    """A value of another type would be taken, and fail somewhere in torch."""
    config = torch._dynamo.config.get_config_copy()
    if name not in config:
        raise JobError(field, f"torch {torch.__version__} has no torch._dynamo.config.{name}")
    current = config[name]
    fits = (
        current is None
        or value is None
        or type(value) is type(current)
        or (type(current) is float and type(value) is int)
    )
    if not fits:
        raise JobError(field, f"it is {current!r} in torch {torch.__version__}, which `{value}` is no value for")
