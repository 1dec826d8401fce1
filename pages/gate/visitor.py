"""Who visits, as a page is told by the gate."""

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
NO_GATE = "Nothing is shown here, since nobody asks who enters. Start the dashboard with `streamlit run dashboard.py`."


@dataclass(frozen=True, slots=True)
class Who:
    """A visitor: the kind, and the name under which a guest's runs are stored."""

    kind: Visitor
    name: str = ""

    def require_change(self) -> None:
        """Raise AccessError for one who may only look."""
        if self.kind is Visitor.ONLOOKER:
            raise AccessError(NOT_YOURS)

    def require_own(self, run: Run | Sweep) -> None:
        """Raise AccessError for one who may not cancel and delete this run, or this sweep."""
        self.require_change()
        if not self.owns(maker_of(run)):
            raise AccessError(ANOTHERS)

    def owns(self, by: str) -> bool:
        """Whether a run that was made by this visitor, nothing for the server's owner, is theirs to change."""
        if self.kind is Visitor.GUEST:
            return by == self.name != NAMELESS
        return self.kind is Visitor.OWNER

    def sees(self, by: str) -> bool:
        """Whether such a run is listed: a guest is shown their own, and what the server's owner has put there."""
        return self.kind is not Visitor.GUEST or by in ("", self.name)


def told(marks: Sequence[str]) -> Who:
    """Who visits by the gate's headers; an onlooker where it has not spoken, or more than one has."""
    if len(marks) != 1:
        return Who(Visitor.ONLOOKER)
    kind, _, name = marks[0].partition(" ")
    return Who(Visitor(kind), name)


def who() -> Who:
    """Who visits this session; the owner where there is no server at all, and an onlooker where there is one that does
    not say: one without a gate, or with a visitor who has hung up."""
    return told(_said()) if _is_served() else Who(Visitor.OWNER)


def require_gate() -> None:
    """End a page that a server shows without a gate before it, or to nobody."""
    if _is_served() and not _said():
        st.error(NO_GATE, icon=":material/lock:")
        st.stop()


def _said() -> list[str]:
    return st.context.headers.get_all(VISITOR)


def _is_served() -> bool:
    """Whether a server runs the page; what stands in for one where a test runs a page by itself is no `Runtime`."""
    return runtime.exists() and type(runtime.get_instance()) is runtime.Runtime


def may_bring_code() -> bool:
    """Whether this visitor may have code of their own run."""
    return code_allowed() and who().kind is Visitor.OWNER


def maker_of(run: Run | Sweep) -> str:
    """Return the visitor who made a run or a sweep; a run that cannot be read is nobody's but the owner's."""
    if isinstance(run, Sweep):
        return run.by
    try:
        return run.status().by
    except CompileboardError:
        return ""
