"""People who sign in: their roles, what the gate does with them, and what each role may do."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit import auth_util, config
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from core import AccessError, CompileboardError, CompileJob, Model, Rate, Runner, Store, StoreError
from core.runs.people import audit_events
from pages.gate import people, visitor
from pages.gate.middleware import MOST_WANTED_CHARS, VISITOR, Gate
from pages.gate.people import People, Roles, hide_secrets, is_address, read_roles
from pages.gate.rules import Rules, Visitor
from pages.gate.visitor import CODE_IS_CLOSED, LOOKS_ONLY, Who, told
from pages.session import actions, server
from pages.session.runs import searched_runs
from tests.support.engines import PromptEngine
from tests.support.gates import ASKED, HANDSHAKE, PUBLIC, sent_through
from tests.support.homes import NOT_LOGS, add_run, job_of

ROLES = """
admin = ["boss@example.org"]
code = ["ada@example.org", "*@compilers.example.org"]
samples = ["*@example.org"]
look = ["*"]
"""
ORIGIN, SECRET = "https://board.example.org", "s" * 32
ADA, BOB, EVE = (
    Who(Visitor.CODER, "ada@example.org"),
    Who(Visitor.GUEST, "bob@example.org"),
    Who(Visitor.ONLOOKER, "e@x"),
)
BOSS = Who(Visitor.OWNER, "boss@example.org")
PAGE = (b"accept", b"text/html,application/xhtml+xml")


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> People:
    (tmp_path / "people.toml").write_text(ROLES)
    found = People(tmp_path / "people.toml", ORIGIN)
    monkeypatch.setattr(visitor, "the_people", lambda: found)
    monkeypatch.setattr(starlette_websocket, "get_cookie_secret", lambda: SECRET)
    return found


def rules(known: People, code: bool = True) -> Rules:
    return replace(PUBLIC, code=code, kind_of=known.kind)


def cookies(secret: str = SECRET, origin: str = ORIGIN, **claims: object) -> dict[str, str]:
    payload = {"email": "ada@example.org", "email_verified": True, "is_logged_in": True, "origin": origin, **claims}
    return {"_streamlit_user": create_signed_value(secret, "_streamlit_user", json.dumps(payload)).decode()}


@pytest.mark.parametrize(
    ("person", "kind"),
    [
        ("boss@example.org", Visitor.OWNER),
        ("ada@example.org", Visitor.CODER),
        ("joe@compilers.example.org", Visitor.CODER),
        ("bob@example.org", Visitor.GUEST),
        ("bob@example.org.evil.test", Visitor.ONLOOKER),
        ("bob@evilexample.org", Visitor.ONLOOKER),
        ("", Visitor.STRANGER),
    ],
)
def test_the_first_role_that_names_a_person_counts(known: People, person: str, kind: Visitor) -> None:
    assert known.kind(person) is kind


def test_whom_no_role_names_is_a_stranger() -> None:
    assert Roles(code=("ada@example.org",)).kind("bob@example.org") is Visitor.STRANGER


@pytest.mark.promise("limits")
def test_a_role_has_its_own_rate_and_an_admin_none(known: People) -> None:
    """A role can have its own hourly limits; admins have none."""
    roles = read_roles(known._path)
    limited = msgspec.structs.replace(roles, runs_an_hour={"code": 9}, minutes_an_hour={"samples": 0.5})
    known._roles = (known._roles[0], limited)
    people = ("boss@example.org", "ada@example.org", "bob@example.org", "not an address", "")
    assert [known.rate(person, Rate(5, 7.0)) for person in people] == [
        Rate(),
        Rate(9, 7.0),
        Rate(5, 30.0),
        Rate(5, 7.0),
        Rate(5, 7.0),
    ]


@pytest.mark.promise("people")
def test_a_changed_file_counts_at_once_and_a_broken_one_gives_nobody_a_role(known: People, tmp_path: Path) -> None:
    """Changes of the roles file count at once; a broken file gives nobody a role."""
    path = tmp_path / "people.toml"
    for text, kind in (('admin = ["ada@example.org"]', Visitor.OWNER), ("admin = [", Visitor.STRANGER),
                       ('boss = ["*"]', Visitor.STRANGER), ('look = ["*"]', Visitor.ONLOOKER)):  # fmt: skip
        path.write_text(text)
        os.utime(path, ns=(path.stat().st_mtime_ns + 1,) * 2)
        assert told(["coder ada@example.org"]).kind is kind
    path.unlink()
    assert told(["coder ada@example.org"]).kind is Visitor.STRANGER


@pytest.mark.parametrize(
    "text",
    [
        "admin = 3",
        "[runs_an_hour]\ncode = 0",
        "[minutes_an_hour]\nadmin = 3",
        'boss = ["*"]',
        "[admin]",
        "admin = [",
        "\x00",
        'verified = "no"',
    ],
)
def test_a_file_of_other_things_is_no_file_of_roles(tmp_path: Path, text: str) -> None:
    (tmp_path / "people.toml").write_text(text)
    with pytest.raises(CompileboardError, match="which is no file of roles"):
        read_roles(tmp_path / "people.toml")


def test_a_cookie_names_the_person_whom_the_provider_calls_verified(known: People) -> None:
    assert known.person(cookies(email="Ada@Example.org")) == "ada@example.org"
    assert known.person(cookies() | {"other": "cookie"}) == "ada@example.org"


@pytest.mark.promise("people")
@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"_streamlit_user": ""},
        {"_streamlit_user": "é"},
        {"_streamlit_user": '{"email":"ada@example.org","is_logged_in":true}'},
        cookies(secret="t" * 32),
        cookies(origin="https://evil.example"),
        cookies(is_logged_in=False),
        cookies(is_logged_in="yes"),
        cookies(email_verified=False),
        cookies(email_verified="true"),
        cookies(email_verified=None),
        cookies(email=None),
        cookies(email=["ada@example.org"]),
        cookies(email="ada"),
        cookies(email="ada@example.org\nowner"),
        cookies(email="ada @example.org"),
        cookies(email=f"{'a' * 300}@example.org"),
    ],
)
def test_no_other_cookie_names_anybody(known: People, shown: dict[str, str]) -> None:
    """Forged, foreign or expired cookies identify nobody."""
    assert known.person(shown) == ""


@given(st.text(max_size=60), st.text(max_size=20))
def test_no_cookie_raises(value: str, name: str) -> None:
    path = Path(__file__).with_name("none.toml")
    known = object.__new__(People)
    known._path, known._origin, known._roles = path, ORIGIN, ((0, 0), Roles())
    assert known.person({"_streamlit_user": value, name: value}) == ""


def test_an_unverified_address_counts_where_the_owner_says_so(tmp_path: Path, known: People) -> None:
    (tmp_path / "own.toml").write_text("verified = false")
    own = People(tmp_path / "own.toml", ORIGIN)
    assert (own.person(cookies(email_verified=None)), known.person(cookies(email_verified=None))) == (
        "ada@example.org", "",
    )  # fmt: skip


def test_without_a_role_only_the_sign_in_and_the_health_check_are_open(known: People) -> None:
    for code in (True, False):
        outside = replace(ASKED, hosts=("board.example.org",), uid=None)
        for path in ("/auth/login", "/auth/logout", "/oauth2callback", "/_stcore/health"):
            assert rules(known, code).refusal(replace(outside, path=path)) is None
        for path in ("/", "/runs", "/upload", "/graph/0/all", "/_stcore/stream", "/app/static/x.png", "/auth/x"):
            refused = rules(known, code).refusal(replace(outside, path=path))
            assert refused is not None
            assert (refused.status, refused.may_sign_in) == (401, True)
        nobody = replace(PUBLIC, code=code, kind_of=Roles().kind).refusal(replace(outside, person="ada@example.org"))
        assert nobody is not None
        assert (nobody.status, nobody.may_sign_in, "ada@example.org" in nobody.words) == (403, False, True)


def test_where_nobody_signs_in_its_paths_are_closed_like_all_others() -> None:
    refused = replace(PUBLIC, code=True).refusal(replace(ASKED, uid=None, path="/auth/login"))
    assert refused is not None
    assert refused.status == 403


def test_each_role_enters_also_where_code_runs(known: People) -> None:
    for person, mark in (
        ("boss@example.org", "owner boss@example.org"),
        ("ada@example.org", "coder ada@example.org"),
        ("bob@example.org", "guest bob@example.org"),
        ("eve@evil.test", "onlooker eve@evil.test"),
    ):
        asked = replace(HANDSHAKE, uid=None, person=person)
        assert (rules(known).refusal(asked), rules(known).mark(asked)) == (None, mark)
    assert rules(known).mark(replace(HANDSHAKE, uid=1000, person="eve@evil.test")) == "owner"


def through(known: People, *headers: tuple[bytes, bytes], **scope: Any) -> tuple[dict[bytes, bytes], int, str]:
    """Headers and status of the gate's answer, and the visitor that it passes on."""
    host = (b"host", b"board.example.org")
    gate = {"headers": [host, *headers], **scope}
    sent, passed = sent_through(lambda app: Gate(app, rules(known), known), b"text/html", **gate)
    marks = [value.decode() for name, value in (passed or {"headers": []})["headers"] if name == VISITOR.encode()]
    return dict(sent[0].get("headers", [])), sent[0].get("status", 0), "".join(marks)


