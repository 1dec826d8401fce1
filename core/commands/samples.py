"""`python -m core samples`: the sample models."""

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
        print(json.dumps([{name: getattr(item, name) for name in FIELDS} for item in listed], indent=2))
        return OK
    width = max(len(item.name) for item in listed)
    for item in listed:
        print(f"{item.name:<{width}}  {item.title}: {item.teaches}")
    return OK
