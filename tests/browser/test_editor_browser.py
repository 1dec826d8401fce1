"""The editor of pasted code: coloured as code is everywhere, and as sound as the browser's own text area."""

import pytest
from playwright.sync_api import Page, expect

from core import Sample, samples
from pages.components.code.view import token_runs
from pages.components.modules import joined
from tests.support.browser import Server, go, settle
from tests.support.places import ROOT

pytestmark = pytest.mark.browser

CUT = f"""text => {{
  {joined(ROOT / "pages" / "components" / "code" / "js" / "python_line.js")}
  let open = null;
  return text.split("\\n").map((line) => {{
    const cut = cutLine(line, open);
    open = cut.open;
    return cut.runs;
  }});
}}"""
PROGRAM = '''"""A model
of two lines."""

import torch

BLOCK = 0x40  # a comment


@torch.no_grad()
class Scale(torch.nn.Module):
    def forward(self, x: torch.Tensor, *, by=1.5e-3):
        """Scale it."""
        if not (x.sum() > by and len(x.shape) == 2):
            raise ValueError(f"a shape of {len(x.shape)} of {x}")
        text = \'\'\'several
        lines\'\'\'
        return x * by if text else None
'''
EDITED = "import torch\n\n\ndef model(x):\n    return x\n\n\ninputs = (torch.ones(2),)"


def cut(page: Page, text: str) -> list[list[tuple[str, str]]]:
    """The pieces of each line, as the browser cuts them."""
    return [[(kind, piece) for kind, piece in line] for line in page.evaluate(CUT, text)]


def seen(lines: list[list[tuple[str, str]]]) -> list[list[tuple[str, str]]]:
    """The class of each character that can be seen."""
    return [[(kind, char) for kind, text in line for char in text if not char.isspace()] for line in lines]


def test_what_is_edited_has_the_colours_that_shown_code_has(page: Page) -> None:
    shown = [[(piece.kind, piece.text) for piece in line] for line in token_runs(PROGRAM, "python")]
    assert seen(cut(page, PROGRAM)) == seen(shown)


def _text(sample: Sample) -> str:
    return sample.path.read_text(encoding="utf-8")


def test_the_letters_in_colours_are_those_of_the_text(page: Page) -> None:
    for text in ["", "'", '"""', "f'{", "f'{{x}} {y!r:>{w}} {'", "\\", "\x00é𝟙ｘ\u202e", *map(_text, samples())]:
        assert ["".join(piece for _, piece in line) for line in cut(page, text)] == text.split("\n")


def test_code_is_typed_undone_and_kept(server: Server, page: Page) -> None:
    go(page, server.url)
    page.get_by_role("tab", name="Your code").click()
    field = page.get_by_label("Code", exact=True)
    field.press("Control+a")
    page.keyboard.type("import torch\n\n\ndef model(x):\nreturn x\n")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("\n\ninputs = (torch.ones(2),)")
    expect(field).to_have_value(EDITED)
    expect(page.locator(".editor .size")).to_have_text("8 lines")
    field.press("Control+a")
    field.press("Delete")
    expect(page.locator(".editor .size")).to_have_text("1 line")
    field.press("Control+z")
    expect(field).to_have_value(EDITED)
    page.wait_for_timeout(600)
    settle(page)

    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_role("link", name="New run", exact=True).click()
    page.get_by_role("tab", name="Your code").click()
    expect(page.get_by_label("Code", exact=True)).to_have_value(EDITED)
