"""Threads of comments in words."""

from dataclasses import replace

from core.runs.comments import Anchor, Comment, Pin
from core.views.threads import (
    Thread,
    earlier_label,
    elsewhere_words,
    no_author_words,
    older_words,
    part_label,
    pin_help,
)

FIRST = Comment("1", 60.0, "ann", "Why a *break*?")
REPLY = Comment("2", 120.0, "", "`print`", reply_to="1")


def test_a_thread_in_one_line_is_its_newest_comment() -> None:
    assert Thread(FIRST, (REPLY,)).line(180.0) == r"owner, 1 minute ago: \`print\`"
    assert (
        Thread(FIRST, (replace(REPLY, deleted_s=130.0),)).line(180.0) == r"visitor ann, 2 minutes ago: Why a \*break\*?"
    )


def test_a_resolved_thread_says_so_and_by_whom() -> None:
    resolved = Thread(replace(FIRST, resolved_s=130.0, resolved_by="0123456789"), ())
    assert resolved.line(60.0).endswith(" · resolved")
    assert resolved.resolved_words == "Resolved by visitor 012345"


def test_numbers_of_threads_agree_with_their_words() -> None:
    thread = Thread(FIRST, ())
    assert part_label("mlp", ()) == "mlp"
    assert part_label("mlp", (thread, thread), pinned=True) == "mlp · 2 threads · pinned"
    assert older_words(1) == "1 older thread not shown"
    assert elsewhere_words(2, "Overview") == "2 more parts on Overview"
    assert earlier_label(30, 20) == "Show 20 of 30 earlier"
    assert earlier_label(3, 20) == "Show 3 of 3 earlier"


def test_a_visitor_who_may_not_write_reads_why() -> None:
    assert no_author_words("Sign in to write.", ()) == "No comment here. Sign in to write."
    assert no_author_words("Sign in to write.", (Thread(FIRST, ()),)) == "Sign in to write."


def test_a_pin_names_its_author() -> None:
    assert pin_help(Pin(Anchor(), 1.0, "0123456789", imported=True)) == r"Pinned by visitor 012345 \(imported\)"
    assert pin_help(None) == "Keep it at the top of Overview"
