"""`python -m core options`: the options of `torch._inductor.config` and `torch._dynamo.config` here."""

from __future__ import annotations

import argparse
import json
import textwrap
from typing import get_args

import msgspec

from core.base.machine import ConfigModule, ConfigOption
from core.base.words import count, number
from core.commands.output import FAILED, OK, Commands, add_json_option, complain
from core.runs.engine.opening import environment_here
from core.views.setup import matching


def add_command(commands: Commands) -> None:
    """Add the command `options`."""
    command = commands.add_parser(
        "options", help="search the options of torch._inductor.config and torch._dynamo.config"
    )
    command.set_defaults(function=_list)
    command.add_argument("words", nargs="*", help="words in a name, an environment variable or torch's comment")
    command.add_argument("--module", choices=get_args(ConfigModule), help="options of one module")
    command.add_argument(
        "--changed", action="store_true", help="options that an environment variable or a program has set here"
    )
    add_json_option(command)


def _list(arguments: argparse.Namespace) -> int:
    """Print each option that matches; returns the exit code, `FAILED` if torch cannot start."""
    environment = environment_here()
    if environment.problem:
        return complain(environment.problem, FAILED)
    options = matching(environment.options, " ".join(arguments.words), arguments.module, arguments.changed)
    if arguments.json:
        print(json.dumps(msgspec.to_builtins(options), indent=2))
        return OK
    for option in options:
        print(_text(option))
    print(f"{number(len(options))} of {count(len(environment.options), 'option')} of torch {environment.torch}.")
    return OK


def _text(option: ConfigOption) -> str:
    """Return an option as lines: name and value, then what differs, then torch's comment."""
    head = option.full_name + (f": alias of {option.alias}" if option.alias else f" = {option.value}")
    facts = [
        f"default {option.default}" if option.changed else "",
        f"deprecated: {option.deprecated}" if option.deprecated else "",
        f"environment variables: {', '.join(option.variables)}" if option.variables else "",
        f"set here: {', '.join(option.environment)}" if option.environment else "",
    ]
    lines = [head, *filter(None, facts), *option.comment.splitlines()]
    return textwrap.indent("\n".join(lines), "    ").removeprefix("    ")
