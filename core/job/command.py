"""A job as the command line gives it: its options, and what they make."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.base.errors import JobError
from core.base.files import read
from core.job.checks import MAX_CODE_BYTES, job_from_json
from core.job.model import MODES, STANCES, CompileJob, Conditions, Model
from core.job.targets import TARGETS
from core.job.text import compile_options_from_text, options_from_text, sizes_from_text

# The variable of a backend's file, unless another is named.
BACKEND = "backend"


def add_job_options(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Give a command the model, which may be left out where `nargs` is `?`, and every option that a job has."""
    parser.add_argument("model", nargs=nargs, help="a sample's name, FILE.py, FILE.py:NAME, or a job as .json")
    _add_compile(parser)
    _add_inputs(parser)
    _add_conditions(parser)
    _add_measuring(parser)
    parser.add_argument("--time-limit", type=float, default=600.0, metavar="S")


def _add_compile(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the call of torch.compile").add_argument
    add("--fullgraph", action=argparse.BooleanOptionalAction, help="fail at the first graph break")
    add("--dynamic", action=argparse.BooleanOptionalAction, help="dynamic shapes from the start, or never")
    add(
        *("--backend",),
        metavar="NAME|FILE.py[:NAME]",
        help="one of torch's list or of those that ship, a callable of the model's file, or one of another file",
    )
    add("--mode", choices=MODES)
    add("--options", default="", metavar="NAME=VALUE,…", help="Inductor options")
    add("--training", action=argparse.BooleanOptionalAction, help="compile and run the backward too")
    add("--device", default="cpu")
    add("--target", default="", choices=TARGETS, help="generate code for an accelerator that need not be here")


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the inputs").add_argument
    add("--call", action="append", default=[], metavar="ARGS", help="inputs, such as 'f32[8, 64], 2.0'; repeat")
    add("--dtype", help="cast model and inputs, such as bfloat16")
    add("--seed", type=int, default=0)
    add(
        *("--size",),
        action="append",
        default=[],
        metavar="WHERE=N",
        help="another size for a dimension: batch=64, or 0.1=128 for dimension 1 of argument 0; repeat",
    )
    add("--mark", action="append", default=[], metavar="WHERE", help="mark a dimension dynamic, such as 0.0; repeat")


def _add_conditions(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the conditions").add_argument
    add("--threads", type=int, metavar="N", help="torch's intra-op threads")
    add("--stance", default="default", choices=STANCES, help="that of torch.compiler.set_stance for compiled calls")
    add("--force-backend", default="", metavar="NAME", help="of torch.compiler.set_stance, in the default stance")
    add("--primed", action="store_true", help="make the first compiled call in the default stance")
    add("--dynamo", default="", metavar="NAME=VALUE,…", help="names of torch._dynamo.config")
    add(
        *("--caches",),
        default="objects",
        choices=("objects", "cold", "warm"),
        help="share compiled objects alone; begin with empty caches; or with those that a first process has filled",
    )


def _add_measuring(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("what is measured").add_argument
    add("--no-measure", action="store_true", help="do not time eager against compiled")
    add(
        *("--rival",),
        metavar="NAME=VALUE,…",
        help="another call of torch.compile, timed in turn with this one: mode=max-autotune, options.max_autotune=True",
    )
    add("--memory", action="store_true", help="measure the memory of an eager and a compiled call")
    add("--numerics", default="", choices=("results", "nodes"), help="compare with float64")


def job_of(arguments: argparse.Namespace) -> CompileJob:
    """The job that the options make; raises JobError."""
    if arguments.model.endswith(".json"):
        try:
            return job_from_json(Path(arguments.model).read_bytes())
        except OSError as error:
            raise JobError("model", f"{arguments.model} cannot be read: {error.strerror}") from None
    job = CompileJob(
        model=_model(arguments.model),
        calls=tuple(arguments.call),
        dtype=arguments.dtype,
        device=arguments.device,
        target=arguments.target,
        seed=arguments.seed,
        measure=not arguments.no_measure,
        time_limit_s=arguments.time_limit,
        conditions=_conditions(arguments),
        sizes=sizes_from_text(arguments.size),
        marks=tuple(arguments.mark),
        rival=None if arguments.rival is None else compile_options_from_text(arguments.rival, "rival"),
        memory=arguments.memory,
        numerics=arguments.numerics,
    )
    return job.with_settings(**_settings(arguments))


def _settings(arguments: argparse.Namespace) -> dict[str, object]:
    """The settings that are given, and so are not the file's to decide."""
    names = ("training", "fullgraph", "dynamic", "mode")
    given = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    options = options_from_text(arguments.options)
    if options is not None:
        given["options"] = options
    if arguments.backend is not None:
        given["backend"], given["backend_code"] = backend_of(arguments.backend)
    return given


def backend_of(text: str) -> tuple[str, str]:
    """The name of a backend, and the code that defines it where a file is named (`FILE.py`, `FILE.py:NAME`); raises
    JobError.
    """
    path, _, name = text.rpartition(":") if ".py:" in text else (text, "", BACKEND)
    if not path.endswith(".py"):
        return text, ""
    try:
        return name or BACKEND, read(Path(path), MAX_CODE_BYTES).decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise JobError("compile.backend", f"{path} cannot be read: {reason}") from None


def _model(text: str) -> Model:
    path, _, name = text.rpartition(":") if ".py:" in text else (text, "", "model")
    if path.endswith(".py"):
        return Model("file", str(Path(path).resolve()), name or "model")
    return Model("sample", text)


def _conditions(arguments: argparse.Namespace) -> Conditions:
    return Conditions(
        threads=arguments.threads,
        stance=arguments.stance,
        force_backend=arguments.force_backend,
        primed=arguments.primed,
        dynamo=options_from_text(arguments.dynamo, "conditions.dynamo"),
        caches=arguments.caches,
    )
