"""Comments on a run: what each author may do, and that nothing of them is lost, trusted or left behind."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core import AccessError, Run, Store, StoreError
from core.runs import comments
from core.runs.comments import (
    COMMENTS,
    MOST_COMMENT_CHARS,
    Anchor,
    Author,
    Comment,
    Pin,
    Talk,
    add_comment,
    delete_comment,
    digest_of,
    edit_comment,
    pin_part,
    resolve_comment,
    talk_moment,
    talk_of,
)
from core.runs.index.database import RunIndex
from core.runs.index.query import RunQuery
from core.runs.sharing import import_archive, write_archive
from tests.support.homes import add_scenario
from tests.support.places import ROOT

OWNER, ADA, BOB = Author(), Author("ada@example.org", is_admin=False), Author("bob@example.org", is_admin=False)
KERNEL = Anchor("kernel", "0/0", "inductor_post_grad_graph.forward", "0/0.forward.cpp_fused_gelu_0")
WRITER = """
import sys
from pathlib import Path
from core.runs.comments import Anchor, Author, add_comment
from core.runs.store import Run
path, name = Path(sys.argv[1]), sys.argv[2]
for number in range(20):
    add_comment(Run(path.name, path), Author(name), Anchor(), f"{name} {number}")
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


@pytest.fixture
def run(store: Store) -> Run:
    return store.open(add_scenario(store.home, "eager_backend"))


def texts(run: Run) -> list[str]:
    return [comment.text for comment in talk_of(run).comments]


def test_the_moment_of_comments_changes_with_them_alone(run: Run, store: Store) -> None:
    moments = [talk_moment(run)]
    (run.path / "other.json").touch()
    moments.append(talk_moment(run))
    first = add_comment(run, ADA, Anchor(), "why?")
    moments.append(talk_moment(run))
    resolve_comment(run, BOB, first.id, resolved=True)
    moments.append(talk_moment(run))
    store.delete(run)
    assert moments[0] == moments[1] == (0, 0)
    assert len({*moments, talk_moment(run)}) == 4
    assert talk_moment(run) is None


def test_a_thread_is_written_answered_edited_resolved_and_deleted(run: Run) -> None:
    first = add_comment(run, ADA, KERNEL, "Why is this\nnot fused?\u202e\n")
    reply = add_comment(run, BOB, Anchor(), "Different devices.", reply_to=first.id)
    assert (first.text, first.by, first.anchor) == ("Why is this\nnot fused?", "ada@example.org", KERNEL)
    assert (reply.anchor, reply.reply_to) == (KERNEL, first.id)
    edit_comment(run, ADA, first.id, "Why?")
    resolve_comment(run, BOB, first.id, resolved=True)
    edited, _ = talk_of(run).comments
    assert (edited.text, edited.edited_s is not None, edited.resolved_by) == ("Why?", True, "bob@example.org")
    assert talk_of(run).open_threads == 0
    resolve_comment(run, ADA, first.id, resolved=False)
    assert talk_of(run).open_threads == 1
    delete_comment(run, ADA, first.id)
    assert texts(run) == ["", "Different devices."]
    assert talk_of(run).open_threads == 1
    delete_comment(run, OWNER, reply.id)
    assert talk_of(run).open_threads == 0
    assert b"Why" not in (run.path / COMMENTS).read_bytes()


@pytest.mark.promise("people")
def test_only_the_author_and_admins_change_a_comment(run: Run) -> None:
    """A comment is changed and deleted by its author and admins only."""
    first = add_comment(run, ADA, Anchor(), "mine")
    changes: tuple[Callable[[], object], ...] = (
        lambda: edit_comment(run, BOB, first.id, "yours"),
        lambda: delete_comment(run, BOB, first.id),
    )
    for change in changes:
        with pytest.raises(AccessError, match="only its author"):
            change()
    edit_comment(run, OWNER, first.id, "ours")
    delete_comment(run, OWNER, first.id)
    with pytest.raises(StoreError, match="was deleted"):
        edit_comment(run, ADA, first.id, "again")


@pytest.mark.parametrize(
    ("text", "reply_to", "reason"),
    [
        (" \n\t", "", "needs a text"),
        ("x" * (MOST_COMMENT_CHARS + 1), "", "at most 2,000 characters, and this has 2,001"),
        ("text", "no-such-id", "no such comment"),
    ],
)
def test_what_is_no_comment_is_refused(run: Run, text: str, reply_to: str, reason: str) -> None:
    with pytest.raises(StoreError, match=reason):
        add_comment(run, ADA, Anchor(), text, reply_to)
    assert not (run.path / COMMENTS).exists()


def test_a_reply_has_no_replies(run: Run) -> None:
    first = add_comment(run, ADA, Anchor(), "first")
    reply = add_comment(run, BOB, Anchor(), "reply", first.id)
    with pytest.raises(StoreError, match="a reply has no replies"):
        add_comment(run, BOB, Anchor(), "deeper", reply.id)
    with pytest.raises(StoreError, match="by its first comment"):
        resolve_comment(run, BOB, reply.id, resolved=True)


