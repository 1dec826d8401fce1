"""What the server answers to a log that is sent to it, without a browser."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from core import AccessError, Limits, Store
from pages.gate.middleware import VISITOR
from pages.session import server
from pages.session.uploads import MOST_AT_ONCE, Uploads, is_too_slow, upload_routes
from tests.support.homes import NOT_LOGS
from tests.support.loops import run_async

LOG = NOT_LOGS["one record"]
Answer = tuple[int, dict[str, Any]]


class Sent:
    """A browser that sends its log piece by piece, and how many of them were taken."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces: Iterator[bytes] = iter(pieces)
        self.taken = 0

    async def receive(self) -> dict[str, Any]:
        piece = next(self._pieces, None)
        if piece is None:
            return {"type": "http.request", "body": b"", "more_body": False}
        self.taken += 1
        return {"type": "http.request", "body": piece, "more_body": True}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Store]:
    """The store behind a server that takes logs of so many bytes."""
    found = Store(tmp_path)

    def limited(upload_bytes: int) -> Store:
        def expect(size: int, by: str) -> None:
            if by == "full":
                raise AccessError("the store of this server is full")

        runner = SimpleNamespace(
            store=found, limits=Limits(upload_bytes=upload_bytes), add_log=found.add_log, expect_log=expect
        )
        monkeypatch.setattr(server, "the_runner", lambda: runner)
        monkeypatch.setattr(server, "runner", lambda: runner)
        return found

    return limited


def send(sent: Sent, visitor: str = "owner", uploads: Uploads | None = None) -> Answer:
    headers = [(VISITOR.encode(), visitor.encode())] if visitor else []
    scope = {"type": "http", "method": "POST", "path": "/upload", "query_string": b"name=a.log", "headers": headers}

    async def take() -> Response:
        return await (uploads or Uploads()).take(Request(scope, sent.receive))

    answer = run_async(take())
    return answer.status_code, json.loads(bytes(answer.body))


def test_a_log_that_comes_in_pieces_becomes_a_run(store: Callable[[int], Store]) -> None:
    stored = store(10_000)
    status, said = send(Sent(LOG[:20], LOG[20:21], LOG[21:]))
    ((run, made),) = stored.list()
    log = run.log_path()
    assert (status, said) == (200, {"run": run.id})
    assert (made.kind, log and log.read_bytes()) == ("log", LOG)


def test_what_is_too_large_is_let_pass_up_to_the_same_size_again(store: Callable[[int], Store]) -> None:
    stored = store(10)
    sent = Sent(*[b"12345"] * 99)
    status, said = send(sent)
    assert (status, stored.list()) == (403, [])
    assert "larger than the 10 B" in said["problem"]
    # Three to know it, two that are the bound once more, and the one beyond.
    assert sent.taken == 6


@pytest.mark.parametrize(("visitor", "words"), [("guest full", "is full"), ("onlooker", ""), ("", "")])
def test_who_may_not_bring_a_log_gets_a_message_and_nothing_stays(
    store: Callable[[int], Store], visitor: str, words: str
) -> None:
    stored = store(10_000)
    status, said = send(Sent(LOG), visitor)
    assert (status, stored.list()) == (403, [])
    assert words in said["problem"]


def test_no_more_come_at_once_than_there_is_room_for(store: Callable[[int], Store]) -> None:
    store(10_000)
    uploads = Uploads()

    async def at_once() -> list[int]:
        go = asyncio.Event()

        async def whole() -> dict[str, Any]:
            return {"type": "http.request", "body": LOG, "more_body": False}

        async def receive() -> dict[str, Any]:
            await go.wait()
            return await whole()

        headers = [(VISITOR.encode(), b"owner")]
        scope = {"type": "http", "method": "POST", "path": "/upload", "query_string": b"", "headers": headers}
        first = [asyncio.create_task(uploads.take(Request(scope, receive))) for _ in range(MOST_AT_ONCE)]
        await asyncio.sleep(0)
        refused = await uploads.take(Request(scope, whole))
        go.set()
        taken = [(await task).status_code for task in first]
        later = await uploads.take(Request(scope, receive))
        return [*taken, refused.status_code, later.status_code]

    assert run_async(at_once()) == [*[200] * MOST_AT_ONCE, 503, 200]


@pytest.mark.promise("limits")
@pytest.mark.parametrize(
    ("going", "who", "status"),
    [
        (["guest a"] * 4, "guest a", 503),
        (["guest a"] * 4, "guest b", 200),
        (["guest a"] * 4 + ["guest b"] * 4 + ["guest c"] * 4 + ["guest d"] * 4, "guest e", 503),
        (["guest a"] * 4 + ["guest b"] * 4 + ["guest c"] * 4 + ["guest d"] * 4, "owner", 200),
        (["owner"] * 4, "guest a", 200),
        (["onlooker"] * 40, "owner", 200),
    ],
)
def test_those_who_send_for_ever_shut_out_themselves_alone(
    store: Callable[[int], Store], going: list[str], who: str, status: int
) -> None:
    """A guest's endless uploads block no other visitor for long, and never the owner."""
    store(10_000)
    uploads = Uploads()

    async def never() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    def request(visitor: str, receive: Any) -> Request:
        headers = [(VISITOR.encode(), visitor.encode())]
        scope = {"type": "http", "method": "POST", "path": "/upload", "query_string": b"", "headers": headers}
        return Request(scope, receive)

    async def later() -> int:
        slow = [asyncio.create_task(uploads.take(request(visitor, never))) for visitor in going]
        await asyncio.sleep(0.01)
        found = (await uploads.take(request(who, Sent(LOG).receive))).status_code
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        return found

    assert run_async(later()) == status


@pytest.mark.promise("limits")
@pytest.mark.parametrize(
    ("size", "passed_s", "slow"),
    [
        (0, 20.0, False),
        (1, 21.0, True),
        (250_000, 21.0, False),
        (10_000 * 1_000, 1_000.0, False),
        (10_000 * 1_000 - 1, 1_000.0, True),
        (256_000_000, 1_200.0, False),
        (256_000_000, 1_201.0, True),
    ],
)
def test_a_guests_log_comes_at_some_rate_or_is_given_up(size: int, passed_s: float, slow: bool) -> None:
    """A guest's upload that is too slow is aborted."""
    assert is_too_slow(size, passed_s) is slow


def test_the_route_is_below_the_servers_own_path() -> None:
    assert [route.path for base in ("", "/", "board", "/board/") for route in upload_routes(base)] == [
        "/upload",
        "/upload",
        "/board/upload",
        "/board/upload",
    ]
