"""Comments on a run and its parts, pinned parts, and the owner's marks: tags, and a pin of the run.

`<run>/comments.json` has the comments and the pinned parts. A change replaces the file under the lock
`comments.lock`. So writers in several processes keep each other's comments, and a deleted text is gone from
the disk. The tags are in `tags.txt`. The file `pinned` protects the run from deletion.
"""

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec
from filelock import FileLock, Timeout

from core.base.decoder import decoded_as
from core.base.errors import AccessError, DecodeError, StoreError
from core.base.files import in_words, one_line, read, read_line, regular, remove, write_atomically
from core.base.words import limit_s, number
from core.runs.status import Seconds
from core.runs.store import PINNED, Run

COMMENTS, LOCK = "comments.json", "comments.lock"
MOST_COMMENTS = 300  #: limit: comments on a run
# Comments of one person on one run, admins excepted, so that nobody takes all the room.
MOST_OF_ONE_PERSON = 100  #: limit: comments of one person on a run, admins excepted
# Further comments on one run that only admins write, so that nobody can silence them.
MOST_FURTHER_OF_ADMINS = 100  #: limit: further comments that only admins write on a run
# Comments of one person on one run within RATE_S, admins excepted.
MOST_AT_A_RATE = 20  #: limit: comments of one person on a run in 10 min, admins excepted
RATE_S = 600.0
MOST_COMMENT_CHARS = 2_000  #: limit: a comment
MOST_NAME_CHARS = 200  #: author and id of a comment from another server
MOST_PINNED_PARTS = 50  #: limit: pinned parts of a run
MOST_PART_CHARS = 500  #: the name of a part with comments
MAX_COMMENTS_BYTES = 8_000_000  #: the file of a run's comments
LOCK_S = 5.0
DIGEST_CHARS = 12
Part = Literal[
    "run", "node", "module", "scheduler node", "kernel", "line", "generated line", "graph break", "recompile"
]


