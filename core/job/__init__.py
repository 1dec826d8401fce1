"""Job: what to compile, how, and within which limits."""

from core.job.checks import job_from_json, validated
from core.job.command import add_job_options, backend_of, job_of, job_with, model_of
from core.job.model import (
    BATCH,
    FILE_SETTINGS,
    GIB,
    MODES,
    STANCES,
    CompileJob,
    CompileOptions,
    Conditions,
    DynamicDim,
    Model,
    OptionValue,
    Packaging,
    fingerprint,
    job_to_json,
)
from core.job.options import MAX_THREADS
from core.job.text import (
    MAX_CODE_BYTES,
    compile_options_as_text,
    compile_options_from_text,
    dims_from_text,
    options_as_text,
    options_from_text,
    sizes_from_text,
)
