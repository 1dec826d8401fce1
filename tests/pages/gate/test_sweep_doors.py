"""Who may start, stop and delete sweeps, and what a server does with those that the one before it has left."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core import AccessError, Axis, CompileboardError, CompileJob, Model, Runner, Store, SweepRunner, new_sweep
from pages.gate.rules import Visitor
from pages.gate.visitor import ANOTHERS, NOT_YOURS, Who
from pages.session import actions, server
from pages.session import runs as session
from tests.support.engines import PromptEngine

ANN, BOB = Who(Visitor.GUEST, "ann"), Who(Visitor.GUEST, "bob")
ADA, EVE = Who(Visitor.CODER, "ada@example.org"), Who(Visitor.GUEST, "eve@example.org")
STRANGER = Who(Visitor.STRANGER, "mallory@example.org")
SAMPLE = new_sweep(CompileJob(Model("sample", "mlp")), (Axis("batch", (1, 2)),))


@pytest.fixture
def sweeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SweepRunner:
    found = SweepRunner(Runner(Store(tmp_path), PromptEngine()), poll_s=0.001)
    monkeypatch.setattr(server, "sweeps", lambda: found)
    return found


@pytest.fixture
def visited(monkeypatch: pytest.MonkeyPatch) -> Callable[[Who], None]:
    return lambda visitor: monkeypatch.setattr(actions, "who", lambda: visitor)


@pytest.mark.promise("people")
def test_sweep_is_its_visitors_alone(sweeps: SweepRunner, visited: Callable[[Who], None]) -> None:
    """Sweeps are changed by who started them, and by the owner."""
    visited(Who(Visitor.ONLOOKER))
    with pytest.raises(AccessError, match="Only the owner"):
        actions.start_sweep(SAMPLE)
    visited(ANN)
    sweep_id = actions.start_sweep(SAMPLE).id
    sweeps.wait(sweep_id)
    changes: tuple[Callable[[], object], ...] = (
        lambda: actions.resume_sweep(sweep_id),
        lambda: actions.cancel_sweep(sweep_id),
        lambda: actions.rename_sweep(sweep_id, "mine"),
        lambda: actions.delete_sweep(sweep_id),
    )
    for visitor, why in ((Who(Visitor.ONLOOKER), NOT_YOURS), (BOB, ANOTHERS)):
        visited(visitor)
        for change in changes:
            with pytest.raises(AccessError) as error:
                change()
            assert str(error.value) == why
    visited(ANN)
    for change in changes[1:]:
        change()
    assert (sweeps.store.list(), [status.by for _, status in sweeps.runner.store.list()]) == ([], ["ann", "ann"])


def test_a_damaged_sweep_is_the_owners_to_delete(sweeps: SweepRunner, visited: Callable[[Who], None]) -> None:
    visited(ANN)
    sweep_id = actions.start_sweep(SAMPLE).id
    sweeps.wait(sweep_id)
    (sweeps.store.sweeps_dir / sweep_id / "sweep.json").write_text("{")
    with pytest.raises(CompileboardError, match="cannot be read"):
        actions.delete_sweep(sweep_id)
    visited(Who(Visitor.OWNER))
    actions.delete_sweep(sweep_id)
    assert sweeps.store.damaged() == {}


@pytest.mark.parametrize(("trusted", "done"), [(True, 2), (False, 0)])
def test_a_server_takes_up_the_owners_code_only_where_it_runs_such_code(
    sweeps: SweepRunner, visited: Callable[[Who], None], trusted: bool, done: int
) -> None:
    visited(Who(Visitor.OWNER))
    code = new_sweep(CompileJob(Model("code", "model = abs\ninputs = (1,)\n")), (Axis("batch", (1, 2)),))
    sweep_id = actions.start_sweep(code).id
    sweeps.wait(sweep_id)
    for run, _ in sweeps.runner.store.list():
        sweeps.runner.store.delete(run)
    sweeps.store.write(replace(sweeps.store.open(sweep_id), handle="local:4194303@1.00"))
    after = SweepRunner(Runner(sweeps.runner.store, PromptEngine()), trusted=lambda: trusted, poll_s=0.001)
    assert after.resume_interrupted() == ((sweep_id,) if trusted else ())
    after.wait(sweep_id)
    assert after.standing(after.store.open(sweep_id)).done == done


@pytest.mark.promise("people")
def test_a_sweep_and_its_cells_are_seen_by_the_audience_that_its_author_chose(
    sweeps: SweepRunner, visited: Callable[[Who], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A private sweep and its runs open for their author, admins and the owner only."""
    visited(ADA)
    stored = actions.start_sweep(SAMPLE)
    sweeps.wait(stored.id)
    seen = {}
    for audience in ("", "all", "link", "private"):
        visited(ADA)
        if audience:
            actions.set_sweep_audience(stored.id, audience)
        assert {run.audience() for run, _ in sweeps.runner.store.list()} == {audience}
        for who in (Who(Visitor.OWNER), ADA, EVE, STRANGER):
            monkeypatch.setattr(session, "who", lambda who=who: who)
            listed = [sweep.id for sweep in session.listed_sweeps()] == [stored.id]
            seen[audience, who.kind.value] = (listed, session.open_sweep(stored.id) is not None)
    yes, no = (True, True), (False, False)
    for_eve = {"": yes, "all": yes, "link": (False, True), "private": no}
    assert seen == {
        (audience, kind): shown
        for audience in for_eve
        for kind, shown in {"owner": yes, "coder": yes, "guest": for_eve[audience], "stranger": no}.items()
    }
    for run, _ in sweeps.runner.store.list():
        sweeps.runner.store.delete(run)
    actions.resume_sweep(stored.id)
    sweeps.wait(stored.id)
    assert [run.audience() for run, _ in sweeps.runner.store.list()] == ["private", "private"]
    visited(EVE)
    with pytest.raises(AccessError):
        actions.set_sweep_audience(stored.id, "all")
    visited(ADA)
    with pytest.raises(CompileboardError, match="one of private, link, all"):
        actions.set_sweep_audience(stored.id, "world")
    assert sweeps.store.open(stored.id).audience == "private"
