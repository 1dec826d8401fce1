"""The names of torch and Triton that the worker leans on and nobody promised: where, why, and since which torch.

A private name has an underscore in its path, or belongs to Triton, which does not say what is public; names of torch
that are public but replaced stand here, too. `tests/live/test_private_names.py` looks each up in the torch that is
installed, and refuses a private name in the worker that is not here.
"""

from core.worker.private.accelerator import ACCELERATOR
from core.worker.private.cross_compilation import ABSENT, TRITON
from core.worker.private.dynamo import DYNAMO, LOG, VALUES
from core.worker.private.inductor import AOTI, CPP, PARTITION, PASSES, SCHEDULER, TIMING
from core.worker.private.name import FIRST, PrivateName

__all__ = ["FIRST", "PRIVATE_NAMES", "PrivateName"]

PRIVATE_NAMES = (
    *LOG,
    *DYNAMO,
    *PASSES,
    *PARTITION,
    *SCHEDULER,
    *TIMING,
    *VALUES,
    *CPP,
    *ABSENT,
    *TRITON,
    *ACCELERATOR,
    *AOTI,
)
