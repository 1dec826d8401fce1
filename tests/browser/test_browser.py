"""The dashboard in Chromium: what a person does, from the first request to the report."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from core import Store
from core.runs.processes.handles import supervisor_of
from core.views.markdown import WORD_JOINER
from core.views.verdict import MOST_TITLE_CHARS, fitted
from tests.support.browser import (
    POSITIONS,
    NewContext,
    Server,
    click_row,
    expect_code,
    go,
    headline,
    item,
    link_to,
    run_id,
    serving,
    settle,
    through_the_menu,
    wait_for,
)
from tests.support.homes import IMAGE, add_run, add_scenario, hostile_log, measured_log
from tests.support.places import TRACES

pytestmark = pytest.mark.browser

SLEEPS = "import time\n\nprint('going to sleep')\ntime.sleep(600)\nmodel = abs\ninputs = (1,)\n"
LUMINANCES = """() => {
  const canvas = document.createElement('canvas').getContext('2d');
  const channels = (colour) => { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const luminance = (colour) => channels(colour)
    .map((value) => value / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, index) => sum + v * [0.2126, 0.7152, 0.0722][index], 0);
  const app = getComputedStyle(document.querySelector('.stApp'));
  const title = getComputedStyle(document.querySelector('h1'));
  return [luminance(app.backgroundColor), luminance(title.color)];
}"""
RAISES = "def model(x):\n    raise ValueError('only small inputs, please')\n\n\ninputs = (1,)\n"


def chip(page: Page, text: str) -> Locator:
    return page.locator(".chip", has_text=text)


def paste(page: Page, server: Server, code: str) -> Locator:
    """Paste code where it belongs; returns the field."""
    go(page, server.url)
    page.get_by_role("tab", name="Your code").click()
    field = page.get_by_label("Code", exact=True)
    field.wait_for()
    # What is typed while the server still draws the field is overwritten.
    settle(page)
    field.fill(code)
    return field


def compile_code(page: Page, server: Server, code: str) -> None:
    paste(page, server, code)
    page.locator(".st-key-compile-code button").click()
    page.wait_for_url("**/overview?run=*")


@pytest.mark.long
def test_the_very_first_request_may_be_a_deep_link(tmp_path: Path, page: Page) -> None:
    run = add_scenario(tmp_path, "transformer_block")
    with serving(tmp_path) as server:
        go(page, server.link("fx_graph", run=run))
        expect(headline(page)).to_have_text("17 ops: captured by Dynamo")
        expect(page.locator(".view g.node").first).to_be_visible()
        expect(page.locator("[data-testid='stSidebarNavLink']")).to_have_count(15)
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_from_graph_to_kernel_to_source(server: Server, transformer: str, page: Page) -> None:
    go(page, server.link("fx_graph", run=transformer, graph="inductor_post_grad_graph.inference"))
    expect(headline(page)).to_have_text("50 ops: after the post-grad passes")
    item(page.locator(".view"), "n:var_mean").click()

    details = page.locator("[data-testid='stTable']", has_text="kernel")
    expect(details).to_contain_text("cpp_fused_native_layer_norm")
    expect(page).to_have_url(re.compile(r"select=n%3A"))
    line = page.locator(".cv .line.related", has_text="self.norm1(x)")
    expect(line).to_have_count(1)
    # The camera's position is written when the drawing rests.
    selected = page.url.partition("&look=")[0]
    page.reload()
    settle(page)
    expect(page).to_have_url(re.compile(rf"^{re.escape(selected)}(&look=[\w.~-]+)?$"))
    expect(details).to_contain_text("cpp_fused_native_layer_norm")
    expect(page.locator(".view g.node.selected")).to_have_count(1)
    expect(line).to_have_count(1)

    link_to(page, "Kernels").click()
    expect(headline(page)).to_have_text("4 generated kernels and 2 extern kernels, 9 launches")
    settle(page)
    click_row(page, "kernels-0-0", 0)
    expect(page).to_have_url(re.compile(r"select=k%3A"))
    settle(page)
    source = page.locator(".cv", has_text='extern "C"').first
    expect(source).to_contain_text("void kernel(")
    name = source.locator(".title").inner_text()
    link = page.url
    page.reload()
    settle(page)
    expect(page).to_have_url(link)
    expect(page.locator(".cv .title").first).to_have_text(name)
    page.get_by_role("link", name="Show these nodes in the FX graph").click()
    expect(headline(page)).to_have_text("50 ops: after the post-grad passes")


@pytest.mark.long
def test_a_click_or_an_arrow_key_goes_to_another_stage(server: Server, transformer: str, page: Page) -> None:
    go(page, server.link("fx_graph", run=transformer))
    page.get_by_role("radio", name="AOTAutograd, 50 ops").click()
    expect(headline(page)).to_have_text("50 ops: inference graph of AOTAutograd")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(headline(page)).to_have_text("17 ops: before the pre-grad passes")
    expect(page).to_have_url(re.compile("graph=before_pre_grad_graph"))
    expect(page.get_by_role("radio", checked=True)).to_be_focused()


@pytest.mark.long
def test_an_op_that_is_selected_on_one_side_of_fusion_is_marked_on_the_other(
    server: Server, transformer: str, page: Page
) -> None:
    go(page, server.link("fusion", run=transformer, fusion="side by side"))
    before, after = page.locator(".view").first, page.locator(".view").last
    item(before, "n:var_mean").hover()
    expect(item(after, "n:var_mean")).to_have_class(re.compile("preview"))
    expect(before.locator(".tip")).to_be_visible()
    item(before, "n:var_mean").click()

    expect(before.locator("g.node.selected")).to_have_count(1)
    expect(item(after, "n:var_mean")).to_have_class(re.compile("related"))
    expect(page).to_have_url(re.compile(r"select=n%3Avar_mean"))
    item(after, "g:op0").click(position={"x": 60, "y": 30})
    expect(page).to_have_url(re.compile(r"select=g%3Aop0"))
    expect(before.locator("g.node.selected")).to_have_count(0)


def test_the_steps_of_fusion_can_be_walked_and_no_op_moves(server: Server, transformer: str, page: Page) -> None:
    go(page, server.link("fusion", run=transformer))
    view = page.locator(".view").first
    expect(view.locator(".film .number")).to_have_text(re.compile(r"^(\d+) / \1$"))
    expect(item(view, "g:op0")).to_be_visible()
    places = view.evaluate(POSITIONS)
    slider = view.get_by_role("slider", name="Step")
    slider.press("Home")
    expect(item(view, "g:op0")).to_be_hidden()
    expect(view.locator("g.joint")).to_have_count(0)
    expect(page).to_have_url(re.compile("frame=0"))
    settle(page)
    assert view.evaluate(POSITIONS) == places
    slider.press("ArrowRight")
    expect(view.locator("g.joint").first).to_be_attached()
    assert view.evaluate(POSITIONS) == places
    slider.press("End")
    expect(view.locator("g.joint")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("frame="))


def test_an_error_is_shown_with_the_users_own_line_and_can_be_corrected(server: Server, page: Page) -> None:
    paste(page, server, RAISES).press("Control+Enter")
    page.wait_for_url("**/overview?run=*")

    expect(chip(page, "failed")).to_be_visible()
    settle(page)
    expect(page.locator("[data-testid='stAlert']").first).to_contain_text("ValueError")
    expect(headline(page)).to_have_text("Eager failed on line 2 of your code: ValueError: only small inputs, please")
    expect(page.locator(".cv .line.break")).to_contain_text("raise ValueError('only small inputs, please')")

    page.get_by_role("link", name="Edit and run again").click()
    field = page.get_by_label("Code", exact=True)
    expect_code(field, RAISES)
    settle(page)
    field.fill(RAISES.replace("raise ValueError('only small inputs, please')", "return x"))
    field.press("Control+Enter")
    page.wait_for_url("**/overview?run=*")
    expect(chip(page, "done")).to_be_visible()


@pytest.mark.long
def test_two_sessions_see_the_same_run_and_either_can_cancel_it(server: Server, new_context: NewContext) -> None:
    one, other = new_context().new_page(), new_context().new_page()
    compile_code(one, server, SLEEPS)
    expect(one.get_by_text("going to sleep")).to_be_visible()
    supervisor = supervisor_of(Store(server.home).open(run_id(one)).status())
    assert supervisor is not None
    family = supervisor.children(recursive=True)
    assert family
    other.goto(one.url)

    expect(other.get_by_text("going to sleep")).to_be_visible()
    expect(other.locator(".steps li").first).to_have_text("loading the model")
    other.get_by_role("button", name="Cancel").click()
    expect(chip(one, "cancelled")).to_be_visible()
    expect(chip(other, "cancelled")).to_be_visible()
    expect(one.get_by_text("The run was cancelled")).to_be_visible()
    wait_for(lambda: not any(process.is_running() for process in family))


LINES_OF = """(title, text) => {
  title.textContent = text;
  const range = document.createRange();
  range.selectNodeContents(title);
  return new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size;
}"""


def test_the_longest_title_has_four_lines_on_a_telephone(server: Server, new_context: NewContext) -> None:
    page = new_context(viewport={"width": 390, "height": 844}).new_page()
    go(page, f"{server.url}/overview?run={add_scenario(server.home, 'graph_break_zoo')}")
    expect(headline(page)).to_have_text("5 graph breaks split the code into 9 graphs")
    longest = fitted("A compiled model of several blocks gives other numbers than eager in many outputs and gradients")
    assert len(longest) == MOST_TITLE_CHARS - 1
    assert headline(page).evaluate(LINES_OF, longest) <= 4


@pytest.mark.long
def test_names_in_a_log_are_never_markup_and_pages_are_readable_in_the_dark_on_a_telephone(
    server: Server, new_context: NewContext
) -> None:
    page = new_context(color_scheme="dark", viewport={"width": 390, "height": 800}).new_page()
    main = page.locator("[data-testid='stMain']")
    run = add_run(server.home, "hostile", hostile_log(), kind="log").id
    forged = "img[src='x'], img[src*='evil'], [onerror], [onclick], [onload], b b, .katex"
    for path in through_the_menu(page, server, run=run, compilation="7/0"):
        assert "compilation=7%2F0" in page.url
        if path:
            expect(chip(page, "done").first).to_be_attached()
        expect(page.locator(forged)).to_have_count(0)
        expect(page.locator("a[href*='evil']")).to_have_count(0)
        expect(headline(page)).to_be_visible()
        paper, ink = page.evaluate(LUMINANCES)
        assert paper < 0.05, path
        assert (ink + 0.05) / (paper + 0.05) > 7, path
        assert page.evaluate("document.documentElement.scrollWidth") <= 392, path
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 2, path
    go(page, server.link("graph_breaks", run=run))
    reason = page.locator("[data-testid='stMarkdown']", has_text="$x^2$").first
    shown = reason.inner_text().replace(WORD_JOINER, "")
    assert f"{IMAGE} [click](http://evil.example/) ![i](http://evil.example/i.png) $x^2$ :home:" in shown
    expect(page.locator("[data-testid='stMarkdown']", has_text="</script><script>").first).to_contain_text("`code`")


def test_every_answer_carries_the_security_headers(server: Server) -> None:
    for path in ("/", "/overview", "/_stcore/health", "/app/static/logo.svg", "/no/such/thing"):
        headers = server.get(path)[0]

        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe-eval" not in headers["content-security-policy"].replace("wasm-unsafe-eval", "")


@pytest.mark.long
def test_a_log_can_be_uploaded(server: Server, page: Page) -> None:
    go(page, server.url)
    page.get_by_role("tab", name="A trace log").click()
    page.locator(".st-key-upload input[type=file]").set_input_files(TRACES / "foreign" / "trace.log")

    expect(headline(page)).to_have_text("2 graph breaks split the code into 6 graphs")
    settle(page)
    expect(chip(page, "opened log")).to_be_attached()
    chip(page, "graph breaks").click()
    expect(headline(page)).to_have_text("2 graph breaks, hit 4 times")
    expect(page).to_have_url(re.compile(r"/graph_breaks\?.*run="))


@pytest.mark.long
def test_the_run_stays_when_the_page_changes(server: Server, page: Page) -> None:
    run = add_run(server.home, "measured", measured_log()).id
    go(page, server.link("overview", run=run))
    for title, name in {"Graph breaks": "graph_breaks", "Graph": "fx_graph", "Measurements": "speedup"}.items():
        link_to(page, title).click()
        page.wait_for_url(re.compile(rf"/{name}\?.*run={run}"))
        settle(page)
    expect(headline(page)).to_contain_text("2.00× (1.90–2.10) faster in the steady state")


def test_brackets_walk_the_compilations_and_a_question_mark_lists_the_keys(server: Server, page: Page) -> None:
    run = add_scenario(server.home, "graph_break_zoo")
    go(page, server.link("guards", run=run, compilation="0/0"))
    page.locator("body[aria-keyshortcuts]").wait_for(state="attached")
    page.keyboard.press("]")
    expect(page).to_have_url(re.compile(r"compilation=1%2F0"))
    page.keyboard.press("[")
    expect(page).to_have_url(re.compile(r"compilation=0%2F0"))
    page.keyboard.press("?")

    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("the previous and the next compilation")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("In a flame chart")
