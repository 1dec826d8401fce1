"""`python -m core audit`: what people changed on a server where they sign in, and what was refused to them."""

from __future__ import annotations

import argparse
import sys
import time

from core.base.files import one_line
from core.commands.output import OK, Commands, add_json_option
from core.report import as_json
from core.runs.audit import MOST_TEXT_CHARS, events
from core.runs.store import Store


def add_command(commands: Commands) -> None:
    """Add the command `audit`."""
    command = commands.add_parser("audit", help="list what people changed on this server")
    command.set_defaults(function=_audit)
    command.add_argument("--by", metavar="ADDRESS", default="", help="actions of one person")
    command.add_argument("--refused", action="store_true", help="only what was refused")
    add_json_option(command)


def _audit(arguments: argparse.Namespace) -> int:
    listed = [
        event
        for event in events(Store().home)
        if arguments.by in ("", event.by) and not (arguments.refused and event.outcome != "refused")
    ]
    if arguments.json:
        sys.stdout.write(as_json(listed).decode() + "\n")
        return OK
    for event in listed:
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(event.at_s))
        texts = (event.by, event.action, event.subject, event.outcome, event.reason)
        print("  ".join((at, *filter(None, (one_line(text, MOST_TEXT_CHARS) for text in texts)))))
    return OK
