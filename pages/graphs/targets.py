"""Targets: two runs of one model side by side, and what differs in fusion, tiling, configs and registers."""

from functools import partial

import streamlit as st

from core import CompileJob, Run, Status
from core.analysis import Comparison, KernelPair, KernelSide, Side, compare, diff_texts
from core.report import Compilation, Report
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look import format as fmt
from pages.look.glossary import GLOSSARY
from pages.look.text import code, one_line, plain
from pages.parts.code import kernel_code
from pages.parts.kernel.ladder import diff_view
from pages.parts.kernels.pairs import COLUMNS, details, table
from pages.parts.run.retarget import retarget
from pages.session import server, url
from pages.session.cache import cached
from pages.session.downloads import json_twin
from pages.session.header import label
from pages.session.require import require_report
from pages.session.shown import Shown, open_shown, shown_compilation, text_of
from pages.session.tables import select_row

MOST_RUNS = 50
LANGUAGES = {"cpp": "cpp", "triton": "python"}


def other_runs(here: Shown) -> dict[str, str]:
    """Ended runs of the same model, newest first, each with its label."""
    job = here.run.job()
    stored = [(run, status) for run, status in server.runner().store.list() if status.title == here.status.title]
    ended = [
        (run, status)
        for run, status in stored
        if not status.live and status.state != "damaged" and run.id != here.run.id
    ]
    return {run.id: run_label(run, status) for run, status in ended[:MOST_RUNS] if same_model(job, run.job())}


def same_model(one: CompileJob | None, other: CompileJob | None) -> bool:
    """Whether two jobs name the same model; logs from elsewhere, which have no job, are known by their titles alone."""
    return one is None or other is None or one.model == other.model


def run_label(run: Run, status: Status) -> str:
    """A run in the list of right sides: what it was made for and when, and the end of its id, since a choice is known by its label."""
    job = run.job()
    return one_line(" · ".join([label(run, status), *(job.differences() if job else []), run.id[-4:]]), 140)


def default_other(here: Shown, others: dict[str, str]) -> str:
    """The newest run for another target, else the newest."""
    target = (job.target if (job := here.run.job()) else "") or ""
    jobs = {run_id: server.runner().store.open(run_id).job() for run_id in others}
    return next((run_id for run_id, job in jobs.items() if job and job.target != target), next(iter(others)))


def opposite(there: Report, item: Compilation) -> Compilation | None:
    """The compilation of the other run that stands opposite to the chosen one."""
    same = there.compilation(item.id)
    if same is not None and same.kernels:
        return same
    return next((found for found in there.compilations if found.kernels), None)


@cached(16, "Comparing")
def compared(
    ids: tuple[str, ...], _left: tuple[Shown, Compilation], _right: tuple[Shown, Compilation]
) -> tuple[Comparison, Side, Side]:
    """The comparison of two compilations, with the sources of both."""
    left, right = side_of(*_left), side_of(*_right)
    return compare(left, right), left, right


def side_of(shown: Shown, item: Compilation) -> Side:
    """One side with the sources of its generated kernels."""
    assert shown.report is not None
    generated = [kernel for kernel in item.kernels if not kernel.extern]
    sources = {kernel.id: kernel_code(kernel, text_of(shown, kernel.output_code)) for kernel in generated}
    return Side(shown.report, item, sources)


def time_words(name: str, sides: list[KernelSide]) -> str:
    """How the times of one side were got."""
    timed = [side for side in sides if side.time_s is not None]
    if not timed:
        return f"{name}: no kernel has a time"
    estimated = any(side.timed == "estimated" for side in timed)
    total = fmt.duration_s(sum(side.time_s or 0.0 for side in timed))
    missing = f", {len(sides) - len(timed)} without a time" if len(timed) < len(sides) else ""
    return f"{name}: {total} in all kernels, {'estimated by its roofline' if estimated else 'measured'}{missing}"


def pair_id(pair: KernelPair) -> str:
    """What the URL calls a pair: its left kernel as every page does, or the right one that stands alone."""
    return f"{'k' if pair.left else 'r'}:{pair.either.kernel}"


def chosen(pairs: tuple[KernelPair, ...]) -> KernelPair:
    """The pair that the URL selects, else the first that differs."""
    by_id = {pair_id(pair): pair for pair in pairs}
    return by_id.get(url.selected() or "") or next((pair for pair in pairs if pair.differs), pairs[0])