def as_header(cookies: dict[str, str]) -> tuple[bytes, bytes]:
    return b"cookie", "; ".join(f"{name}={value}" for name, value in cookies.items()).encode("latin-1")


def test_a_browser_is_sent_to_the_sign_in_and_comes_back_to_the_page_that_it_wanted(
    known: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth_util, "encode_provider_token", lambda provider: f"token-of-{provider}")
    headers, status, _ = through(known, PAGE, path="/overview", query_string=b"run=a%2Fb&node=x")
    assert (status, headers[b"location"]) == (303, b"/auth/login?provider=token-of-default")
    wanted = headers[b"set-cookie"].partition(b";")[0]
    headers, status, _ = through(known, PAGE, (b"cookie", wanted + b"; " + as_header(cookies())[1]))
    assert (status, headers[b"location"]) == (303, b"/overview?run=a%2Fb&node=x")
    assert b"Max-Age=0" in headers[b"set-cookie"]
    _, status, mark = through(known, PAGE, as_header(cookies()), path="/overview", query_string=b"run=a")
    assert (status, mark) == (200, "coder ada@example.org")


@pytest.mark.parametrize(("chars", "returns"), [(MOST_WANTED_CHARS, True), (MOST_WANTED_CHARS + 1, False)])
def test_a_sign_in_returns_to_a_page_unless_its_address_is_too_long(known: People, chars: int, returns: bool) -> None:
    path = "/overview".ljust(chars, "x")
    cookie = through(known, PAGE, path=path)[0][b"set-cookie"].decode()
    assert cookie.partition(";")[0].partition("=")[2] == (path if returns else "/")


