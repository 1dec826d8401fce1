"""The command line: the same runs and reports as in the browser.

`COMMANDS` lists the commands; `docs/cli.md` has their options and the exit codes. With --json the report alone goes to
standard output; progress and messages go to standard error.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from core.base.errors import CompileboardError, JobError, NodeWaitError, SettingError, StoreError, TraceError
from core.base.machine import PACKAGE, PROGRAM, PROJECT_DIR, own_module, package_version
from core.commands.output import CANCELLED, FAILED, MISSING, NO_NODE, USAGE, complain


@dataclass(frozen=True, slots=True)
class Command:
    """A command, executed by the function `NAME_command` of its module in `core.commands`.

    The module is imported at its first use. It may have a function `add_NAME_command`, which adds options; `shared` are
    those of `SHARED`. `opens` is False if the command opens none of the runs that it names.
    """

    name: str
    help: str
    module: str
    shared: str = ""
    opens: bool = True


# Options of several commands → the module of the function that adds them.
SHARED = {"job": "core.job", **dict.fromkeys(("node", "engine", "check", "json"), "core.commands.output")}
COMMANDS = (
    Command("samples", "list the sample models", "tour", "json"),
    Command("run", "compile a model and report", "run", "job node check json"),
    Command(
        "bisect", "run a model without measuring, and look for why it fails or differs", "run", "job node check json"
    ),
    Command("try", "try the fixes of a stored run, and say what each changes", "run", "engine json"),
    Command("measure", "measure a stored run's job again, as a run of its own", "run", "node check json"),
    Command("tour", "explain torch.compile on a run, or on a model that is run first", "tour", "job node"),
    Command("captures", "compare symbolic_trace, Dynamo and torch.export on a model", "tour", "job node"),
    Command("landmarks", "where in torch and Triton a compilation goes, with a run's times", "tour"),
    Command("why", "answer a question about a run, such as `why break 1`", "tour", "json"),
    Command("exercises", "list the exercises, print one, or check a solution of it", "tour", "node json"),
    Command("open", "open a TORCH_TRACE log, directory or archive in the dashboard", "open_log"),
    Command("dashboard", "start the dashboard", "open_log", "engine"),
    Command("report", "report on a stored run or a TORCH_TRACE log", "report", "check json"),
    Command("pipeline", "build a model into programs of the accelerator, and run them", "products", "job node json"),
    Command(
        "aoti", "export a model, package it by AOTInductor, and run it without Python", "products", "job node json"
    ),
    Command("neighbours", "run a model on other compilers and runtimes, and compare", "doctor", "job node json"),
    Command("compare", "compare a run or log with another", "summary", "json"),
    Command("check", "check a model, a run or a log against a budget", "report", "job node json"),
    Command("ranks", "compare the ranks of a distributed job", "summary", "json"),
    Command("sweep", "change a model's job along axes, and compare", "sweep", "node"),
    Command("tune", "look for settings that make a model faster, and prove them", "sweep", "job node"),
    Command("sweeps", "list the sweeps of this home, or print one", "sweep", "json"),
    Command("runs", "list stored runs, newest first, or those that a search matches", "runs", "json", opens=False),
    Command("mark", "tag a stored run, comment on it, or pin it so that it is not deleted", "runs", opens=False),
    Command("prune", "delete or move runs that a search matches, except pinned and live ones", "runs", opens=False),
    Command("archive", "write stored runs to one file, for another store", "runs"),
    Command("import", "add the runs of such a file to the store", "runs"),
    Command("backends", "try each backend that torch lists here", "doctor", "json"),
    Command("issue", "a bug report about a stored run, in the form of PyTorch's template", "export"),
    Command("debug", "the files of TORCH_COMPILE_DEBUG=1, from the log of a stored run", "export"),
    Command("logs", "torch's log messages of a stored run; without one, their names here", "export"),
    Command("artifacts", "the records of a log as torch wrote them", "export", "json"),
    Command("profile", "join a profile by torch.profiler to the log of a stored run", "runs"),
    Command("export", "write a run or a comparison as one HTML file, or for ui.perfetto.dev", "export"),
    Command("mcp", "serve the tools of coding agents over stdio", "agents.server", "engine"),
    Command("skill", "write the skill of coding agents into a directory", "export"),
    Command("doctor", "check what this machine has, and compile one function", "doctor", "json"),
    Command("options", "search the options of torch._inductor.config and torch._dynamo.config", "doctor", "json"),
    Command("audit", "list what people changed on this server", "open_log", "json"),
    Command("seeds", "run every command of docs/seeds.md, and report mismatches", "seeds"),
    Command("work", "execute the runs of a server on this machine", "open_log"),
    Command("completion", "print a script that completes commands and options in a shell", "doctor"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    command = next((command for command in COMMANDS if command.name in words[:1]), None)
    arguments = make_parser(command).parse_args(words)
    try:
        if command is not None and command.opens:
            _bring_back(arguments)
        return int(arguments.function(arguments))
    except JobError as error:
        return complain(_job_words(error, arguments), USAGE)
    except SettingError as error:
        return complain(str(error), USAGE)
    except NodeWaitError as error:
        return complain(str(error), NO_NODE)
    except (StoreError, TraceError) as error:
        return complain(str(error), MISSING)
    except CompileboardError as error:
        return complain(str(error), FAILED)
    except KeyboardInterrupt:
        return complain("cancelled", CANCELLED)


def _job_words(error: JobError, arguments: argparse.Namespace) -> str:
    """Return an error's message with the option in question; a field of a job stays if a file has the job."""
    from core.job.options import flag_of_field

    if str(getattr(arguments, "model", "")).endswith(".json"):
        return str(error)
    option = f"--{error.field.replace('_', '-')}" if error.field in vars(arguments) else ""
    flag = flag_of_field(error.field) or option
    if " " in error.field:
        return str(error)
    return f"{flag}: {error.message}" if flag and flag != "--model" else error.message


