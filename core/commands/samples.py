"""`python -m core samples`: list the sample models."""

from __future__ import annotations

import argparse
import json

from core.commands.output import OK, Commands, add_json_option
from core.job.gallery import samples

FIELDS = ("name", "title", "teaches", "group", "training", "twin")


def add_command(commands: Commands) -> None:
    """Add the command `samples`."""
    command = commands.add_parser("samples", help="list the sample models")
    command.set_defaults(function=_list)
    add_json_option(command)


def _list(arguments: argparse.Namespace) -> int:
    listed = samples()
    if arguments.json:
        print(json.dumps([{name: getattr(sample, name) for name in FIELDS} for sample in listed], indent=2))
        return OK
    width = max(len(sample.name) for sample in listed)
    for sample in listed:
        print(f"{sample.name:<{width}}  {sample.title}: {sample.teaches}")
    return OK
