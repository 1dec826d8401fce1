"""`python -m core doctor`, `options`, `backends`, `neighbours`, `completion`: the set-up of a machine.

`doctor` checks this machine, `options` lists those of Inductor and Dynamo, `backends` tries each of torch's backends on
a small function, and `neighbours` runs a model on other compilers and runtimes. `completion` prints a script that
completes commands, options and their values in a shell.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import msgspec

from core.base.errors import CompileboardError
from core.base.machine import ConfigModule, Environment, default_home
from core.commands.main import COMMANDS, make_parser
from core.commands.output import FAILED, OK, complain, print_start
from core.commands.run import exit_code, run_job
from core.job import CompileJob, Model, job_of
from core.runs.doctor import Check, checks
from core.runs.engine.opening import environment_here, open_local_engine
from core.runs.runner import Runner
from core.runs.store import Run, Store
from core.runs.stored import open_report
from core.sweep.presets import PRESETS, BackendFact, Question, answer
from core.sweep.runner import SweepRunner, new_sweep
from core.views.backend.run import tried_lines
from core.views.neighbours import neighbours
from core.views.printed import as_text
from core.views.setup import compiling_check, doctor, matching, option_text, options_words

# With empty caches, a slow disk and a busy machine, a first compilation takes a minute.
COMPILE_LIMIT_S = 180.0
PROGRAM = "compileboard"
# Where commands are completed by words; `complete -o default` then completes files.
BASH = Path(__file__).with_name("completion.bash").read_text(encoding="utf-8")
ZSH = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"
CODE = "import torch\n\n\ndef model(x):\n    return x.sin() + 1\n\n\ninputs = (torch.randn(8),)\n"


def add_doctor_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("--no-compile", action="store_true", help="look only, and do not start torch")


def doctor_command(arguments: argparse.Namespace) -> int:
    """Print each check; returns the exit code, `FAILED` if there is a problem."""
    environment, compiled = (None, ()) if arguments.no_compile else _with_torch()
    found = (*checks(default_home(), environment), *compiled)
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(found), indent=2))
    else:
        print("\n".join(as_text(doctor(found))))
    return FAILED if any(check.state == "problem" for check in found) else OK


def _with_torch() -> tuple[Environment, tuple[Check, ...]]:
    """Start torch and compile a function in a temporary home; return the environment and the checks."""
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
    command.add_argument("words", nargs="*", help="words in a name, an environment variable or torch's comment")
    command.add_argument("--module", choices=get_args(ConfigModule), help="options of one module")
    command.add_argument(
        "--changed", action="store_true", help="options that an environment variable or a program has set here"
    )


def options_command(arguments: argparse.Namespace) -> int:
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


def backends_command(arguments: argparse.Namespace) -> int:
    """Print each backend: whether it runs here, its last stage, and its purpose; returns the exit code."""
    print_start()
    backends = tried_backends()
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(backends), indent=2))
        return OK
    print("\n".join(tried_lines(backends)))
    return OK


def tried_backends() -> Sequence[BackendFact]:
    """Run the backends one after another, and return the facts about each; raises CompileboardError."""
    engine = open_local_engine(Store())
    try:
        with TemporaryDirectory(prefix="compileboard-") as home:
            sweeps = SweepRunner(Runner(Store(Path(home)), engine))
            environment = engine.environment()
            plan = PRESETS["backends"].plan(CompileJob(Model("code", CODE), measure=False), environment)
            sweep = sweeps.start(new_sweep(plan.base, plan.axes, "backends"))
            sweeps.wait(sweep.id)
            rows = sweeps.rows(sweeps.store.open(sweep.id))
            facts = answer(Question(sweep, rows, environment)).facts
    finally:
        engine.close()
    return [fact for fact in facts if isinstance(fact, BackendFact)]


def neighbours_command(arguments: argparse.Namespace) -> int:
    return run_job(replace(job_of(arguments), neighbours=True), arguments, _finish_neighbours)


def _finish_neighbours(run: Run, arguments: argparse.Namespace) -> int:
    """Print the neighbours of an ended run; returns the exit code of the run."""
    report = open_report(run) if run.log_path() else None
    if report is not None and arguments.json:
        print(json.dumps(msgspec.to_builtins(report.neighbours), indent=2))
    elif report is not None:
        print("\n".join(as_text(neighbours(report))))
    return exit_code(run, report)


def add_completion_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("shell", choices=("bash", "zsh", "fish"), help="shell that reads the script")


def completion_command(arguments: argparse.Namespace) -> int:
    parsers = make_parser().commands
    if arguments.shell == "fish":
        print("\n".join(_fish_lines(parsers)))
    else:
        print((ZSH if arguments.shell == "zsh" else "") + _bash(parsers), end="")
    return OK


def _bash(parsers: Mapping[str, argparse.ArgumentParser]) -> str:
    """Return the script for bash, which zsh can read, too."""
    options = {
        name: " ".join(flag for action in parser._actions for flag in action.option_strings)
        for name, parser in parsers.items()
    }
    values = {
        f"{name} {flag}": " ".join(map(str, action.choices))
        for name, parser in parsers.items()
        for action in parser._actions
        for flag in action.option_strings
        if action.choices
    }
    return BASH.format(
        program=PROGRAM,
        commands=shlex.quote(" ".join(parsers)),
        values="\n".join(f"        {shlex.quote(key)}) words={shlex.quote(text)} ;;" for key, text in values.items()),
        options="\n".join(f"            {name}) words={shlex.quote(text)} ;;" for name, text in options.items()),
    )


def _fish_lines(parsers: Mapping[str, argparse.ArgumentParser]) -> Iterator[str]:
    """Yield the lines of the script for fish, which shows a description beside each word."""
    for command in COMMANDS:
        yield f"complete -c {PROGRAM} -n __fish_use_subcommand -f -a {command.name} -d {shlex.quote(command.help)}"
    for name, parser in parsers.items():
        for action in parser._actions:
            names = "".join(f" -l {flag[2:]}" for flag in action.option_strings if flag.startswith("--"))
            if not names:
                continue
            line = f"complete -c {PROGRAM} -n '__fish_seen_subcommand_from {name}'{names}"
            values = f" -f -a {shlex.quote(' '.join(map(str, action.choices)))}" if action.choices else ""
            yield f"{line}{'' if action.nargs == 0 else ' -r'}{values} -d {shlex.quote(action.help or '')}"
