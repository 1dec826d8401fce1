"""A job from the command line: its options, and the resulting job."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from core.base.errors import JobError
from core.job.checks import job_from_json
from core.job.model import CompileJob, Model
from core.job.notebook import SUFFIX
from core.job.options import OPTIONS, Flag, with_values
from core.job.text import code_of

# The default variable name in a backend's file.
BACKEND = "backend"


def add_job_options(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add the model and every option of a job to a command; the model is optional if `nargs` is `?`."""
    parser.add_argument(
        "model", nargs=nargs, help="a sample's name, FILE.py, FILE.py:NAME, NOTEBOOK.ipynb, or a job as .json"
    )
    parser.add_argument("arguments", nargs="*", help="arguments of a script, after `--` if they begin with a hyphen")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--script", dest="as_script", action="store_const", const=True, help="run the file as a script")
    kinds.add_argument(
        "--model",
        dest="as_script",
        action="store_const",
        const=False,
        help="compile the file's `model`, never as a script",
    )
    groups: dict[str, argparse.ArgumentParser | argparse._ArgumentGroup] = {"": parser}
    for option in OPTIONS:
        if option.flag is not None:
            group = option.flag.group
            groups[group] = groups.get(group) or parser.add_argument_group(group)
            groups[group].add_argument(option.flag_name, dest=option.name, help=option.help, **_keywords(option.flag))


def _keywords(flag: Flag) -> dict[str, Any]:
    """Return argparse's settings for a flag; the value of a missing flag is None."""
    if flag.kind == "pair":
        return {"action": argparse.BooleanOptionalAction}
    if flag.kind in ("on", "off"):
        return {"action": "store_const", "const": flag.kind == "on"}
    action = "append" if flag.kind == "several" else "store"
    return {"action": action, "metavar": flag.metavar, "type": flag.type, "choices": flag.choices}


def job_of(arguments: argparse.Namespace) -> CompileJob:
    """Return the job that the command line describes; raises JobError."""
    if arguments.model.endswith(".json"):
        try:
            return job_from_json(Path(arguments.model).read_bytes())
        except OSError as error:
            raise JobError("model", f"{arguments.model} cannot be read: {error.strerror}") from None
    job = CompileJob(_model(arguments.model, arguments.as_script), arguments=tuple(arguments.arguments))
    return with_values(job, _values(arguments))


def _values(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the values of the options on the command line, by path.

    Other settings are left to the model's file.
    """
    values = {}
    for option in OPTIONS:
        typed = getattr(arguments, option.name) if option.flag else None
        if option.flag and typed is not None:
            values[option.path] = option.flag.parse(typed) if option.flag.parse else typed
    if "compile.backend" in values:
        values["compile.backend"], values["compile.backend_code"] = backend_of(values["compile.backend"])
    if values.get("compile.options", ()) is None:
        del values["compile.options"]
    return values


def backend_of(text: str) -> tuple[str, str]:
    """Return a backend's name, and its code if a file is named (`FILE.py`, `FILE.py:NAME`).

    Raises JobError.
    """
    path, _, name = text.rpartition(":") if ".py:" in text else (text, "", BACKEND)
    if not path.endswith(".py"):
        return text, ""
    return name or BACKEND, code_of(path, "compile.backend")


def _model(text: str, as_script: bool | None) -> Model:
    """Return the model of the command line; raises JobError if a script cannot be requested for it."""
    path, _, name = text.rpartition(":") if ".py:" in text else (text, "", "model")
    if as_script and (not path.endswith((".py", SUFFIX)) or (name or "model") != "model"):
        raise JobError("model", f"--script is for a file, and not for `{text}`")
    if path.endswith((".py", SUFFIX)):
        as_model = as_script is False or ".py:model" in text
        return Model("file", str(Path(path).resolve()), "" if as_script else name or "model", as_model)
    return Model("sample", text)
