"""Guests of a public server: known again by a cookie, and each of them alone with their runs."""

import re
from pathlib import Path

import pytest

from core import Run
from pages import menu
from pages.gate import visitor
from pages.gate.middleware import VISITOR
from pages.gate.rules import known_as
from pages.gate.visitor import told
from pages.session import actions
from tests.support.apps import assert_sound, opened
from tests.support.gates import LOOKING, PUBLIC, through
from tests.support.homes import add_run, job_of
from tests.support.places import TRACES


def test_a_guest_is_given_a_name_with_a_page_and_is_known_by_it_again() -> None:
    sent, passed = through(PUBLIC, answered=b"text/html; charset=utf-8")
    cookie = dict(sent[0]["headers"])[b"set-cookie"].decode()
    name = cookie.partition(";")[0].partition("=")[2]
    assert cookie == f"compileboard-8501-visitor={name}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"
    assert passed is not None
    assert passed["headers"][-1] == (VISITOR.encode(), b"guest nameless")
    shown = [(b"host", b"127.0.0.1:8501"), (b"cookie", f"compileboard-8501-visitor={name}".encode())]
    sent, passed = through(PUBLIC, answered=b"text/html", headers=shown)
    assert passed is not None
    assert passed["headers"][-1] == (VISITOR.encode(), f"guest {known_as(name)}".encode())
    assert (b"set-cookie" in dict(sent[0]["headers"]), name in str(passed["headers"][-1])) == (False, False)


@pytest.mark.parametrize("name", ["", "x", "a" * 31, "a" * 33, "a" * 31 + "/", "owner", "nameless"])
def test_a_name_that_was_not_given_names_nobody(name: str) -> None:
    shown = [(b"host", b"127.0.0.1:8501"), (b"cookie", f"compileboard-8501-visitor={name}".encode())]
    assert (through(PUBLIC, headers=shown)[1] or {})["headers"][-1][1] == b"guest nameless"


def test_files_and_those_who_are_no_guests_get_no_name() -> None:
    for rules, kind in ((PUBLIC, b"text/css"), (LOOKING, b"text/html"), (PUBLIC, b"application/json")):
        sent, _ = through(rules, answered=kind)
        assert b"set-cookie" not in dict(sent[0]["headers"])


@pytest.mark.promise("people")
@pytest.mark.parametrize(
    ("mark", "own", "owners", "others"),
    [
        (["owner"], True, True, True),
        (["guest ann"], True, False, False),
        (["guest nameless"], False, False, False),
        (["onlooker"], False, False, False),
        ([], False, False, False),
        (["owner", "owner"], False, False, False),
    ],
)
def test_runs_are_changed_by_who_made_them_and_by_the_owner(
    mark: list[str], own: bool, owners: bool, others: bool
) -> None:
    """Runs are changed by who made them; the owner sees and deletes all."""
    visitor = told(mark)
    assert (visitor.owns(visitor.name), visitor.owns(""), visitor.owns("bob")) == (own, owners, others)


def test_a_guest_is_shown_their_own_runs_and_the_owners() -> None:
    run = Run("one", Path("none"))
    assert [told(["guest ann"]).sees(run, by) for by in ("ann", "", "bob")] == [True, True, False]
    assert [told(["owner"]).sees(run, by) for by in ("ann", "", "bob")] == [True, True, True]


@pytest.mark.parametrize(
    ("page", "box", "listed"),
    [(menu.RUNS, "", 2), (menu.TARGETS, "other", 1), (menu.KERNEL, "compare-run-other", 2), (menu.GUARDS, "run", 2)],
)
def test_no_page_lists_another_guests_runs(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch, page: menu.Page, box: str, listed: int
) -> None:
    log, job = (TRACES / "transformer_block" / "trace.log").read_bytes(), job_of("transformer_block")
    mine, _, _ = (add_run(empty_home, "block", log, job=job, by=by) for by in ("ann", "", "bob"))
    monkeypatch.setattr(actions, "start_tool", lambda *_: None)
    monkeypatch.setattr(visitor, "_is_served", lambda: True)
    monkeypatch.setattr(visitor, "_said", lambda: ["guest ann"])
    app = opened(page.script, mine.id, view="compare")

    assert_sound(app)
    assert len(app.selectbox(key=box).options if box else app.dataframe[0].value) == listed


@pytest.mark.parametrize(
    ("mark", "used"),
    [
        ("guest ann", "Used here: 1 of 3 runs of yours · some of 1 GiB for your runs · some of 2 GiB for all."),
        ("owner", "Used here: some of 2 GiB for all."),
    ],
)
def test_a_guest_is_shown_what_is_used_of_their_limits_and_the_owner_of_all(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch, mark: str, used: str
) -> None:
    for name, most in {"RUNS": "3", "VISITOR_GIB": "1", "STORE_GIB": "2"}.items():
        monkeypatch.setenv(f"COMPILEBOARD_MAX_{name}", most)
    log, job = (TRACES / "transformer_block" / "trace.log").read_bytes(), job_of("transformer_block")
    for by in ("ann", "", "bob"):
        add_run(empty_home, "block", log, job=job, by=by)
    monkeypatch.setattr(visitor, "_is_served", lambda: True)
    monkeypatch.setattr(visitor, "_said", lambda: [mark])
    app = opened(menu.RUNS.script)

    assert_sound(app)
    captions = [caption.value for caption in app.caption if "Used" in caption.value]
    assert [re.sub(r"0[.\d]* GiB of", "some of", caption) for caption in captions] == [used]
