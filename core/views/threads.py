"""Threads of comments in words: their authors, their texts as Markdown, and their numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.base import words as fmt
from core.runs.comments import MOST_COMMENT_CHARS, Comment, Pin
from core.views.markdown import LONGEST_NAME, one_line, plain

VISITOR_CHARS = 6
ISSUE = re.compile(r"https://github\.com/pytorch/pytorch/(?:issues|pull)/(\d{1,7})(?![\w/])|pytorch#(\d{1,7})\b")
ISSUES = "https://github.com/pytorch/pytorch/issues"


@dataclass(frozen=True, slots=True)
class Thread:
    """A comment with its replies, oldest first."""

    first: Comment
    replies: tuple[Comment, ...]

    @property
    def comments(self) -> tuple[Comment, ...]:
        return (self.first, *self.replies)

    @property
    def is_open(self) -> bool:
        """True if the thread is not resolved and has a comment that is not deleted."""
        return self.first.resolved_s is None and any(each.deleted_s is None for each in self.comments)

    @property
    def resolved_words(self) -> str:
        """Name of the visitor who resolved the thread, as Markdown."""
        return f"Resolved by {plain(author_words(self.first.resolved_by))}"

    def line(self, now_s: float) -> str:
        """Return the thread's newest comment that is not deleted, in one line, as Markdown."""
        last = next(comment for comment in reversed(self.comments) if comment.deleted_s is None)
        by = plain(author_words(last.by, last.imported))
        resolved = "" if self.is_open else " · resolved"
        return f"{by}, {fmt.ago(last.at_s, now_s)}: {plain(last.text, LONGEST_NAME)}{resolved}"


def author_words(by: str, imported: bool = False) -> str:
    """Return an author as plain text: an e-mail, `owner` or `visitor`; `(imported)` if from elsewhere."""
    name = by if "@" in by else f"visitor {by[:VISITOR_CHARS]}" if by else "owner"
    return one_line(name, LONGEST_NAME) + " (imported)" * imported


def body(text: str) -> str:
    """Return a comment's text as Markdown that shows exactly that text; issues of PyTorch are links."""
    shown = text[:MOST_COMMENT_CHARS] + "…" * (len(text) > MOST_COMMENT_CHARS)
    return "  \n".join(_line(line) for line in shown.splitlines())


def _line(line: str) -> str:
    parts, end = [], 0
    for match in ISSUE.finditer(line):
        number = match[1] or match[2]
        parts += [_plain(line[end : match.start()]), f"[pytorch\\#{number}]({ISSUES}/{number})"]
        end = match.end()
    return "".join([*parts, _plain(line[end:])]) or " "


def _plain(text: str) -> str:
    """Return a part of a line as Markdown; spaces at both ends are preserved."""
    return " " * text.startswith(" ") + plain(text) + " " * (text.endswith(" ") and text != " ")


def part_label(label: str, threads: Sequence[Thread], pinned: bool = False) -> str:
    """Return the label of a part of a run, with its number of threads and whether it is pinned."""
    counted = fmt.count(len(threads), "thread") if threads else ""
    return " · ".join(filter(None, (label, counted, "pinned" if pinned else "")))


def older_words(count: int) -> str:
    """Return the number of older threads that a list leaves out."""
    return f"{fmt.count(count, 'older thread')} not shown"


def elsewhere_words(count: int, place: str) -> str:
    """Return the number of other parts with comments, and the place that lists them."""
    return f"{fmt.count(count, 'more part')} on {place}"


def earlier_label(hidden: int, most: int) -> str:
    """Return the label of a button that shows more of the earlier comments."""
    return f"Show {fmt.number(min(hidden, most))} of {fmt.number(hidden)} earlier"


def no_author_words(why: str, threads: Sequence[Thread]) -> str:
    """Return the reason why a visitor cannot comment, and that there is no comment, if so."""
    return why if threads else f"No comment here. {why}"


def pin_help(pin: Pin | None) -> str:
    """Return who pinned a part, or the effect of a pin, as Markdown."""
    return plain(f"Pinned by {author_words(pin.by, pin.imported)}" if pin else "Keep it at the top of Overview")
