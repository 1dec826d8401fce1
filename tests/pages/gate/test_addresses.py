"""Addresses as people type them: to which page each leads."""

import pytest

from pages.gate.addresses import Addresses, leads_to
from tests.support.gates import sent_through


@pytest.mark.parametrize(
    ("path", "query", "target"),
    [
        ("/", "run=1", None),
        ("/overview", "run=1", None),
        ("/new_run", "", "./"),
        ("/new_run", "sample=mlp", "./?sample=mlp"),
        ("/FX-Graph", "run=1", "./fx_graph?run=1"),
        ("/pipeline", "run=1", "./accelerator?run=1"),
        ("/overview/", "run=1", "../overview?run=1"),
        ("/run/overview", "", "../overview"),
        ("/nothing", "run=1", "./?run=1&missing=nothing"),
        ("/a/b c", "missing=x", "../?missing=b+c"),
        ("//example.org/overview", "", "../../overview"),
    ],
)
def test_an_address_leads_to_the_page_that_is_meant(path: str, query: str, target: str | None) -> None:
    assert leads_to(path, query) == target


def test_a_document_for_no_page_is_left_for_the_page_and_a_file_is_not() -> None:
    sent, _ = sent_through(Addresses, b"text/html; charset=utf-8", path="/new_run", query_string=b"run=1")
    assert (sent[0]["status"], dict(sent[0]["headers"])[b"location"]) == (307, b"./?run=1")
    sent, _ = sent_through(Addresses, b"text/javascript", path="/static/js/view.js")
    assert sent[0]["status"] == 200


def test_behind_a_path_of_the_servers_the_rest_is_looked_at() -> None:
    def below(app: object) -> Addresses:
        return Addresses(app, base="/board")  # type: ignore[arg-type]

    sent, _ = sent_through(below, b"text/html", path="/board/overview")
    assert sent[0]["status"] == 200
    sent, _ = sent_through(below, b"text/html", path="/board/graph")
    assert dict(sent[0]["headers"])[b"location"] == b"./?missing=graph"
