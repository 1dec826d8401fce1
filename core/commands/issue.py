"""`python -m core issue`: a bug report about a stored run, in the form of PyTorch's issue template."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.output import Commands
from core.runs.store import Store
from core.views.issue import issue_of


def add_command(commands: Commands) -> None:
    """Add the command `issue`."""
    command = commands.add_parser("issue", help="a bug report about a stored run, in the form of PyTorch's template")
    command.set_defaults(function=_issue)
    command.add_argument("run", metavar="RUN", help="stored run to report")
    command.add_argument("--out", metavar="FILE.zip", help="write the report with its script, model, job and trace")


def _issue(arguments: argparse.Namespace) -> int:
    issue = issue_of(Store().open(arguments.run))
    if arguments.out:
        Path(arguments.out).write_bytes(issue.as_zip())
        print(arguments.out)
    else:
        print(issue.markdown, end="")
    return 0
