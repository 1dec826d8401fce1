"""Private names of torch and Triton that the worker uses, with the reason and the torch versions.

A private name has an underscore in its path, or belongs to Triton, which does not document its public names.
Public names of torch that the worker replaces are listed, too. `tests/live/test_private_names.py` looks up each name
in the installed torch, and fails if the worker uses a private name that is not listed.
"""

from core.worker.private.names import (
    ABSENT,
    ACCELERATOR,
    AOTI,
    CPP,
    CUDAGRAPHS,
    DYNAMO,
    FIRST,
    LOG,
    OBJECTS,
    PARTITION,
    PASSES,
    SCHEDULER,
    TIMING,
    TRITON,
    VALUES,
    PrivateName,
)

__all__ = ["FIRST", "PRIVATE_NAMES", "PrivateName"]

PRIVATE_NAMES = (
    *LOG,
    *DYNAMO,
    *PASSES,
    *PARTITION,
    *OBJECTS,
    *SCHEDULER,
    *CUDAGRAPHS,
    *TIMING,
    *VALUES,
    *CPP,
    *ABSENT,
    *TRITON,
    *ACCELERATOR,
    *AOTI,
)
