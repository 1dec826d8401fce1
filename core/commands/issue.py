"""`python -m core issue`: a bug report about a stored run, in the form of PyTorch's issue template."""

from __future__ import annotations

import argparse

from core.commands.export import add_scrub_options, scrubber_of
from core.commands.output import Commands, write_file
from core.runs.store import Store
from core.views.run_files import RunFiles


def add_command(commands: Commands) -> None:
    """Add the command `issue`."""
    command = commands.add_parser("issue", help="a bug report about a stored run, in the form of PyTorch's template")
    command.set_defaults(function=_issue)
    command.add_argument("run", metavar="RUN", help="stored run to report")
    command.add_argument("--out", metavar="FILE.zip", help="write the report with its script, model, job and trace")
    add_scrub_options(command)


def _issue(arguments: argparse.Namespace) -> int:
    files = RunFiles(Store().open(arguments.run))
    scrubber = scrubber_of(files, arguments)
    if arguments.scrub_preview:
        print("\n".join(scrubber.preview) or "nothing to scrub")
    elif arguments.out:
        write_file(arguments.out, files.issue_zip(scrubber))
        print(arguments.out)
    else:
        print(files.issue_markdown(scrubber), end="")
    return 0