def test_a_sign_in_that_failed_is_reported_and_not_repeated_for_ever(known: People) -> None:
    headers, status, _ = through(known, PAGE, (b"cookie", b"compileboard-8501-wanted=/runs"))
    assert (status, b"Max-Age=0" in headers[b"set-cookie"]) == (401, True)


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        (cookies(email_verified=False), "The provider does not call the address ada@example.org verified"),
        (cookies(email_verified=None), "does not call the address ada@example.org verified (`email_verified`)"),
        (cookies(email=None), "The provider sent no address (`email`)."),
        (cookies(email="ada"), "The provider sent an address that is none (`email`)."),
        (cookies(secret="t" * 32), "the log of this server says why"),
    ],
)
def test_a_sign_in_without_a_verified_address_is_refused_with_the_reason(
    known: People, shown: dict[str, str], reason: str
) -> None:
    wanted = b"compileboard-8501-wanted=/runs; "
    sent, _ = sent_through(
        lambda app: Gate(app, rules(known), known), b"", type="http", method="GET", scheme="http", path="/",
        query_string=b"", headers=[(b"host", b"board.example.org"), PAGE, (b"cookie", wanted + as_header(shown)[1])],
    )  # fmt: skip
    assert (sent[0]["status"], reason in sent[1]["body"].decode()) == (401, True)