@dataclass(frozen=True, slots=True)
class Anchor:
    """Anchor of a comment: a part of a run, identified by torch's names; by default the run as a whole.

    `compilation` is a compile id, `graph` the id of one of its graphs; `name` is an FX node, a scheduler node, a
    kernel's id, or the path of a file. `digest` is the digest of a line's text, or of a graph break's reason; it shows
    whether the text has changed.
    """

    part: Part = "run"
    compilation: str = ""
    graph: str = ""
    name: str = ""
    line: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, or a reply to the comment `reply_to`; a reply has no replies.

    `by` is its author as in a run's status: empty for the server's owner. A deleted comment has no text. The first
    comment of a thread is resolved by `resolved_by` if `resolved_s` is set. `imported` is True if the comment is from
    another server, whose authors are not people of this server.
    """

    id: str
    at_s: Seconds
    by: str
    text: str
    anchor: Anchor = Anchor()
    reply_to: str = ""
    edited_s: Seconds | None = None
    deleted_s: Seconds | None = None
    resolved_s: Seconds | None = None
    resolved_by: str = ""
    imported: bool = False


@dataclass(frozen=True, slots=True)
class Pin:
    """A part of a run that a person has pinned."""

    anchor: Anchor
    at_s: Seconds
    by: str
    imported: bool = False


@dataclass(frozen=True, slots=True)
class Talk:
    """All comments on a run, oldest first, and its pinned parts."""

    comments: tuple[Comment, ...] = ()
    pins: tuple[Pin, ...] = ()

    @property
    def open_threads(self) -> int:
        """Return the number of threads that are neither resolved nor deleted as a whole."""
        return sum(not (first.reply_to or first.resolved_s) and self._is_there(first) for first in self.comments)

    def _is_there(self, first: Comment) -> bool:
        return any(each.deleted_s is None for each in self.comments if first.id in (each.id, each.reply_to))


@dataclass(frozen=True, slots=True)
class Author:
    """An author of comments; `name` is empty for the server's owner.

    An author with `is_admin` may change the comments of others.
    """

    name: str = ""
    is_admin: bool = True

    def may_change(self, comment: Comment) -> bool:
        """Return True if this author may edit and delete the comment."""
        return self.is_admin or (comment.by == self.name and not comment.imported)

    def require_own(self, comment: Comment) -> None:
        """Raise AccessError unless this author may edit and delete the comment."""
        if not self.may_change(comment):
            raise AccessError("only its author, and the admins of this server, may change a comment")


def digest_of(text: str) -> str:
    """Return the digest that identifies a line or a reason, without surrounding spaces."""
    return hashlib.sha256(text.strip().encode("utf-8", "replace")).hexdigest()[:DIGEST_CHARS]


def talk_of(run: Run) -> Talk:
    """Return the comments and pinned parts of a run; raises StoreError if their file cannot be read."""
    try:
        return decoded_as(read(run.path / COMMENTS, MAX_COMMENTS_BYTES), Talk)
    except FileNotFoundError:
        return Talk()
    except (OSError, DecodeError) as error:
        why = f"the comments of run {run.path.name} cannot be read ({error})"
        raise StoreError(f"{why}; the server's owner can repair or remove {COMMENTS} in its directory") from None


def talk_moment(run: Run) -> tuple[int, int] | None:
    """Return a value that changes with the comments and pins of a run; None if the run is gone."""
    if file := regular(run.path / COMMENTS):
        return file.st_ino, file.st_mtime_ns
    return (0, 0) if run.path.is_dir() else None


def add_comment(run: Run, author: Author, anchor: Anchor, text: str, reply_to: str = "") -> Comment:
    """Add a comment, or a reply to the first comment of a thread; return it. Raises StoreError."""

    def added(talk: Talk) -> Talk:
        first = _comment(talk, reply_to) if reply_to else None
        if first is not None and first.reply_to:
            raise StoreError("a reply has no replies; reply to the first comment")
        talk = _with_room(talk, author)
        place = _bounded(first.anchor if first else anchor)
        fresh = Comment(secrets.token_hex(6), time.time(), author.name, _checked(text), place, reply_to)
        return replace(talk, comments=(*talk.comments, fresh))

    return _change(run, added).comments[-1]


def edit_comment(run: Run, author: Author, comment_id: str, text: str) -> None:
    """Replace the text of a comment; raises StoreError, AccessError."""

    def edited(comment: Comment) -> Comment:
        author.require_own(comment)
        if comment.deleted_s is not None:
            raise StoreError("the comment was deleted")
        return replace(comment, text=_checked(text), edited_s=time.time())

    _change_comment(run, comment_id, edited)


def delete_comment(run: Run, author: Author, comment_id: str) -> None:
    """Delete the text of a comment; the empty comment stays in its thread. Raises StoreError, AccessError."""

    def deleted(comment: Comment) -> Comment:
        author.require_own(comment)
        return replace(comment, text="", deleted_s=time.time())

    _change_comment(run, comment_id, deleted)


def resolve_comment(run: Run, author: Author, comment_id: str, resolved: bool) -> None:
    """Resolve or reopen a thread by its first comment; raises StoreError."""

    def settled(comment: Comment) -> Comment:
        if comment.reply_to:
            raise StoreError("a thread is resolved by its first comment")
        return replace(comment, resolved_s=time.time() if resolved else None, resolved_by=author.name * resolved)

    _change_comment(run, comment_id, settled)


def pin_part(run: Run, author: Author, anchor: Anchor, pinned: bool) -> None:
    """Pin or unpin a part of a run; raises StoreError."""
    anchor = _bounded(anchor)

    def changed(talk: Talk) -> Talk:
        pins = [pin for pin in talk.pins if pin.anchor != anchor]
        if pinned and len(pins) >= MOST_PINNED_PARTS:
            raise StoreError(f"a run has at most {number(MOST_PINNED_PARTS)} pinned parts; unpin one first")
        fresh = [Pin(anchor, time.time(), author.name)] if pinned else []
        return replace(talk, pins=(*pins, *fresh))

    _change(run, changed)


def import_talk(source: Path, target: Path) -> None:
    """Copy the comments and pins of a run from another server, marked as imported; raises StoreError."""
    if not (source / COMMENTS).exists():
        return
    talk = talk_of(Run(source.name, source))
    comments = tuple(
        replace(
            comment,
            id=one_line(comment.id, MOST_NAME_CHARS),
            by=one_line(comment.by, MOST_NAME_CHARS),
            reply_to=one_line(comment.reply_to, MOST_NAME_CHARS),
            resolved_by=one_line(comment.resolved_by, MOST_NAME_CHARS),
            anchor=_bounded(comment.anchor),
            text=_cleaned(comment.text),
            imported=True,
        )
        for comment in talk.comments[:MOST_COMMENTS]
    )
    pins = tuple(
        replace(pin, anchor=_bounded(pin.anchor), by=one_line(pin.by, MOST_NAME_CHARS), imported=True)
        for pin in talk.pins[:MOST_PINNED_PARTS]
    )
    write_atomically(target / COMMENTS, msgspec.json.encode(Talk(comments, pins)))


def _change(run: Run, change: Callable[[Talk], Talk]) -> Talk:
    """Change a run's comments and pins under the lock; write and return them. Raises StoreError."""
    with in_words(run.path), _locked(run.path):
        before = talk_of(run)
        after = change(before)
        if after != before:
            write_atomically(run.path / COMMENTS, msgspec.json.encode(after))
        return after


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Lock a run's comments inside the context; raises StoreError if another process has them too long."""
    path = directory / LOCK
    # Only a regular file can be locked by our processes; the code of a run may have put something else there.
    if os.path.lexists(path) and regular(path, links=False) is None:
        remove(path)
    lock = FileLock(path, LOCK_S, 0o600, thread_local=False, fallback_to_soft=False)
    try:
        with lock:
            yield
    except Timeout:
        raise StoreError("another visitor is writing comments on this run; try again") from None


