"""The current visitor, as the gate reports it to a page."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit import runtime

from core import AccessError, CompileboardError, Run, Sweep
from core.views import comments
from pages.gate.middleware import VISITOR
from pages.gate.people import is_address, the_people
from pages.gate.rules import NAMELESS, Visitor, code_allowed

NOT_YOURS = (
    "Only the owner of this server may start, cancel and delete runs here. If that is you, open the address with "
    "`?token=` "
    "that it printed at its start."
)
ANOTHERS = "This is another visitor's; only who has made it, and the owner of this server, may cancel or delete it."
LOOKS_ONLY = "Your role on this server is `look`: you may not start, cancel and delete runs. Its owner gives roles."
CODE_IS_CLOSED = "Your role on this server does not include running your own code and reading files of its machine."
NO_COMMENTS = "Your role on this server is `look`: you may read comments, and write none. Its owner gives roles."
NOT_YOUR_COMMENTS = (
    "Only the owner of this server writes comments here. If that is you, open the address with `?token=` that it "
    "printed at its start."
)
NO_COOKIE = "Comments need a browser that keeps cookies, so that you can change what you wrote."
NO_ROLE_NOW = "You have no role on this server any more. Its owner gives roles."
NO_GATE = "Nothing is shown, because access control is off. Start the dashboard with `streamlit run dashboard.py`."


@dataclass(frozen=True, slots=True)
class Who:
    """A visitor: the kind, and the name under which the runs of a person or a guest are stored.

    The name of a person who has signed in is their address.
    """

    kind: Visitor
    name: str = ""

    def require_change(self) -> None:
        """Raise AccessError for a visitor who may only look."""
        if self.kind in (Visitor.ONLOOKER, Visitor.STRANGER):
            raise AccessError(LOOKS_ONLY if self.name else NOT_YOURS)

    def author(self) -> comments.Author:
        """Return the visitor as the author of comments; raises AccessError if the visitor may write none."""
        if self.kind in (Visitor.ONLOOKER, Visitor.STRANGER):
            raise AccessError(NO_COMMENTS if self.name else NOT_YOUR_COMMENTS)
        if self.name == NAMELESS:
            raise AccessError(NO_COOKIE)
        return comments.Author(self.name, self.kind is Visitor.OWNER)

    def require_code(self) -> None:
        """Raise AccessError for a visitor who may not run their own code here, nor read this machine's files."""
        self.require_change()
        if not self.runs_code:
            raise AccessError(CODE_IS_CLOSED)

    def require_own(self, run: Run | Sweep) -> None:
        """Raise AccessError for a visitor who may not cancel and delete this run, or this sweep."""
        self.require_change()
        if not self.owns(maker_of(run)):
            raise AccessError(ANOTHERS)

    def owns(self, by: str) -> bool:
        """Return True if this visitor may change runs made by `by`; an empty `by` is the server's owner."""
        if self.kind in (Visitor.GUEST, Visitor.CODER):
            return by == self.name != NAMELESS
        return self.kind is Visitor.OWNER

    @property
    def runs_code(self) -> bool:
        """True if this server runs code of visitors, and this visitor may run code."""
        return code_allowed() and self.kind in (Visitor.OWNER, Visitor.CODER)

    @property
    def is_person(self) -> bool:
        """True for somebody who has signed in."""
        return is_address(self.name)

    def sees(self, run: Run | Sweep, by: str) -> bool:
        """Return True if a run or a sweep of `by` is listed for this visitor.

        The owner sees all, and every visitor their own. All but strangers also see runs and sweeps whose audience
        is everybody.

        If the author chose no audience, a run of the owner or of a person who signed in counts as one for everybody,
        and a guest's run as one for onlookers.
        """
        if self.kind is Visitor.OWNER or by == self.name != "":
            return True
        listed = by == "" or is_address(by) or self.kind is Visitor.ONLOOKER
        audience = _audience(run) or ("all" if listed else "link")
        return audience == "all" and self.kind is not Visitor.STRANGER

    def may_open(self, run: Run | Sweep, by: str) -> bool:
        """Return True if this visitor may open a run or sweep of `by` by its address, even if not listed."""
        return self.sees(run, by) or (_audience(run) != "private" and self.kind is not Visitor.STRANGER)


def _audience(run: Run | Sweep) -> str:
    return run.audience() if isinstance(run, Run) else run.audience


def told(marks: Sequence[str]) -> Who:
    """Return the visitor named by the gate's headers; an onlooker unless there is exactly one header.

    The kind of a person comes from their current role, since a page may stay open for days.
    """
    if len(marks) != 1:
        return Who(Visitor.ONLOOKER)
    kind, _, name = marks[0].partition(" ")
    known = the_people() if is_address(name) else None
    return Who(known.kind(name) if known is not None else Visitor(kind), name)


def who() -> Who:
    """Return the visitor of this session.

    This is the owner if there is no server, and an onlooker if the server names no visitor, because it has no gate or
    the visitor has disconnected.
    """
    return told(_said()) if _is_served() else Who(Visitor.OWNER)


def require_gate() -> None:
    """Stop the page if its server has no gate, or if the visitor has no role any more."""
    if _is_served() and not _said():
        st.error(NO_GATE, icon=":material/lock:")
        st.stop()
    if who().kind is Visitor.STRANGER:
        st.error(NO_ROLE_NOW, icon=":material/lock:")
        st.stop()


def _said() -> list[str]:
    return st.context.headers.get_all(VISITOR)


def _is_served() -> bool:
    """Return True if a server runs the page; the replacement in tests is no `Runtime`."""
    return runtime.exists() and type(runtime.get_instance()) is runtime.Runtime


def may_bring_code() -> bool:
    """Return True if this visitor may run custom code."""
    return who().runs_code


def author() -> comments.Author | None:
    """Return this visitor as the author of comments; None if this visitor may write none."""
    try:
        return who().author()
    except AccessError:
        return None


def why_no_author() -> str:
    """Return why this visitor may write no comments, as Markdown; empty if they may."""
    try:
        who().author()
    except AccessError as error:
        return str(error)
    return ""


def maker_of(run: Run | Sweep) -> str:
    """Return the name of a run's or sweep's maker; empty for the owner and for an unreadable run."""
    if isinstance(run, Sweep):
        return run.by
    try:
        return run.status().by
    except CompileboardError:
        return ""
