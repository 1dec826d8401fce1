"""Comments in words: what an item of a page is, where a part is shown again, and what is said if it is gone."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from core import Run, Store, open_report
from core.report import Load
from core.runs.comments import Anchor, Author, add_comment, delete_comment, digest_of, pin_part, resolve_comment
from core.runs.stored import side_of_run
from core.views.comments import CommentsView, Shown, author_words, body
from core.views.html import as_html
from core.views.scrub import NOTHING
from tests.support.homes import add_scenario

MODEL = "/compileboard/run/model.py"
CHANGED = "The line has changed since the comment was written."
GONE = "is not in this log."
KERNEL = "0/0.inference.cpp_fused_native_layer_norm_0"
POST = "inductor_post_grad_graph.inference"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


@pytest.fixture
def run(store: Store) -> Run:
    return store.open(add_scenario(store.home, "transformer_block"))


def view_of(run: Run) -> CommentsView:
    return CommentsView.stored(run, side_of_run(run))


def test_an_item_of_a_page_is_a_part_with_its_words_its_place_and_a_figure(run: Run) -> None:
    view = view_of(run)
    (compilation,) = open_report(run).compilations
    kernel = next(kernel for kernel in compilation.kernels if kernel.id == KERNEL)
    shown = Shown(compilation, "dynamo_output_graph", compilation.schedules[0], kernel)
    parts = {}
    for item in ("n:layer_norm", "s:op4", "g:op0", f"k:{KERNEL}", "l:47", f"c:{kernel.lines[0]}", "x:1", "l7:1", "k:x"):
        anchor = view.anchor_at(item, shown)
        parts[item] = anchor and (view.words(anchor), view.figure(anchor), view.target(anchor).page)
        assert anchor is None or view.missing(anchor) == ""
    layer_norm = (
        "Kernel `cpp_fused_native_layer_norm_0` [0/0]",
        "norm1 · layer\\_norm · 1.05 MB read and written",
        "kernels",
    )
    line = "`x = x + self.down(F.gelu(self.up(self.norm2(x))))`"
    assert parts == {
        "n:layer_norm": ("Node `layer_norm` in dynamo_output_graph [0/0]", "`f32[8, 64, 256]`", "fx_graph"),
        "s:op4": ("Scheduler node `op4` in inference 0 [0/0]", "2.89 MB read and written", "fusion"),
        "g:op0": layer_norm,
        f"k:{KERNEL}": layer_norm,
        "l:47": ("`model.py:47`", line, "fx_graph"),
        f"c:{kernel.lines[0]}": (f"Generated code, line {kernel.lines[0]} [0/0]", "", "kernels"),
        "x:1": None,
        "l7:1": None,
        "k:x": None,
    }


def test_a_graph_break_and_a_recompile_are_parts_too(store: Store) -> None:
    broken = view_of(store.open(add_scenario(store.home, "graph_break_zoo")))
    assert broken.report is not None
    frame = broken.report.graph_breaks[0].stack[-1]
    anchor = broken.anchor_at(f"l:{frame.line}", Shown())
    assert anchor is not None
    assert (anchor.part, broken.target(anchor).page, broken.missing(anchor)) == ("graph break", "graph_breaks", "")
    assert broken.missing(replace(anchor, digest="other")) == "This log has no such graph break at that line."
    recompiled = view_of(store.open(add_scenario(store.home, "recompile_zoo")))
    assert recompiled.report is not None
    name = recompiled.report.recompiles[0].compilation
    assert recompiled.anchor_at(name, Shown()) == Anchor("recompile", name)
    assert recompiled.target(Anchor("recompile", name)).query == {"compilation": name, "select": name}


@pytest.mark.parametrize(
    ("anchor", "words"),
    [
        (Anchor(), ""),
        (Anchor("kernel", "9/9", name="k"), "This log has no compilation [9/9]."),
        (Anchor("kernel", "0/0", name="k"), f"Kernel `k` [0/0] {GONE}"),
        (Anchor("node", "0/0", "dynamo_output_graph", "gone"), f"Node `gone` in dynamo_output_graph [0/0] {GONE}"),
        (Anchor("scheduler node", "0/0", "inference 0", "op99"), f"Scheduler node `op99` in inference 0 [0/0] {GONE}"),
        (Anchor("generated line", "0/0", POST, KERNEL, 3, "other"), "Generated code, line 3 [0/0] is not in this log."),
        (Anchor("line", name="/other.py", line=3), "This log does not contain that line."),
        (Anchor("line", name=MODEL, line=3, digest="other"), CHANGED),
    ],
)  # fmt: skip
def test_a_part_that_is_not_in_the_log_is_reported_to_be_missing(run: Run, anchor: Anchor, words: str) -> None:
    view = view_of(run)
    assert view.missing(anchor) == words
    assert view.figure(replace(anchor, compilation="9/9")) == "" or anchor.part == "line"


def test_marks_are_those_of_the_shown_graph_and_of_open_threads(run: Run) -> None:
    by = Author()
    node = Anchor("node", "0/0", "dynamo_output_graph", "layer_norm")
    add_comment(run, by, node, "node")
    add_comment(run, by, Anchor("kernel", "0/0", name=KERNEL), "kernel")
    done = add_comment(run, by, Anchor("line", name=MODEL, line=3), "done")
    resolve_comment(run, by, done.id, resolved=True)
    pin_part(run, by, node, pinned=True)
    (compilation,) = open_report(run).compilations
    view = view_of(run)
    assert view.marks(Shown(compilation, "dynamo_output_graph")) == ((f"k:{KERNEL}", "n:layer_norm"), ("n:layer_norm",))
    assert view.marks(Shown(compilation, POST, compilation.schedules[0])) == (("g:op0", f"k:{KERNEL}"), ())
    assert view.marks(Shown()) == ((), ())
    assert view.title == "3 comments, 1 thread resolved"


def test_the_command_line_and_the_html_file_have_the_comments(run: Run) -> None:
    first = add_comment(run, Author("ada@example.org", is_admin=False), Anchor(), "<b>why</b>\nsee pytorch#7")
    reply = add_comment(run, Author(), Anchor(), "gone", first.id)
    delete_comment(run, Author(), reply.id)
    pin_part(run, Author(), Anchor("kernel", "0/0", name=KERNEL), pinned=True)
    assert view_of(run).lines == (
        "pinned: Kernel `cpp_fused_native_layer_norm_0` [0/0]",
        "The run",
        "  ada@example.org, just now: <b>why</b> see pytorch#7",
        "  owner, just now: (deleted)",
    )
    page = as_html(run, NOTHING)
    assert "&lt;b&gt;why&lt;/b&gt;" in page
    assert "<b>why" not in page
    assert time.strftime("%Y-%m-%d") in page


def test_a_damaged_file_is_a_problem_and_hides_nothing_else(run: Run) -> None:
    (run.path / "comments.json").write_text("{")
    view = view_of(run)
    assert view.threads == ()
    assert view.lines[0].startswith(f"The comments of run {run.id} cannot be read")


def test_text_is_shown_as_it_is_and_issues_of_pytorch_are_links() -> None:
    issue = "https://github.com/pytorch/pytorch/issues"
    assert body("a **b** <i>\n  x") == "a \\*\\*b\\*\\* \\<i\\>  \n x"
    assert body(f"see {issue}/12 and pytorch#3") == f"see [pytorch\\#12]({issue}/12) and [pytorch\\#3]({issue}/3)"
    assert "](" not in body("https://evil.example/pytorch/pytorch/issues/1 [x](javascript:alert(1))").replace(
        "\\]\\(", ""
    )
    assert [author_words(*by) for by in ((("",)), ("ada@x.org", True), ("0123456789abcdef",))] == [
        "owner",
        "ada@x.org (imported)",
        "visitor 012345",
    ]
    assert digest_of("") != digest_of("x")


def test_a_kernels_figure_is_its_time_if_the_time_is_reliable(store: Store) -> None:
    view = view_of(store.open(add_scenario(store.home, "measured")))
    assert view.report is not None
    compilation = view.report.compilations[0]
    kernel = next(kernel for kernel in compilation.kernels if any(call.time for call in kernel.calls))
    anchor = Anchor("kernel", compilation.id, name=kernel.id)
    busy = replace(view, report=replace(view.report, kernel_load=Load(others=0.9)))
    assert view.figure(anchor).endswith("s")
    assert busy.figure(anchor) == "norm1 · layer\\_norm · 1.05 MB read and written"
