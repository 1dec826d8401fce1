"""`python -m core runs`, `mark` and `prune`: list and search stored runs, tag and pin them, delete many at once."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from core.base.errors import JobError, StoreError
from core.base.words import bytes_, count, number
from core.commands.output import OK, Commands, add_json_option
from core.runs.comments import Anchor, Author, add_comment
from core.runs.index import RunIndex
from core.runs.marks import set_pinned, set_tags, tags_of
from core.runs.store import Store
from core.views.runs import ListedRun, RunLists, RunListView

LISTED = 50
EVERYTHING = 10_000_000


def add_command(commands: Commands) -> None:
    """Add the command `runs`."""
    command = commands.add_parser("runs", help="list stored runs, newest first, or those that a search matches")
    command.set_defaults(function=_list)
    _add_search(command)
    command.add_argument("--most", type=int, metavar="N", default=LISTED, help=f"runs to list; {LISTED} unless given")
    add_json_option(command)


def add_mark_command(commands: Commands) -> None:
    """Add the command `mark`."""
    command = commands.add_parser("mark", help="tag a stored run, comment on it, or pin it so that it is not deleted")
    command.set_defaults(function=_mark)
    command.add_argument("run", metavar="RUN", help="stored run")
    command.add_argument("--tag", action="append", default=[], metavar="WORD", help="add a tag")
    command.add_argument("--untag", action="append", default=[], metavar="WORD", help="remove a tag")
    command.add_argument("--comment", metavar="TEXT", default="", help="add a comment on the run as a whole")
    pinned = command.add_mutually_exclusive_group()
    pinned.add_argument("--pin", action="store_true", help="protect the run from being deleted")
    pinned.add_argument("--unpin", action="store_true", help="let the run be deleted again")


def add_prune_command(commands: Commands) -> None:
    """Add the command `prune`."""
    command = commands.add_parser("prune", help="delete stored runs that a search matches, except pinned and live ones")
    command.set_defaults(function=_prune)
    _add_search(command)
    command.add_argument(
        "--keep", type=int, metavar="N", default=0, help="keep the newest N matching runs of each model"
    )
    command.add_argument("--delete", action="store_true", help="delete them; without it they are only listed")


def _add_search(command: argparse.ArgumentParser) -> None:
    # A term that excludes begins with a minus, as an option does.
    command.add_argument("search", nargs="*", metavar="TERM", help="model:gpt2 device:cuda is:failed before:90d words")
    command.add_argument("--not", action="append", default=[], dest="excluded", metavar="TERM", help="exclude a term")


def search_text(arguments: argparse.Namespace) -> str:
    """Return the search text of the terms."""
    return " ".join([*arguments.search, *(f"-{term}" for term in arguments.excluded)])


def matching_runs(text: str, most: int = EVERYTHING) -> RunListView:
    """Return the stored runs that a search matches; notes go to standard error."""
    view = RunLists(RunIndex(Store())).every(text, most)
    for note in (*view.problems, view.in_memory):
        if note:
            print(note, file=sys.stderr)
    return view


def exact_runs(text: str) -> tuple[ListedRun, ...]:
    """Return the stored runs that a search matches; raises JobError for a term that is no filter."""
    view = matching_runs(text)
    if view.problems:
        raise JobError("search", "a term is not understood, and runs are deleted or archived by exact searches alone")
    return view.runs


def _list(arguments: argparse.Namespace) -> int:
    view = matching_runs(search_text(arguments), max(1, arguments.most))
    if arguments.json:
        print(json.dumps({"total": view.total, "runs": [run.data for run in view.runs]}, indent=2))
        return OK
    for run in view.runs:
        print(run.line)
    left = f", {number(len(view.runs))} listed (--most N)" if len(view.runs) < view.total else ""
    print(f"{view.total_words}{left}", file=sys.stderr)
    return OK


def _mark(arguments: argparse.Namespace) -> int:
    store = Store()
    run = store.open(arguments.run)
    if arguments.tag or arguments.untag:
        set_tags(run, {*tags_of(run), *arguments.tag} - {*arguments.untag})
    if arguments.pin or arguments.unpin:
        set_pinned(run, arguments.pin)
    if arguments.comment:
        add_comment(run, Author(), Anchor(), arguments.comment)
    RunIndex(store).update([run.path.name])
    print(" · ".join([*tags_of(run), *(["pinned"] if run.pinned else [])]) or "no tags, not pinned")
    return OK


def _prune(arguments: argparse.Namespace) -> int:
    text = search_text(arguments)
    if not text and not arguments.keep:
        raise JobError("prune", "name the runs by a search, such as is:failed or before:90d, or --keep N")
    candidates = _beyond(exact_runs(f"{text} is:ended -is:pinned"), max(0, arguments.keep))
    size = bytes_(sum(run.entry.size_bytes or 0 for run in candidates))
    if not arguments.delete:
        for run in candidates:
            print(run.line)
        print(f"{count(len(candidates), 'run')}, {size}; add --delete to delete them", file=sys.stderr)
        return OK
    store = Store()
    deleted = sum(_delete(store, run) for run in candidates)
    print(f"{count(deleted, 'run')} deleted, {size}", file=sys.stderr)
    return OK


def _beyond(runs: Sequence[ListedRun], keep: int) -> list[ListedRun]:
    """Return the runs without the newest `keep` of each model."""
    seen: dict[str, int] = {}
    beyond = []
    for run in sorted(runs, key=lambda run: run.status.created_s, reverse=True):
        seen[run.status.title] = seen.get(run.status.title, 0) + 1
        if seen[run.status.title] > keep:
            beyond.append(run)
    return beyond


def _delete(store: Store, listed: ListedRun) -> bool:
    """Delete a run; print why, if it cannot be deleted."""
    try:
        store.delete(listed.run)
    except StoreError as error:
        print(f"{listed.id}: {error}", file=sys.stderr)
        return False
    return True
