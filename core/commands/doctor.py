"""`python -m core doctor` and `options`: checks of this machine, and the options of torch's compilers.

The options are those of Inductor and Dynamo.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import msgspec

from core.base.errors import CompileboardError
from core.base.machine import ConfigModule, Environment, default_home
from core.commands.backends import CODE
from core.commands.output import FAILED, OK, add_json_option, complain, print_start
from core.job import CompileJob, Model
from core.runs.doctor import Check, checks
from core.runs.engine.opening import environment_here, open_local_engine
from core.runs.runner import Runner
from core.runs.store import Store
from core.views.printed import as_text
from core.views.setup import compiling_check, doctor, matching, option_text, options_words

# With empty caches, a slow disk and a busy machine, a first compilation takes a minute.
COMPILE_LIMIT_S = 180.0


def add_doctor_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `doctor`."""
    command.set_defaults(function=_check)
    command.add_argument("--no-compile", action="store_true", help="look only, and do not start torch")
    add_json_option(command)


def _check(arguments: argparse.Namespace) -> int:
    """Print each check; returns the exit code, `FAILED` if there is a problem."""
    environment, compiled = (None, ()) if arguments.no_compile else _with_torch()
    found = (*checks(default_home(), environment), *compiled)
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(found), indent=2))
    else:
        print("\n".join(as_text(doctor(found))))
    return FAILED if any(check.state == "problem" for check in found) else OK


def _with_torch() -> tuple[Environment, tuple[Check, ...]]:
    """Start torch and compile a function in a temporary home; return the environment and the checks.

    A failure is reported in the environment's `problem` or in a check.
    """
    try:
        with TemporaryDirectory(prefix="compileboard-") as home:
            return _compiled(Store(Path(home)))
    except (CompileboardError, OSError) as error:
        return Environment(problem=str(error)), ()


def _compiled(store: Store) -> tuple[Environment, tuple[Check, ...]]:
    engine = open_local_engine(store)
    job = CompileJob(Model("code", CODE), measure=False, time_limit_s=COMPILE_LIMIT_S)
    try:
        print_start()
        environment = engine.environment()
        print("  `x.sin() + 1` is being compiled, with empty caches", file=sys.stderr)
        runner = Runner(store, engine)
        status = runner.wait(runner.submit(job)).status()
    finally:
        engine.close()
    return environment, (compiling_check(status),)


def add_options_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `options`."""
    command.set_defaults(function=_list)
    command.add_argument("words", nargs="*", help="words in a name, an environment variable or torch's comment")
    command.add_argument("--module", choices=get_args(ConfigModule), help="options of one module")
    command.add_argument(
        "--changed", action="store_true", help="options that an environment variable or a program has set here"
    )
    add_json_option(command)


def _list(arguments: argparse.Namespace) -> int:
    """Print each option that matches; returns the exit code, `FAILED` if torch cannot start."""
    print_start()
    environment = environment_here()
    if environment.problem:
        return complain(environment.problem, FAILED)
    options = matching(environment.options, " ".join(arguments.words), arguments.module, arguments.changed)
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(options), indent=2))
        return OK
    for option in options:
        print(option_text(option))
    print(options_words(options, environment))
    return OK
