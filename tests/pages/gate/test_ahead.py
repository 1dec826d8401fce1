"""What the browser is told to fetch along with a page."""

import pytest

from pages.gate.addresses import LARGE, SCRIPTS, Ahead
from tests.support.gates import sent_through


def headers_of(kind: bytes) -> list[tuple[bytes, bytes]]:
    """The headers of a response of that type, passed through."""
    sent, _ = sent_through(Ahead, kind)
    headers: list[tuple[bytes, bytes]] = sent[0]["headers"]
    return headers


def test_a_page_names_the_large_libraries_that_streamlit_has() -> None:
    link = dict(headers_of(b"text/html; charset=utf-8"))[b"link"].decode()
    files = [part.partition(">")[0].removeprefix("<static/js/") for part in link.split(", ")]
    assert [name.split(".")[0] for name in files] == sorted(LARGE)
    assert [name for name in files if not (SCRIPTS / name).is_file()] == []
    assert link.count("; rel=modulepreload; fetchpriority=low") == len(LARGE)


@pytest.mark.parametrize("kind", [b"text/javascript", b"application/json"])
def test_a_file_names_none(kind: bytes) -> None:
    assert headers_of(kind) == [(b"content-type", kind)]