@pytest.mark.promise("people")
@pytest.mark.parametrize("wanted", ["https://evil.example", "//evil.example", "/%5Cevil.example", "/a%0d%0ab", "evil"])
def test_no_cookie_leads_to_another_host(known: People, wanted: str) -> None:
    """A sign-in redirects to this server's pages only."""
    kept = f"compileboard-8501-wanted={wanted}".encode()
    _, status, mark = through(known, PAGE, (b"cookie", kept + b"; " + as_header(cookies())[1]))
    assert (status, mark) == (200, "coder ada@example.org")


def test_files_and_sockets_are_refused_and_not_redirected(known: People) -> None:
    assert through(known, path="/app/static/x.png")[1] == 401
    assert through(known, PAGE, (b"origin", b"http://board.example.org"), method="POST", path="/upload")[1] == 401
    sent, passed = sent_through(
        lambda app: Gate(app, rules(known), known), b"", type="websocket", scheme="ws",
        headers=[(b"host", b"board.example.org"), (b"origin", b"http://board.example.org"), PAGE],
    )  # fmt: skip
    assert (sent, passed) == ([{"type": "websocket.close", "code": 1008, "reason": ""}], None)


def test_a_person_gets_no_name_cookie_of_a_guest(known: People) -> None:
    bob = as_header(cookies(email="bob@example.org"))
    headers, status, mark = through(known, PAGE, bob)
    assert (status, mark, b"set-cookie" in headers) == (200, "guest bob@example.org", False)


def test_roles_allow_what_their_names_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "1")
    assert [who.runs_code for who in (BOSS, ADA, BOB, EVE)] == [True, True, False, False]
    assert [who.owns("bob@example.org") for who in (BOSS, ADA, BOB, EVE)] == [True, False, True, False]
    BOB.require_change()
    with pytest.raises(AccessError) as error:
        BOB.require_code()
    assert str(error.value) == CODE_IS_CLOSED
    for require in (EVE.require_change, EVE.require_code):
        with pytest.raises(AccessError) as error:
            require()
        assert str(error.value) == LOOKS_ONLY
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    assert [who.runs_code for who in (BOSS, ADA)] == [False, False]


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """A runner with one store, which asks whether its visitor may run code, as the dashboard's does."""
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "1")
    found = Runner(Store(tmp_path), PromptEngine(), code_allowed=visitor.may_bring_code)
    for name in ("runner", "the_runner"):
        monkeypatch.setattr(server, name, lambda: found)
    return found


def visit(monkeypatch: pytest.MonkeyPatch, who: Who) -> None:
    for module in (visitor, actions, server, __import__("pages.session.runs").session.runs):
        monkeypatch.setattr(module, "who", lambda: who)


