"""The records that the worker adds to the log, `compileboard_<what>`: what it writes, and what the parsers are
given.
"""

from core.report.records import aoti, backend, frames, graphs, kernels, measured, memory, numerics, pipeline, run
from core.report.records.base import Emit, Record

SCHEMA = 1
RECORDS: dict[str, type[Record]] = {
    **run.RECORDS,
    **measured.RECORDS,
    **memory.RECORDS,
    **frames.RECORDS,
    **graphs.RECORDS,
    **kernels.RECORDS,
    **numerics.RECORDS,
    **pipeline.RECORDS,
    **backend.RECORDS,
    **aoti.RECORDS,
}

__all__ = ["RECORDS", "SCHEMA", "Emit", "Record"]
