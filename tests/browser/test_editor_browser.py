"""The editor of pasted code: coloured as code is everywhere, and no letter of the text is lost."""

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.components.code.view import token_runs
from tests.support.browser import Server, expect_code, go, headline, link_to, open_sources, settle, wait_for

pytestmark = pytest.mark.browser

MOUNT = """async (data) => {
  const { default: draw } = await import("/pages/components/code/js/editor.js");
  globalThis.parentElement?.remove();
  globalThis.leave?.();
  globalThis.parentElement = document.body.appendChild(document.createElement("div"));
  globalThis.told = [];
  globalThis.leave = draw({ data, parentElement, setStateValue: (name, value) => told.push(value) });
}"""
# The server draws another editor before the one in which something was typed is gone.
MOUNT_BESIDE = """async ([data, typed]) => {
  const { default: draw } = await import("/pages/components/code/js/editor.js");
  const [before, leaveBefore] = [globalThis.parentElement, globalThis.leave];
  globalThis.parentElement = document.body.appendChild(document.createElement("div"));
  globalThis.leave = draw({ data, parentElement, setStateValue: (name, value) => told.push(value) });
  if (typed) {
    before.querySelector(".cm-content").focus();
    document.execCommand("insertText", false, typed);
    await new Promise((done) => setTimeout(done));
  }
  leaveBefore();
  before.remove();
}"""
PASTE = """([field, text, times]) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text.repeat(times));
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""
# The class and the text of each run of a line.
RUNS = """lines => lines.map((line) => [...line.childNodes].map((run) => [run.className ?? "", run.textContent]))"""
PROGRAM = '''"""A model
of two lines."""

import torch

BLOCK = 0x40  # a comment


@final
class Scale(torch.nn.Module):
    def forward(scale, x, *, by=1.5e-3):
        """Scale it."""
        if not (x.sum() > by and x.ndim == 2):
            raise Refused(f"a shape of {x} dimensions")
        text = \'\'\'several
        lines\'\'\'
        return x * by if text else None
'''
EDITED = "import torch\n\n\ndef model(x):\n    return x\n\n\ninputs = (torch.ones(2),)"
PASTED_BYTES = 8_000_000
# More than a screen of any height has; the text has a million.
MOST_LINES = 300


def seen(lines: list[list[tuple[str, str]]]) -> list[list[tuple[str, str]]]:
    """The class of each character that can be seen."""
    return [[(kind, char) for kind, text in line for char in text if not char.isspace()] for line in lines]


def mounted(page: Page, text: str) -> Locator:
    """An editor alone on a page; `told` has what Python would get."""
    open_sources(page)
    return mounted_again(page, text)


def mounted_again(page: Page, text: str) -> Locator:
    """The same once more, as when its page is left and opened again while the server has this text."""
    page.evaluate(MOUNT, {"key": "code", "label": "Code", "text": text, "least": 300, "most": 800})
    return page.get_by_label("Code", exact=True)


def test_what_is_edited_has_the_colours_that_shown_code_has(page: Page) -> None:
    field = mounted(page, PROGRAM)
    shown = seen([[(piece.kind, piece.text) for piece in line] for line in token_runs(PROGRAM, "python")])
    # CodeMirror colours what its parser reads in 20 ms, and the rest when the browser is idle.
    wait_for(lambda: seen(field.locator(".cm-line").evaluate_all(RUNS)) == shown)


@pytest.mark.parametrize("text", ["", "'", '"""', "f'{", "f'{{x}} {y!r:>{w}} {'", "\\", "\x00é𝟙ｘ\u202e", "\t\n \n"])
def test_the_letters_in_colours_are_those_of_the_text(page: Page, text: str) -> None:
    expect_code(mounted(page, text), text)


def test_python_gets_the_text_after_a_pause_when_the_field_is_left_and_before_a_shortcut(page: Page) -> None:
    field = mounted(page, "x = 1\r\ny = ")
    field.press("Control+End")
    field.blur()
    assert page.evaluate("told") == []
    field.press("2")
    page.wait_for_function("told.length === 1")
    field.press("3")
    field.press("Control+Enter")
    assert page.evaluate("told.at(-1)") == "x = 1\ny = 23"
    field.press("4")
    field.blur()
    assert page.evaluate("told") == ["x = 1\ny = 2", "x = 1\ny = 23", "x = 1\ny = 234"]


def test_a_text_that_the_server_did_not_get_is_shown_and_sent_again_and_another_of_the_server_is_shown(
    page: Page,
) -> None:
    field = mounted(page, "x")
    for letter in "yz":
        field.press("Control+End")
        field.press(letter)
        field.blur()
    assert page.evaluate("told") == ["xy", "xyz"]
    for lost in ("x", "xy"):
        expect_code(mounted_again(page, lost), "xyz")
        assert page.evaluate("told") == ["xyz"]
    expect_code(mounted_again(page, "xyz"), "xyz")
    expect_code(mounted_again(page, "of a file"), "of a file")
    expect_code(mounted_again(page, "x"), "x")
    assert page.evaluate("told") == []


@pytest.mark.parametrize("typed", ["", "z"])
def test_a_text_that_was_not_sent_yet_is_in_the_editor_that_is_drawn_in_its_place(page: Page, typed: str) -> None:
    field = mounted(page, "x")
    field.press("Control+End")
    field.press("y")
    page.evaluate(MOUNT_BESIDE, [{"key": "code", "label": "Code", "text": "x", "least": 300, "most": 800}, typed])
    expect_code(page.get_by_label("Code", exact=True), f"xy{typed}")
    page.wait_for_function(f"told.at(-1) === 'xy{typed}'")


def test_tab_indents_and_leaves_after_escape(page: Page) -> None:
    field = mounted(page, "if x:\n    y\nz")
    field.press("Control+Home")
    field.press("Tab")
    expect_code(field, "    if x:\n    y\nz")
    field.press("Shift+Tab")
    field.press("Control+a")
    field.press("Tab")
    expect_code(field, "    if x:\n        y\n    z")
    field.press("Escape")
    field.press("Tab")
    expect(field).not_to_be_focused()


def test_of_pasted_megabytes_the_lines_in_sight_are_drawn_and_typing_goes_on(page: Page) -> None:
    field = mounted(page, "")
    field.focus()
    page.evaluate(PASTE, [field.element_handle(), "seed=1\n", PASTED_BYTES // 7])
    lines = field.locator(".cm-line")
    assert lines.count() < MOST_LINES
    page.keyboard.type("x = 1")
    expect(lines.last).to_have_text("x = 1")
    assert lines.count() < MOST_LINES
    page.wait_for_function(f"told.at(-1)?.length > {PASTED_BYTES - 10}")


@pytest.mark.long
def test_code_is_typed_undone_and_kept(server: Server, page: Page) -> None:
    go(page, server.url)
    page.get_by_role("tab", name="Your code").click()
    field = page.get_by_label("Code", exact=True)
    field.press("Control+a")
    page.keyboard.type("import torch\n\n\ndef model(x):\nreturn x\n")
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("\n\ninputs = (torch.ones(2),)")
    expect_code(field, EDITED)
    expect(page.locator(".editor .size")).to_have_text("8 lines")
    field.press("Control+a")
    field.press("Delete")
    expect(page.locator(".editor .size")).to_have_text("1 line")
    field.press("Control+z")
    expect_code(field, EDITED)

    # At once: a value that is sent after the click would lead back.
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(headline(page)).to_have_text("Runs")
    settle(page)
    expect(headline(page)).to_have_text("Runs")
    link_to(page, "New run").click()
    expect(headline(page)).not_to_have_text("Runs")
    settle(page)
    page.get_by_role("tab", name="Your code").click()
    expect_code(page.get_by_label("Code", exact=True), EDITED)
    page.get_by_label("Name of the callable").fill("net")
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(headline(page)).to_have_text("Runs")
    settle(page)
    expect(headline(page)).to_have_text("Runs")
