"""Sharing of runs: archives for export and import, and links with a preview.

  <run id>/job.json, status.json, model.py, …, name.txt, note.txt, tags.txt, pinned, audience.txt,
          /comments.json, output.txt, profile.json, trials.json
          /trace/*.log
An archive has only files that owners, workers and torch wrote. Reports, summaries and graphs are made again
from the log. Results of kernel tools, programs and packages are left out.

A visitor with a link's token but without a role sees only a run's title, verdict and picture.
"""

import secrets
import shutil
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from core.base.decoder import decoded_as
from core.base.errors import CompileboardError, DecodeError, StoreError, TraceError
from core.base.files import (
    OWNER_ALONE,
    in_words,
    one_line,
    open_regular,
    read,
    read_line,
    regular,
    remove,
    write_atomically,
)
from core.base.words import RUN_ID, number
from core.runs.comments import COMMENTS, TAGS, import_talk
from core.runs.inputs.archives import kind_of, unpack
from core.runs.people import AUDIENCE, PRIVATE
from core.runs.remote import bring_back
from core.runs.status import Status
from core.runs.store import MAX_STATUS_BYTES, NAME, NOTE, PINNED, Run, Store
from core.runs.stored import TRIALS

STATUS = "status.json"
FILES = (
    *("job.json", "model.py", "original.py", "backend.py", "rival_backend.py", "rival_model.py"),
    *(NAME, NOTE, TAGS, PINNED, AUDIENCE, COMMENTS, "output.txt", "profile.json", TRIALS),
)
MOST_RUNS = 2_000  #: limit: runs of an exported archive
# Start of the author of an imported run; no address and no name of a guest has a space.
IMPORTED = "imported: "
MOST_AUTHOR_CHARS = 200  #: the author of an imported run
MAX_UNPACKED_BYTES = 64 * 1024**3  #: limit: an archive of runs, unpacked


@dataclass(frozen=True, slots=True)
class ImportedRuns:
    """Result of an import: added runs, ids that were already in the store, and problems of other runs."""

    added: tuple[Run, ...] = ()
    known: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def write_archive(runs: Sequence[Run], target: Path) -> None:
    """Write runs that have ended to a tar file with gzip; raises StoreError, CompileboardError."""
    if len(runs) > MOST_RUNS:
        raise StoreError(f"an archive has at most {number(MOST_RUNS)} runs, and these are {number(len(runs))}")
    for run in runs:
        if run.status().live:
            raise StoreError(f"the run {run.id} is still going; archive it when it has ended")
        bring_back(run)
    with in_words(target.parent), tarfile.open(target, "w:gz", compresslevel=6) as archive:
        for run in runs:
            _write(archive, run)


def _write(archive: tarfile.TarFile, run: Run) -> None:
    for path in _files_of(run.path):
        with open_regular(path) as file:
            member = archive.gettarinfo(arcname=f"{run.path.name}/{path.relative_to(run.path)}", fileobj=file)
            archive.addfile(_anonymous(member), file)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return a member without the names and ids of its owner."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def _files_of(directory: Path) -> list[Path]:
    """Return the files of a run that belong in an archive."""
    files = [directory / name for name in (STATUS, *FILES)]
    return [path for path in (*files, *sorted((directory / "trace").glob("*.log"))) if regular(path) is not None]


def import_archive(store: Store, source: Path, by: str = "") -> ImportedRuns:
    """Add the runs of an archive to a store with their ids; `by` is the visitor who adds them.

    An existing run with the same id stays unchanged. Nothing of an archive is executed or trusted. Raises StoreError,
    TraceError.
    """
    with in_words(source), open_regular(source) as file, in_words(store.home), _scratch(store) as unpacked:
        unpack(file, kind_of(file), unpacked, source.name, MAX_UNPACKED_BYTES)
        if not unpacked.is_dir():
            raise TraceError(f"{source.name} is no archive of runs")
        return _added(store, sorted(unpacked.iterdir()), by)


@contextmanager
def _scratch(store: Store) -> Iterator[Path]:
    """Yield a path below a new directory, which is removed at the end, or later by its name and age."""
    scratch = store.runs_dir / f".{secrets.token_hex(8)}.{secrets.token_hex(4)}"
    scratch.mkdir(mode=OWNER_ALONE)
    try:
        yield scratch / "runs"
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _added(store: Store, directories: Iterable[Path], by: str) -> ImportedRuns:
    added, known, problems = [], [], []
    for directory in directories:
        name = one_line(directory.name, 100)
        try:
            status = _status(directory)
            if (store.runs_dir / directory.name).exists():
                known.append(name)
                continue
            added.append(_add(store, directory, replace(status, by=by or _imported_author(status.by))))
        except CompileboardError as error:
            problems.append(f"{name}: {error}")
    return ImportedRuns(tuple(added), tuple(known), tuple(problems))


def _imported_author(name: str) -> str:
    """Return the author of a run from another server, who is nobody of this server; empty for its owner."""
    name = one_line(name.removeprefix(IMPORTED), MOST_AUTHOR_CHARS)
    return f"{IMPORTED}{name}" if name else ""


def _status(directory: Path) -> Status:
    """Return the status of an unpacked run; raises StoreError if it is not a run that has ended."""
    if not RUN_ID.fullmatch(directory.name):
        raise StoreError("it is not named as a run")
    try:
        status = decoded_as(read(directory / STATUS, MAX_STATUS_BYTES), Status)
    except (OSError, DecodeError) as error:
        raise StoreError(f"its status cannot be read: {error}") from None
    if status.live:
        raise StoreError("it had not ended")
    return replace(status, handle="", in_process=False)


def _add(store: Store, directory: Path, status: Status) -> Run:
    with store.making(status.title, directory.name) as fresh:
        for path in _files_of(directory):
            if path.name not in (STATUS, COMMENTS):
                shutil.move(path, fresh.path / path.relative_to(directory))
        import_talk(directory, fresh.path)
        fresh.write_status(status)
    return store.open(fresh.id)


TOKEN = "preview.txt"
MOST_TOKEN_CHARS = 64  #: the token of a preview link


def preview_token(run: Run) -> str:
    """Return the token of the run's link; empty without one."""
    return read_line(run.path / TOKEN, MOST_TOKEN_CHARS)


def set_preview(run: Run, allowed: bool) -> None:
    """Create a new token for the run's link, or remove the token; raises StoreError."""
    with in_words(run.path):
        path = run.path / TOKEN
        write_atomically(path, secrets.token_urlsafe(24).encode()) if allowed else remove(path)


def may_preview(run: Run, token: str) -> bool:
    """Return True if the token is the run's, in constant time, and the run is not private."""
    own = preview_token(run)
    same = bool(own) and secrets.compare_digest(own.encode(), token.encode("utf-8", "replace"))
    return same and run.audience() != PRIVATE