def sources(pair: KernelPair, left: Side, right: Side, key: str) -> None:
    """Both kernels' sources: their difference where they are one language, else side by side."""
    texts = [
        side.code.get(kernel.kernel, "") if kernel else "" for side, kernel in ((left, pair.left), (right, pair.right))
    ]
    if not any(texts):
        st.caption("Extern kernels are library functions: there is no generated source to compare.")
        return
    if pair.left is None or pair.right is None or pair.left.language != pair.right.language:
        side_by_side(pair, texts, key)
        return
    diff = diff_texts(texts[0], texts[1], f"{pair.left.name}, left", f"{pair.right.name}, right")
    if not diff.text:
        st.success("The generated sources are the same, to the letter.")
        return
    if pair.same_text:
        st.caption("The function is the same text; what differs are names, hints, and the device's properties.")
    diff_view("difference of the generated sources", diff.text, f"{key}-diff", diff.left_out)


def side_by_side(pair: KernelPair, texts: list[str], key: str) -> None:
    """Two sources that no diff could tell anything about."""
    for column, kernel, text, name in zip(
        st.columns(2, gap="medium"), (pair.left, pair.right), texts, ("left", "right"), strict=True
    ):
        with column:
            if kernel is None or not text:
                st.caption(f"Nothing was generated on the {name}.")
                continue
            picture = CodePicture(kernel.name, LANGUAGES.get(kernel.language, ""), code_lines(text, prefix=name[0]))
            code_view(picture, key=f"{key}-{name}", height=560, channel=f"targets-{name}")


here, report = require_report("What differs between two targets will stand here.")
item = shown_compilation(report)
if item is None or not item.kernels:
    st.title("This compilation has no kernel to compare.", anchor=False)
    st.write("Only the backend `inductor` generates kernels; a compilation without a graph has none either.")
    st.stop()
others = other_runs(here)
if not others:
    st.title("There is no other run of this model yet.", anchor=False)
    st.write(
        "Run it with other options, or generate it for an accelerator that need not be here; then compare the two."
    )
    retarget(here)
    st.stop()

title = st.container()
left_column, right_column = st.columns(2, gap="medium", vertical_alignment="bottom")
with right_column, st.container(horizontal=True, vertical_alignment="bottom"):
    url.read(url.OTHER, others, default_other(here, others))
    other_id = st.selectbox("Right", list(others), key=url.OTHER, format_func=lambda name: others.get(name, name))
    retarget(here)
url.write(url.OTHER)
there = open_shown(other_id) if other_id else None
opposed = opposite(there.report, item) if there is not None and there.report is not None else None
if there is None or opposed is None:
    title.title("The run on the right has no kernel to compare with.", anchor=False)
    st.write("It failed before code was generated, or its backend is not `inductor`. Choose another one.")
    st.stop()

ids = (here.run.id, str(report.log_bytes), item.id, there.run.id, opposed.id)
comparison, left, right = compared(ids, (here, item), (there, opposed))
pairs = comparison.pairs
left_column.markdown(f"**Left**, the shown run: {plain(comparison.left, 160)}.")
right_column.markdown(f"**Right**: {plain(comparison.right, 160)}.")
title.title(comparison.sentence, anchor=False, help=GLOSSARY["kernel"])
st.caption(
    "; ".join(
        time_words(name, [kernel for pair in pairs if (kernel := getattr(pair, name.lower())) is not None])
        for name in ("Left", "Right")
    )
    + ". Cells with ≠ differ; – is not known."
)
key = f"targets-{item.id}-{there.run.id}"
st.dataframe(
    table(pairs),
    hide_index=True,
    on_select=partial(select_row, key, [pair_id(pair) for pair in pairs]),
    selection_mode="single-row",
    key=key,
    column_config=COLUMNS,
    height="content" if len(pairs) < 12 else 430,
)
pair = chosen(pairs)
url.select(pair_id(pair))
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(code(pair.either.name))
    json_twin("comparison", comparison, key="targets")
st.dataframe(details(pair), hide_index=True, height="content", key=f"{key}-pair-{pairs.index(pair)}")
sources(pair, left, right, f"{key}-{pair_id(pair)}")
