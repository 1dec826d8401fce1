"""The doors of comments: who reads, who writes, and who changes what."""

from pathlib import Path

import pytest

from core import AccessError, Run, Store, StoreError
from core.runs.comments import Anchor, add_comment, talk_of
from core.runs.index.database import RunIndex
from core.runs.people import audit_events
from pages.gate import visitor
from pages.gate.rules import NAMELESS, Visitor
from pages.gate.visitor import NO_COMMENTS, NO_COOKIE, NOT_YOUR_COMMENTS, Who
from pages.session import actions, server
from tests.support.homes import NOT_LOGS, add_run, job_of

BOSS, ADA = Who(Visitor.OWNER, "boss@example.org"), Who(Visitor.CODER, "ada@example.org")
BOB, EVE = Who(Visitor.GUEST, "bob@example.org"), Who(Visitor.ONLOOKER, "eve@example.org")
GUEST, NOBODY, UNNAMED = Who(Visitor.GUEST, "0123456789abcdef"), Who(Visitor.ONLOOKER), Who(Visitor.GUEST, NAMELESS)


class Behind:
    """A store with its index."""

    def __init__(self, home: Path) -> None:
        self.store = Store(home)
        self.index = RunIndex(self.store)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of Ada's in the store behind the doors."""
    behind = Behind(tmp_path)
    for name in ("runner", "the_runner"):
        monkeypatch.setattr(server, name, lambda: behind)
    return add_run(tmp_path, "mlp", NOT_LOGS["one record"], job=job_of("eager_backend"), by=ADA.name)


def visit(monkeypatch: pytest.MonkeyPatch, who: Who) -> None:
    for module in (visitor, actions, server):
        monkeypatch.setattr(module, "who", lambda: who)


def write(run: Run, text: str) -> None:
    actions.comment(run, "comment", lambda by: add_comment(run, by, Anchor(), text))


@pytest.mark.promise("people")
def test_each_role_comments_as_the_table_says(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may open a run and has more than the role `look` may comment on it."""
    for who, refusal in ((EVE, NO_COMMENTS), (NOBODY, NOT_YOUR_COMMENTS), (UNNAMED, NO_COOKIE)):
        visit(monkeypatch, who)
        with pytest.raises(AccessError) as error:
            write(run, "no")
        assert str(error.value) == refusal
    for who in (BOSS, ADA, BOB, GUEST):
        visit(monkeypatch, who)
        write(run, f"by {who.kind.value}")
    comments = talk_of(run).comments
    assert [comment.by for comment in comments] == [BOSS.name, ADA.name, BOB.name, GUEST.name]
    assert [[who.author().may_change(each) for each in comments] for who in (BOSS, BOB)] == [
        [True] * 4,
        [False, False, True, False],
    ]
    visit(monkeypatch, ADA)
    actions.set_audience(run, "private")
    visit(monkeypatch, BOB)
    with pytest.raises(StoreError, match="there is no run"):
        write(run, "hidden")
    logged = [(event.by, event.action, event.outcome) for event in audit_events(server.the_runner().store.home)]
    assert logged == [
        (EVE.name, "comment", "refused"),
        *((who.name, "comment", "done") for who in (BOSS, ADA, BOB)),
        (ADA.name, "set_audience", "done"),
        (BOB.name, "comment", "failed"),
    ]
    assert "by coder" not in (server.the_runner().store.home / "audit.jsonl").read_text()