def test_there_is_room_for_everybody(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comments, "MOST_COMMENTS", 3)
    monkeypatch.setattr(comments, "MOST_OF_ONE_PERSON", 1)
    monkeypatch.setattr(comments, "MOST_PINNED_PARTS", 1)
    add_comment(run, ADA, Anchor(), "1")
    with pytest.raises(StoreError, match="one person writes at most 1"):
        add_comment(run, ADA, Anchor(), "2")
    add_comment(run, OWNER, Anchor(), "2")
    add_comment(run, OWNER, Anchor(), "3")
    with pytest.raises(StoreError, match="at most 3 comments"):
        add_comment(run, BOB, Anchor(), "4")
    pin_part(run, ADA, KERNEL, pinned=True)
    pin_part(run, BOB, KERNEL, pinned=True)
    with pytest.raises(StoreError, match="at most 1 pinned parts"):
        pin_part(run, BOB, Anchor(), pinned=True)
    assert [pin.anchor for pin in talk_of(run).pins] == [KERNEL]
    pin_part(run, ADA, KERNEL, pinned=False)
    assert talk_of(run).pins == ()


@pytest.mark.promise("people")
def test_nobody_silences_the_owner_and_deleted_comments_make_room(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of comments on a run is limited, except for admins; deleted comments make room."""
    monkeypatch.setattr(comments, "MOST_COMMENTS", 3)
    first, second, third = (add_comment(run, ADA, Anchor(), text) for text in "123")
    reply = add_comment(run, OWNER, Anchor(), "the owner still writes", first.id)
    with pytest.raises(StoreError, match="a run has at most 3 comments; delete some first"):
        add_comment(run, BOB, Anchor(), "no room")
    for comment in (first, second, third):
        delete_comment(run, OWNER, comment.id)
    fresh = add_comment(run, BOB, Anchor(), "room again")
    assert [comment.id for comment in talk_of(run).comments] == [first.id, reply.id, fresh.id]


@pytest.mark.promise("people")
def test_a_person_writes_so_many_comments_in_a_while_and_deleting_them_makes_no_room(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person writes a limited number of comments on a run in ten minutes."""
    now_s = 1_800_000_000.0
    monkeypatch.setattr(time, "time", lambda: now_s)
    for place in range(comments.MOST_AT_A_RATE):
        delete_comment(run, ADA, add_comment(run, ADA, Anchor(), str(place)).id)
    with pytest.raises(StoreError, match="one person writes at most 20 comments on a run in 600 s"):
        add_comment(run, ADA, Anchor(), "more")
    add_comment(run, BOB, Anchor(), "another person")
    for place in range(comments.MOST_AT_A_RATE + 1):
        add_comment(run, OWNER, Anchor(), str(place))
    now_s += comments.RATE_S + 1
    add_comment(run, ADA, Anchor(), "later")


def test_two_writers_at_once_keep_each_others_comments(run: Run) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(run.path), name], cwd=ROOT) for name in ("ada", "bob")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert sorted(texts(run)) == sorted(f"{name} {number}" for name in ("ada", "bob") for number in range(20))


def test_a_damaged_file_is_reported_and_never_overwritten(run: Run) -> None:
    (run.path / COMMENTS).write_bytes(b'{"comments": [{"id"')
    with pytest.raises(StoreError, match="cannot be read"):
        add_comment(run, ADA, Anchor(), "text")
    assert (run.path / COMMENTS).read_bytes() == b'{"comments": [{"id"'


def test_comments_are_counted_in_the_index_and_found(store: Store, run: Run) -> None:
    index = RunIndex(store)
    index.refresh()
    add_comment(run, ADA, Anchor(), "text")
    index.update([run.id])
    page = index.search(RunQuery.of("comments:>=1"), 10)
    assert [(entry.id, entry.comments) for entry in page.runs] == [(run.id, 1)]


@pytest.mark.promise("people")
def test_an_imported_comment_belongs_to_nobody_here(store: Store, run: Run, tmp_path: Path) -> None:
    """An imported comment belongs to no person of this server."""
    first = add_comment(run, ADA, KERNEL, "from there")
    pin_part(run, ADA, KERNEL, pinned=True)
    write_archive([run], tmp_path / "runs.tar.gz")
    (added,) = import_archive(Store(tmp_path / "there"), tmp_path / "runs.tar.gz").added
    comment, pin = talk_of(added).comments[0], talk_of(added).pins[0]
    assert comment == Comment(first.id, first.at_s, "ada@example.org", "from there", KERNEL, imported=True)
    assert pin == Pin(KERNEL, pin.at_s, "ada@example.org", imported=True)
    with pytest.raises(AccessError):
        delete_comment(added, ADA, first.id)
    delete_comment(added, OWNER, first.id)


def test_what_an_archive_claims_is_bounded(run: Run, tmp_path: Path) -> None:
    hostile = {"id": "a", "at_s": 1.0, "by": "", "text": "\u202ex" + "x" * 3_000, "anchor": {"name": "n" * 9_000}}
    (run.path / COMMENTS).write_text(json.dumps({"comments": [hostile] * 310, "pins": []}))
    (tmp_path / "target").mkdir()
    comments.import_talk(run.path, tmp_path / "target")
    talk = talk_of(Run("target", tmp_path / "target"))
    assert (len(talk.comments), len(talk.comments[0].text), len(talk.comments[0].anchor.name)) == (300, 2_000, 500)
    assert all(comment.imported for comment in talk.comments)


def test_a_line_is_recognised_by_its_text() -> None:
    assert digest_of("    return x\n") == digest_of("return x") != digest_of("return y")
    assert talk_of(Run("nothing", Path("/nonexistent"))) == Talk()