def _change_comment(run: Run, comment_id: str, change: Callable[[Comment], Comment]) -> None:
    def changed(talk: Talk) -> Talk:
        before = _comment(talk, comment_id)
        after = change(before)
        return replace(talk, comments=tuple(after if each is before else each for each in talk.comments))

    _change(run, changed)


def _comment(talk: Talk, comment_id: str) -> Comment:
    comment = next((comment for comment in talk.comments if comment.id == comment_id), None)
    if comment is None:
        raise StoreError("there is no such comment on this run")
    return comment


def _with_room(talk: Talk, author: Author) -> Talk:
    """Return the comments with room for one more; raises StoreError if there is none.

    At the bound, deleted comments without replies are dropped. Comments from another server have no author here.
    """
    own = [comment for comment in talk.comments if comment.by == author.name and not comment.imported]
    most = MOST_COMMENTS + MOST_FURTHER_OF_ADMINS * author.is_admin
    if len(talk.comments) >= most:
        talk = replace(talk, comments=_without_deleted(talk.comments))
    if len(talk.comments) >= most:
        raise StoreError(f"a run has at most {number(most)} comments; delete some first")
    if author.is_admin:
        return talk
    if sum(comment.deleted_s is None for comment in own) >= MOST_OF_ONE_PERSON:
        raise StoreError(f"one person writes at most {number(MOST_OF_ONE_PERSON)} comments on a run")
    since_s = time.time() - RATE_S
    if sum(comment.at_s > since_s for comment in own) >= MOST_AT_A_RATE:
        raise StoreError(f"one person writes at most {MOST_AT_A_RATE} comments on a run in {limit_s(RATE_S)}")
    return talk


def _without_deleted(comments: tuple[Comment, ...]) -> tuple[Comment, ...]:
    """Return the comments without the deleted ones that have no replies left."""
    answered = {comment.reply_to for comment in comments if comment.deleted_s is None}
    return tuple(comment for comment in comments if comment.deleted_s is None or comment.id in answered)


def _checked(text: str) -> str:
    """Return a comment's text without invisible characters; raises StoreError if it is empty or too long."""
    if len(text) > MOST_COMMENT_CHARS:
        raise StoreError(
            f"a comment has at most {number(MOST_COMMENT_CHARS)} characters, and this has {number(len(text))}"
        )
    if not (cleaned := _cleaned(text)):
        raise StoreError("a comment needs a text")
    return cleaned


def _cleaned(text: str) -> str:
    """Return a text of at most `MOST_COMMENT_CHARS`, with a space for each invisible character or mark."""
    lines = ("".join(letter if letter.isprintable() else " " for letter in line) for line in text.splitlines())
    return "\n".join(line.rstrip() for line in lines).strip("\n")[:MOST_COMMENT_CHARS]


def _bounded(anchor: Anchor) -> Anchor:
    """Return an anchor with each text limited to one short line."""
    texts = anchor.compilation, anchor.graph, anchor.name, anchor.digest
    compilation, graph, name, digest = (one_line(text, MOST_PART_CHARS) for text in texts)
    return replace(anchor, compilation=compilation, graph=graph, name=name, digest=digest)


TAGS = "tags.txt"
MOST_TAGS = 20  #: limit: tags of a run
MOST_TAG_CHARS = 40  #: limit: a tag


def tags_of(run: Run) -> tuple[str, ...]:
    """Return the tags of a run, sorted."""
    words = read_line(run.path / TAGS, MOST_TAGS * (MOST_TAG_CHARS + 1)).split()
    return tuple(sorted({word[:MOST_TAG_CHARS] for word in words}))


def set_tags(run: Run, tags: Iterable[str]) -> None:
    """Set the tags of a run, one for each word; without words, remove all tags. Raises StoreError."""
    words = sorted({one_line(word, MOST_TAG_CHARS) for tag in tags for word in tag.split()})[:MOST_TAGS]
    with in_words(run.path):
        write_atomically(run.path / TAGS, " ".join(words).encode())


def set_pinned(run: Run, pinned: bool) -> None:
    """Protect a run from deletion, or remove the protection; raises StoreError."""
    with in_words(run.path):
        write_atomically(run.path / PINNED, b"") if pinned else remove(run.path / PINNED)
