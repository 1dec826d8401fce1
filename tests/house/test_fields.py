"""Every field that takes text has a bound, which Streamlit holds on the server, too."""

import ast

import pytest

from tests.support.places import ROOT

FIELDS = {"text_input", "text_area", "chat_input"}


@pytest.mark.promise("messages")
def test_every_text_field_of_the_pages_is_bounded() -> None:
    """Every text field of the pages has a maximum length."""
    found = {
        f"{path.relative_to(ROOT)}:{node.lineno}": {keyword.arg for keyword in node.keywords}
        for path in (ROOT / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FIELDS
    }
    assert len(found) > 10
    assert [place for place, named in found.items() if "max_chars" not in named] == []
