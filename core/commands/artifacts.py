"""`python -m core artifacts`: the records of a run's log or of a log, as torch wrote them."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from core.commands.output import OK, Commands, add_json_option
from core.report import as_json
from core.runs.sides import opened_log
from core.runs.store import Store
from core.trace import index_of
from core.views.artifacts import ArtifactsView, artifacts_view
from core.views.markdown import CONTROL


def add_command(commands: Commands) -> None:
    """Add the command `artifacts`."""
    command = commands.add_parser("artifacts", help="the records of a log as torch wrote them")
    command.set_defaults(function=_artifacts)
    command.add_argument("what", metavar="RUN|LOG", help="stored run, log, or directory of a log")
    command.add_argument("--kind", default="", help="records of one kind, such as inductor_output_code")
    command.add_argument("--compilation", default="", metavar="ID", help="of one compilation, such as 0/0; - for none")
    command.add_argument("--search", default="", metavar="TEXT", help="records with a text in them")
    command.add_argument("--all", action="store_true", help="also chromium events and input descriptions")
    command.add_argument("--page", type=int, default=1, metavar="N", help="page of 1,000 records (1)")
    command.add_argument("--show", type=int, metavar="N", help="print the payload of record N as it is in the log")
    add_json_option(command)


def _artifacts(arguments: argparse.Namespace) -> int:
    with opened_log(arguments.what) as log:
        if log is not None:
            return _print(ArtifactsView(index_of(log.path)), arguments)
    return _print(artifacts_view(Store().open(arguments.what)), arguments)


def _print(whole: ArtifactsView, arguments: argparse.Namespace) -> int:
    view = ArtifactsView(whole.index, arguments.compilation, arguments.kind, arguments.search, arguments.all)
    view = replace(view, page=arguments.page)
    if arguments.show is not None:
        _write(view.raw(arguments.show)[1])
        return OK
    if arguments.json:
        print(as_json(view.rows).decode())
        return OK
    print(f"{view.title}. {view.note}".strip())
    for row in view.rows:
        print(f"{row['record']:>7}  {row['compilation']:<10} {row['bytes'] or 0:>10}  {row['kind']}")
    return OK


def _write(payload: bytes) -> None:
    """Write a payload as it is; to a terminal, without the characters that control one."""
    if sys.stdout.isatty():
        print(CONTROL.sub("�", payload.decode("utf-8", "replace")))
    else:
        sys.stdout.buffer.write(payload)
