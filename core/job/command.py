"""A job from the command line: its options, and the resulting job."""

import argparse
from collections.abc import Mapping
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
TYPES: dict[Any, str] = {bool: "true or false", str: "a text", (int, float): "a number"}


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
    job = CompileJob(model_of(arguments.model, arguments.as_script), arguments=tuple(arguments.arguments))
    return with_values(job, _values(vars(arguments)))


def job_with(job: CompileJob, named: Mapping[str, Any]) -> CompileJob:
    """Return a job with options by their names, with JSON values that a command line could have.

    A flag's value is True or False, that of a repeated flag a list of texts. Raises JobError.
    """
    flags = {option.name: option.flag for option in OPTIONS if option.flag is not None}
    for name in named:
        if name not in flags:
            raise JobError("options", f"`{name[:60]}` is none of {', '.join(flags)}")
    typed = {name: _typed(name, flags[name], named.get(name)) for name in flags}
    return with_values(job, _values(typed))


def _typed(name: str, flag: Flag, value: Any) -> Any:
    """Return a JSON value as argparse would; raises JobError for a value of another type."""
    if value is None:
        return None
    if flag.kind in ("pair", "on", "off"):
        expected: Any = bool
    elif flag.kind == "several":
        value = [value] if isinstance(value, str) else value
        if isinstance(value, list) and all(isinstance(text, str) for text in value):
            return value
        raise JobError(name, "must be a list of texts")
    else:
        expected = str if flag.type is None else (int, float)
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        raise JobError(name, f"must be {TYPES[expected]}, not {value!r:.60}")
    if flag.choices and value not in flag.choices:
        raise JobError(name, f"must be one of {', '.join(flag.choices)}, not {value!r:.60}")
    return value


def _values(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the options on the command line, by path; `typed` has them by name.

    Other settings are left to the model's file.
    """
    values = {}
    for option in OPTIONS:
        value = typed[option.name] if option.flag else None
        if option.flag and value is not None:
            values[option.path] = option.flag.parse(value) if option.flag.parse else value
    if "compile.backend" in values:
        values["compile.backend"], values["compile.backend_code"] = backend_of(values["compile.backend"])
    if values.get("compile.options", ()) is None:
        del values["compile.options"]
    return values


def backend_of(text: str) -> tuple[str, str]:
    """Return a backend's name, and its code if a file is named (`FILE.py:NAME`); raises JobError."""
    path, _, name = text.rpartition(":") if ".py:" in text else (text, "", BACKEND)
    if not path.endswith(".py"):
        return text, ""
    return name or BACKEND, code_of(path, "compile.backend")


def model_of(text: str, as_script: bool | None = None) -> Model:
    """Return the model of the command line; raises JobError if a script cannot be requested for it."""
    path, _, name = text.rpartition(":") if ".py:" in text else (text, "", "model")
    if as_script and (not path.endswith((".py", SUFFIX)) or (name or "model") != "model"):
        raise JobError("model", f"--script is for a file, and not for `{text}`")
    if path.endswith((".py", SUFFIX)):
        as_model = as_script is False or ".py:model" in text
        return Model("file", str(Path(path).resolve()), "" if as_script else name or "model", as_model)
    return Model("sample", text)
