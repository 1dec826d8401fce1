"""The audit log: bounded, damaged, full, and what its command prints."""

import json
from pathlib import Path

import pytest

from core.base.errors import AccessError, StoreError
from core.commands.main import main
from core.runs import people
from core.runs.people import Event, append_event, audit_events, audited


def test_events_come_back_in_their_order_without_damaged_lines(tmp_path: Path) -> None:
    first = Event(1.0, "ada@example.org", "submit", "mlp")
    append_event(tmp_path, first)
    with (tmp_path / people.AUDIT).open("ab") as file:
        file.write(b'{"at_s": -1, "by": "x", "action": "y"}\nnone\n\xff\n{"at_s": 1e400}\n')
    append_event(tmp_path, second := Event(2.0, "bob@example.org", "delete", "run", "failed", "no"))
    assert list(audit_events(tmp_path)) == [first, second]
    assert (tmp_path / people.AUDIT).stat().st_mode & 0o077 == 0


def test_a_full_log_takes_the_place_of_the_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "MOST_AUDIT_BYTES", 300)
    for second in range(20):
        append_event(tmp_path, Event(float(second), "ada@example.org", "submit"))
    kept = [event.at_s for event in audit_events(tmp_path)]
    assert kept == [float(second) for second in range(20 - len(kept), 20)]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 800


def test_texts_are_one_short_line(tmp_path: Path) -> None:
    append_event(tmp_path, Event(1.0, "a@b", "rename", "x\n{}\u202e" + "y" * 1000))
    (event,) = audit_events(tmp_path)
    assert event.subject == "x {} " + "y" * (people.MOST_TEXT_CHARS - 5)


def test_an_action_that_is_refused_or_fails_is_logged_and_raised(tmp_path: Path) -> None:
    for error, outcome in ((AccessError("not yours"), "refused"), (StoreError("gone"), "failed")):
        with pytest.raises(type(error)), audited(tmp_path, "a@b", "delete"):
            raise error
        assert list(audit_events(tmp_path))[-1].outcome == outcome
    with pytest.raises(ZeroDivisionError), audited(tmp_path, "a@b", "delete"):
        raise ZeroDivisionError
    assert [event.reason for event in audit_events(tmp_path)] == ["not yours", "gone"]


def test_a_log_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / people.AUDIT).mkdir()
    with pytest.raises(StoreError), audited(tmp_path, "a@b", "submit"):
        pass


def test_the_command_lists_a_persons_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    append_event(tmp_path, Event(0.0, "ada@example.org", "submit", "mlp run-1"))
    append_event(tmp_path, Event(0.0, "bob@example.org", "delete", "run-1", "refused", "not yours"))
    assert main(["audit", "--by", "bob@example.org"]) == 0
    line = capsys.readouterr().out
    assert line.endswith("  bob@example.org  delete  run-1  refused  not yours\n")
    assert line.count("\n") == 1
    assert main(["audit", "--refused", "--json"]) == 0
    assert [event["by"] for event in json.loads(capsys.readouterr().out)] == ["bob@example.org"]
