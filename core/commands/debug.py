"""`python -m core debug`: the files of TORCH_COMPILE_DEBUG=1 from the log of a stored run."""

from __future__ import annotations

import argparse

from core.base.words import count
from core.commands.export import add_scrub_options, scrubber_of
from core.commands.output import Commands, write_file
from core.runs.store import Store
from core.views.run_files import RunFiles, debug_folder


def add_command(commands: Commands) -> None:
    """Add the command `debug`."""
    command = commands.add_parser("debug", help="the files of TORCH_COMPILE_DEBUG=1, from the log of a stored run")
    command.set_defaults(function=_debug)
    command.add_argument("run", metavar="RUN", help="stored run with its debug files")
    command.add_argument("--out", metavar="FILE.zip", help="write the files; without it, their names are printed")
    add_scrub_options(command)


def _debug(arguments: argparse.Namespace) -> int:
    run = Store().open(arguments.run)
    scrubber = scrubber_of(RunFiles(run), arguments)
    if arguments.scrub_preview:
        print("\n".join(scrubber.preview) or "nothing to scrub")
        return 0
    folder = debug_folder(run)
    if arguments.out:
        write_file(arguments.out, folder.as_zip(scrubber))
    print(f"{folder.title}. {folder.missing}".rstrip())
    for path, text in folder.files():
        print(f"  {path}  {count(len(text), 'character')}")
    return 0