@pytest.mark.promise("people")
def test_code_of_a_person_runs_only_with_the_role(board: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's own code runs only with the role `code` or `admin`."""
    pasted = CompileJob(Model("code", "import torch\nmodel, example_inputs = torch.relu, (torch.ones(2),)"))
    visit(monkeypatch, BOB)
    with pytest.raises(CompileboardError, match="only samples are compiled"):
        actions.submit(pasted)
    with pytest.raises(AccessError, match="reading files of its machine"):
        actions.add_log_at(Path("/etc"))
    visit(monkeypatch, ADA)
    assert board.wait(actions.submit(pasted)).status().by == "ada@example.org"


@pytest.mark.promise("people")
def test_a_run_is_seen_by_the_audience_that_its_author_chose(board: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A private run opens for its author, admins and the owner only; for others it does not exist."""
    run = add_run(board.store.home, "mlp", NOT_LOGS["one record"], job=job_of("eager_backend"), by=ADA.name)
    seen = {}
    for audience in ("", "all", "link", "private"):
        if audience:
            visit(monkeypatch, ADA)
            actions.set_audience(run, audience)
        for who in (BOSS, ADA, BOB, EVE, Who(Visitor.STRANGER, "x@y")):
            visit(monkeypatch, who)
            listed = [each.id for each in searched_runs("", 1).runs] == [run.id]
            try:
                opens = server.open_run(run.id) == run
            except StoreError as error:
                assert str(error) == f"there is no run `{run.id}` here; it may have been deleted"
                opens = False
            seen[audience, who.kind.value] = (listed, opens)
    yes, link, no = (True, True), (False, True), (False, False)
    everybody = {"owner": yes, "coder": yes, "guest": yes, "onlooker": yes, "stranger": no}
    assert seen == {
        (audience, kind): shown
        for audience, kinds in {
            "": everybody,
            "all": everybody,
            "link": {**everybody, "guest": link, "onlooker": link},
            "private": {**everybody, "guest": no, "onlooker": no},
        }.items()
        for kind, shown in kinds.items()
    }


def test_only_its_author_and_an_admin_choose_who_sees_a_run(board: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    run = add_run(board.store.home, "mlp", NOT_LOGS["one record"], job=job_of("eager_backend"), by=ADA.name)
    for who in (BOB, EVE):
        visit(monkeypatch, who)
        with pytest.raises(AccessError):
            actions.set_audience(run, "all")
    visit(monkeypatch, BOSS)
    actions.set_audience(run, "private")
    with pytest.raises(StoreError, match="a run or a sweep is for one of private, link, all"):
        actions.set_audience(run, "world")
    assert run.audience() == "private"
    (run.path / "audience.txt").write_text("everybody")
    assert run.audience() == "private"


def test_what_people_do_and_what_is_refused_to_them_is_logged(board: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    visit(monkeypatch, BOB)
    run = board.wait(actions.submit(CompileJob(Model("sample", "mlp"))))
    visit(monkeypatch, EVE)
    with pytest.raises(AccessError):
        actions.rename(run, "mine\x1b[31m")
    visit(monkeypatch, Who(Visitor.OWNER))
    actions.rename(run, "the owner's")
    told = [
        (event.by, event.action, event.subject, event.outcome, event.reason) for event in audit_events(board.store.home)
    ]
    assert told == [
        ("bob@example.org", "submit", f"mlp {run.id}", "done", ""),
        ("e@x", "rename", f"{run.id} mine [31m", "refused", LOOKS_ONLY),
    ]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("a@b", True), ("ada@example.org", True), ("ada", False), ("a b@c", False), ("a@b\n", False), ("", False),
     ("a@" + "b" * 252, True), ("a@" + "b" * 253, False), ("\u202ea@b", False)],
)  # fmt: skip
def test_an_address_is_short_and_printable(text: str, is_one: bool) -> None:
    assert is_address(text) is is_one


def test_a_server_without_a_whole_sign_in_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sections: list[dict[str, str]] = []
    monkeypatch.setattr(auth_util, "get_secrets_auth_section", lambda: sections[-1])
    monkeypatch.setattr(auth_util, "is_authlib_installed", lambda: True)
    whole = dict.fromkeys(people.SETTINGS, "x" * 40)
    (tmp_path / "people.toml").write_text(ROLES)

    def start(named: str, section: dict[str, str]) -> People | None:
        monkeypatch.setenv(people.VARIABLE, named)
        sections.append(section)
        return people.the_people.__wrapped__()

    assert start("", {}) is None
    with pytest.raises(CompileboardError, match="missing: redirect_uri, cookie_secret"):
        start("people.toml", {})
    with pytest.raises(CompileboardError, match="`cookie_secret` in .* needs 32 characters or more"):
        start("people.toml", {**whole, "cookie_secret": "x" * 31})
    with pytest.raises(CompileboardError, match="No such file"):
        start(str(tmp_path / "none.toml"), whole)
    assert isinstance(start(str(tmp_path / "people.toml"), {**whole, "cookie_secret": "x" * 32}), People)
    monkeypatch.setattr(auth_util, "is_authlib_installed", lambda: False)
    with pytest.raises(CompileboardError, match="needs authlib and httpx"):
        start(str(tmp_path / "people.toml"), whole)


@pytest.mark.promise("sandbox")
def test_the_files_of_the_secrets_are_hidden_from_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the sign-in are hidden from the sandbox, wherever they are."""
    files = [str(tmp_path / "a.toml"), str(tmp_path / "b.toml")]
    before = config.get_option("secrets.files")
    monkeypatch.setenv("COMPILEBOARD_SANDBOX_HIDE", "/keys")
    config.set_option("secrets.files", files)
    try:
        hide_secrets()
    finally:
        config.set_option("secrets.files", before)
    assert os.environ["COMPILEBOARD_SANDBOX_HIDE"] == os.pathsep.join(["/keys", *files])
