"""A job: what to compile, how, and within which limits."""

from core.job.checks import MAX_CODE_BYTES, MAX_THREADS, job_from_json, validated
from core.job.command import add_job_options, job_of
from core.job.model import (
    BATCH,
    GIB,
    MODES,
    STANCES,
    Caches,
    CompileJob,
    CompileOptions,
    Conditions,
    DynamicDim,
    Model,
    Numerics,
    OptionValue,
    Packaging,
    fingerprint,
    job_to_json,
)
from core.job.text import (
    compile_options_as_text,
    compile_options_from_text,
    options_as_text,
    options_from_text,
    sizes_as_text,
    sizes_from_text,
)

__all__ = [
    "BATCH",
    "GIB",
    "MAX_CODE_BYTES",
    "MAX_THREADS",
    "MODES",
    "STANCES",
    "Caches",
    "CompileJob",
    "CompileOptions",
    "Conditions",
    "DynamicDim",
    "Model",
    "Numerics",
    "OptionValue",
    "Packaging",
    "add_job_options",
    "compile_options_as_text",
    "compile_options_from_text",
    "fingerprint",
    "job_from_json",
    "job_of",
    "job_to_json",
    "options_as_text",
    "options_from_text",
    "sizes_as_text",
    "sizes_from_text",
    "validated",
]
