"""The current visitor, as the gate reports it to a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit import runtime

from core import AccessError, CompileboardError, Run, Sweep
from pages.gate.middleware import VISITOR
from pages.gate.rules import NAMELESS, Visitor, code_allowed

NOT_YOURS = (
    "Only the owner of this server may start, cancel and delete runs here. If that is you, open the address with "
    "`?token=` "
    "that it printed at its start."
)
ANOTHERS = "This is another visitor's; only who has made it, and the owner of this server, may cancel or delete it."
NO_GATE = "Nothing is shown, because access control is off. Start the dashboard with `streamlit run dashboard.py`."


@dataclass(frozen=True, slots=True)
class Who:
    """A visitor: the kind, and the name under which a guest's runs are stored."""

    kind: Visitor
    name: str = ""

    def require_change(self) -> None:
        """Raise AccessError for a visitor who may only look."""
        if self.kind is Visitor.ONLOOKER:
            raise AccessError(NOT_YOURS)

    def require_own(self, run: Run | Sweep) -> None:
        """Raise AccessError for a visitor who may not cancel and delete this run, or this sweep."""
        self.require_change()
        if not self.owns(maker_of(run)):
            raise AccessError(ANOTHERS)

    def owns(self, by: str) -> bool:
        """Return True if this visitor may change a run made by the visitor `by`; an empty `by` is the
        server's owner.
        """
        if self.kind is Visitor.GUEST:
            return by == self.name != NAMELESS
        return self.kind is Visitor.OWNER

    @property
    def authors(self) -> tuple[str, ...] | None:
        """The visitors whose runs are listed: a guest's own and those of the server's owner; None for all."""
        return ("", self.name) if self.kind is Visitor.GUEST else None

    def sees(self, by: str) -> bool:
        """Return True if a sweep made by `by` is listed."""
        return self.authors is None or by in self.authors


def told(marks: Sequence[str]) -> Who:
    """Return the visitor named by the gate's headers; an onlooker unless there is exactly one header."""
    if len(marks) != 1:
        return Who(Visitor.ONLOOKER)
    kind, _, name = marks[0].partition(" ")
    return Who(Visitor(kind), name)


def who() -> Who:
    """Return the visitor of this session.

    This is the owner if there is no server, and an onlooker if the server names no visitor, because it has no gate or
    the visitor has disconnected.
    """
    return told(_said()) if _is_served() else Who(Visitor.OWNER)


def require_gate() -> None:
    """Stop the page if its server has no gate, or if there is no visitor."""
    if _is_served() and not _said():
        st.error(NO_GATE, icon=":material/lock:")
        st.stop()


def _said() -> list[str]:
    return st.context.headers.get_all(VISITOR)


def _is_served() -> bool:
    """Return True if a server runs the page; the replacement in tests is no `Runtime`."""
    return runtime.exists() and type(runtime.get_instance()) is runtime.Runtime


def may_bring_code() -> bool:
    """Return True if this visitor may run custom code."""
    return code_allowed() and who().kind is Visitor.OWNER


def maker_of(run: Run | Sweep) -> str:
    """Return the visitor who made a run or a sweep; an unreadable run belongs to the server's owner."""
    if isinstance(run, Sweep):
        return run.by
    try:
        return run.status().by
    except CompileboardError:
        return ""
