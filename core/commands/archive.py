"""`python -m core archive`, `import` and `profile`: stored runs in one file, and profiles of runs.

`archive` writes runs to a file, and `import` adds the runs of such a file to the store. `profile` adds a
profile by torch.profiler to a run, and joins it to the run's log.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.base.errors import JobError, StoreError
from core.base.files import open_regular
from core.commands.output import FAILED, OK
from core.commands.runs import exact_runs
from core.runs.sharing import import_archive, write_archive
from core.runs.store import Run, Store
from core.runs.stored import add_profile, open_report
from core.views.printed import as_text
from core.views.sharing import archived_words, imported_words
from core.views.timeline import HOW, NO_PROFILE, failed_profile, timeline, timeline_view


def add_archive_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `archive`."""
    command.set_defaults(function=_archive)
    command.add_argument("search", nargs="+", metavar="RUN | TERM", help="ids of runs, or a search as in `runs`")
    command.add_argument("--out", metavar="FILE.tar.gz", required=True, help="file to write")


def add_import_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `import`."""
    command.set_defaults(function=_import)
    command.add_argument("file", metavar="FILE.tar.gz", type=Path, help="file that `archive` has written")


def _archive(arguments: argparse.Namespace) -> int:
    store, target = Store(), Path(arguments.out)
    stored = [name for name in arguments.search if (store.runs_dir / name).is_dir()]
    if len(stored) == len(arguments.search):
        runs = [store.open(name) for name in stored]
    else:
        runs = [listed.run for listed in exact_runs(" ".join([*arguments.search, "is:ended"]))]
    if not runs:
        raise JobError("archive", "no run that has ended matches")
    write_archive(runs, target)
    print(archived_words(target, len(runs)))
    return OK


def _import(arguments: argparse.Namespace) -> int:
    imported = import_archive(Store(), arguments.file)
    for problem in imported.problems:
        print(problem, file=sys.stderr)
    for run in imported.added:
        print(run.id)
    print(imported_words(imported), file=sys.stderr)
    return FAILED if imported.problems else OK


def add_profile_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `profile`."""
    command.set_defaults(function=_profile)
    command.add_argument("run", metavar="RUN", help="stored run")
    command.add_argument("file", metavar="FILE", nargs="?", help="profile to store: JSON, or JSON compressed by gzip")


def _profile(arguments: argparse.Namespace) -> int:
    run = Store().open(arguments.run)
    if arguments.file:
        _add(run, Path(arguments.file))
    report = open_report(run)
    view = timeline_view(run, report)
    if view is None:
        raise StoreError(f"{failed_profile(report) or NO_PROFILE} {HOW}")
    print("\n".join(as_text(timeline(report, view))))
    return OK


def _add(run: Run, path: Path) -> None:
    try:
        with open_regular(path) as file:
            add_profile(run, file)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from None
