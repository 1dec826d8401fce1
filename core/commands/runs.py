"""`python -m core runs`, `mark`, `prune`, `archive`, `import` and `profile`: stored runs.

`mark` sets a tag, a comment or a pin. `archive` writes runs to a file, and `import` adds the runs of such a file to the
store. `profile` adds a profile by torch.profiler to a run, and joins it to the run's log.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from core.base.errors import JobError, StoreError
from core.base.files import open_regular
from core.commands.output import FAILED, OK
from core.runs.comments import Anchor, Author, add_comment, set_pinned, set_tags, tags_of
from core.runs.index.database import RunIndex
from core.runs.remote import VARIABLE, ArchiveError, RemoteArchive, remote_archive
from core.runs.retention import DAYS, DELETES, SIZE, retain
from core.runs.sharing import import_archive, write_archive
from core.runs.store import Run, Store
from core.runs.stored import add_profile, open_report
from core.views.printed import as_text
from core.views.run_history import retention_view
from core.views.runs import ListedRun, RunLists, RunListView, freed_words, marks_words, size_words
from core.views.sharing import archived_words, imported_words
from core.views.timeline import HOW, NO_PROFILE, failed_profile, timeline, timeline_view

LISTED = 50
EVERYTHING = 10_000_000


def add_runs_command(command: argparse.ArgumentParser) -> None:
    _add_search(command)
    command.add_argument("--most", type=int, metavar="N", default=LISTED, help=f"runs to list; {LISTED} unless given")


def add_mark_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="stored run")
    command.add_argument("--tag", action="append", default=[], metavar="WORD", help="add a tag")
    command.add_argument("--untag", action="append", default=[], metavar="WORD", help="remove a tag")
    command.add_argument("--comment", metavar="TEXT", default="", help="add a comment on the run as a whole")
    pinned = command.add_mutually_exclusive_group()
    pinned.add_argument("--pin", action="store_true", help="protect the run from being deleted")
    pinned.add_argument("--unpin", action="store_true", help="let the run be deleted again")


def add_prune_command(command: argparse.ArgumentParser) -> None:
    _add_search(command)
    command.add_argument(
        "--keep", type=int, metavar="N", default=0, help="keep the newest N matching runs of each model"
    )
    command.add_argument("--due", action="store_true", help="the runs that are due by the store's rules, not a search")
    what = command.add_mutually_exclusive_group()
    what.add_argument("--delete", action="store_true", help="delete them; without it they are only listed")
    what.add_argument("--move", action="store_true", help="move their large files to the archive COMPILEBOARD_ARCHIVE")


def _add_search(command: argparse.ArgumentParser) -> None:
    # A term that excludes begins with a minus, as an option does.
    command.add_argument("search", nargs="*", metavar="TERM", help="model:gpt2 device:cuda is:failed before:90d words")
    command.add_argument("--not", action="append", default=[], dest="excluded", metavar="TERM", help="exclude a term")


def search_text(arguments: argparse.Namespace) -> str:
    """Return the search as one text, with a minus before each excluded term."""
    return " ".join([*arguments.search, *(f"-{term}" for term in arguments.excluded)])


def matching_runs(text: str, most: int = EVERYTHING) -> RunListView:
    """Return the stored runs that a search matches; notes go to standard error."""
    view = RunLists(RunIndex(Store())).every(text, most)
    for note in (*view.problems, view.in_memory):
        if note:
            print(note, file=sys.stderr)
    return view


def exact_runs(text: str) -> tuple[ListedRun, ...]:
    """Return the stored runs that a search matches; raises JobError if a term is not understood."""
    view = matching_runs(text)
    if view.problems:
        raise JobError("search", "a term is not understood, and runs are deleted or archived by exact searches alone")
    return view.runs


def runs_command(arguments: argparse.Namespace) -> int:
    view = matching_runs(search_text(arguments), max(1, arguments.most))
    if arguments.json:
        print(json.dumps({"total": view.total, "runs": [run.data for run in view.runs]}, indent=2))
        return OK
    for run in view.runs:
        print(run.line)
    print(view.listed_words, file=sys.stderr)
    return OK


def mark_command(arguments: argparse.Namespace) -> int:
    store = Store()
    run = store.open(arguments.run)
    if arguments.tag or arguments.untag:
        set_tags(run, {*tags_of(run), *arguments.tag} - {*arguments.untag})
    if arguments.pin or arguments.unpin:
        set_pinned(run, arguments.pin)
    if arguments.comment:
        add_comment(run, Author(), Anchor(), arguments.comment)
    RunIndex(store).update([run.path.name])
    print(marks_words(run))
    return OK


def prune_command(arguments: argparse.Namespace) -> int:
    if arguments.due:
        return _prune_due(arguments)
    text = search_text(arguments)
    if not text and not arguments.keep:
        raise JobError("prune", "name the runs by a search, such as is:failed or before:90d, or --keep N")
    away = " -is:archived" if arguments.move else ""
    candidates = _beyond(exact_runs(f"{text} is:ended -is:pinned{away}"), max(0, arguments.keep))
    if arguments.move:
        return _move([run.run for run in candidates])
    if not arguments.delete:
        for run in candidates:
            print(run.line)
        print(f"{size_words(candidates)}; add --delete to delete them, or --move", file=sys.stderr)
        return OK
    store = Store()
    deleted = [run for run in candidates if _delete(store, run)]
    print(size_words(deleted, " deleted"), file=sys.stderr)
    return OK


def _prune_due(arguments: argparse.Namespace) -> int:
    """List, or on request move or delete, the runs that are due by the retention rules."""
    if arguments.search or arguments.excluded or arguments.keep:
        raise JobError("prune", "--due takes the runs that the rules name, and no search and no --keep")
    index = RunIndex(Store())
    view = retention_view(index)
    if not view.rules.are_set:
        raise JobError("prune", f"there are no rules; set {DAYS} or {SIZE}")
    if not (arguments.move or arguments.delete):
        for entry in view.due.runs:
            print(ListedRun(index.run(entry.id), entry).line)
        print(view.words, file=sys.stderr)
        return OK
    if arguments.delete and (view.archive is not None or not view.rules.deletes):
        raise JobError("prune", f"--due --delete needs {DELETES}=1, and no archive, to which runs move instead")
    if arguments.move:
        _archive(index.store)
    runs, freed = retain(index, view.rules, view.archive)
    print(freed_words(runs, "moved" if arguments.move else "deleted", freed), file=sys.stderr)
    return OK


def _archive(store: Store) -> RemoteArchive:
    archive = remote_archive(store)
    if archive is None:
        raise JobError("prune", f"--move needs an archive; set {VARIABLE} to an address such as s3://bucket/runs")
    return archive


def _move(runs: Sequence[Run]) -> int:
    """Move the large files of runs to the archive, or print why not; returns the exit code."""
    store, moved, freed = Store(), 0, 0
    archive = _archive(store)
    for run in runs:
        try:
            freed += archive.move(run)
            moved += 1
        except ArchiveError:
            raise
        except StoreError as error:
            print(f"{run.id}: {error}", file=sys.stderr)
    archive.remove_deleted()
    print(freed_words(moved, "moved", freed), file=sys.stderr)
    return OK


def _beyond(runs: Sequence[ListedRun], keep: int) -> list[ListedRun]:
    """Return the runs that are not among the newest `keep` runs of their model."""
    seen: dict[str, int] = {}
    beyond = []
    for run in sorted(runs, key=lambda run: run.status.created_s, reverse=True):
        seen[run.status.title] = seen.get(run.status.title, 0) + 1
        if seen[run.status.title] > keep:
            beyond.append(run)
    return beyond


def _delete(store: Store, listed: ListedRun) -> bool:
    """Delete a run and return True; if the run cannot be deleted, print why and return False."""
    try:
        store.delete(listed.run)
    except StoreError as error:
        print(f"{listed.id}: {error}", file=sys.stderr)
        return False
    return True


def add_archive_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("search", nargs="+", metavar="RUN | TERM", help="ids of runs, or a search as in `runs`")
    command.add_argument("--out", metavar="FILE.tar.gz", required=True, help="file to write")


def add_import_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE.tar.gz", type=Path, help="file that `archive` has written")


def archive_command(arguments: argparse.Namespace) -> int:
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


def import_command(arguments: argparse.Namespace) -> int:
    imported = import_archive(Store(), arguments.file)
    for problem in imported.problems:
        print(problem, file=sys.stderr)
    for run in imported.added:
        print(run.id)
    print(imported_words(imported), file=sys.stderr)
    return FAILED if imported.problems else OK


def add_profile_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="stored run")
    command.add_argument("file", metavar="FILE", nargs="?", help="profile to store: JSON, or JSON compressed by gzip")


def profile_command(arguments: argparse.Namespace) -> int:
    run = Store().open(arguments.run)
    if arguments.file:
        _add_profile(run, Path(arguments.file))
    report = open_report(run)
    view = timeline_view(run, report)
    if view is None:
        raise StoreError(f"{failed_profile(report) or NO_PROFILE} {HOW}")
    print("\n".join(as_text(timeline(report, view))))
    return OK


def _add_profile(run: Run, path: Path) -> None:
    try:
        with open_regular(path) as file:
            add_profile(run, file)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from None