def _bring_back(arguments: argparse.Namespace) -> None:
    """Fetch the archived files of the runs that a command names; raises CompileboardError."""
    from core.runs.remote import VARIABLE, bring_back, is_away

    if not os.environ.get(VARIABLE):
        return
    from core.base.words import RUN_ID
    from core.runs.store import Run, Store

    store = Store()
    for value in vars(arguments).values():
        for name in value if isinstance(value, list) else (value,):
            if isinstance(name, str) and RUN_ID.fullmatch(name) and is_away(run := Run(name, store.runs_dir / name)):
                print(f"fetching {name} from the archive", file=sys.stderr)
                bring_back(run)


def own_version() -> str:
    """Return the version of Compileboard, from the installed package or from pyproject.toml."""
    if PACKAGE:
        return package_version(PACKAGE)
    import tomllib

    with (PROJECT_DIR / "pyproject.toml").open("rb") as file:
        version: str = tomllib.load(file)["project"]["version"]
    return version


class VersionAction(argparse.Action):
    """Option that prints the versions of Compileboard, torch and Python."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print the versions, and exit with 0."""
        torch, python = package_version("torch") or "not installed", ".".join(map(str, sys.version_info[:3]))
        print(f"compileboard {own_version()} (torch {torch}, Python {python})")
        parser.exit()


def make_parser(*commands: Command | None) -> CommandParser:
    """Return the parser of the whole command line, with the options of some commands; of all by default."""
    description = "What torch.compile did to a model."
    parser = CommandParser(prog=shlex.join(PROGRAM), description=description)
    parser.add_argument(
        "--version", action=VersionAction, nargs=0, dest=argparse.SUPPRESS, help="print the versions, and exit"
    )
    added = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=CommandParser)
    for command in COMMANDS:
        options = added.add_parser(command.name, help=command.help)
        if command in (commands or COMMANDS):
            module = import_module(own_module(f"core.commands.{command.module}"))
            options.set_defaults(function=getattr(module, f"{command.name}_command"))
            getattr(module, f"add_{command.name}_command", lambda _: None)(options)
            for name in command.shared.split():
                getattr(import_module(own_module(SHARED[name])), f"add_{name}_options")(options)
    return parser


class CommandParser(argparse.ArgumentParser):
    """Parser of a command and of its subcommands; an error exits with 2."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the parsed arguments; an unknown argument is an error of the command's own parser."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = [name for name in unknown if name.startswith("-")]
            hint = suggested(options[0].partition("=")[0], self.option_names()) if options else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed, unknown

    @property
    def commands(self) -> dict[str, argparse.ArgumentParser]:
        """Return the parsers of the commands by their names."""
        added = next(action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return dict(added.choices)

    def option_names(self) -> list[str]:
        return [name for action in self._actions for name in action.option_strings]

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and the usage without options, and exit with 2."""
        shown = [action for action in self._actions if action.required or not action.option_strings]
        formatter = self._get_formatter()
        formatter.add_usage(f"%(prog)s{' [OPTION…]' if self.option_names() else ''} {self._arguments(shown)}", [], [])
        sys.stderr.write(f"{self.prog}: {message}\n{formatter.format_help()}`{self.prog} --help` explains them.\n")
        sys.exit(USAGE)

    def _arguments(self, actions: Iterable[argparse.Action]) -> str:
        """Return actions as argparse writes them in a usage."""
        formatter = self._get_formatter()
        formatter.add_usage(None, actions, [], prefix="")
        return " ".join(formatter.format_help().split()).removeprefix(self.prog).strip()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise ArgumentError, with the most similar choices, for a value that is none of an action's choices."""
        choices = [str(choice) for choice in action.choices or ()]
        if action.choices is None or value in action.choices:
            return
        what = "command" if isinstance(action, argparse._SubParsersAction) else "value"
        hint = suggested(str(value), choices) or f"; there are {', '.join(choices)}"
        raise argparse.ArgumentError(None if what == "command" else action, f"there is no {what} `{value}`{hint}")


def suggested(name: str, known: Sequence[str]) -> str:
    """Return `; did you mean …?` with the names that are most similar; empty without a similar name."""
    close = get_close_matches(name[:100], known, n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""
