"""The contents of a package: its files as a tree, the text of the chosen file, and AOTInductor's metadata."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.analysis import AotiStory, TreeRow, package_tree
from core.base import words as fmt
from core.report import Package, PackagedFile, PackagePart, PackageText
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import SHORT, TALL, code_height
from pages.look.text import LONGEST_LINE, LONGEST_NAME, code, one_line, plain
from pages.session import url
from pages.session.downloads import package_download
from pages.session.tables import newly_picked, shown
from pages.session.view import RunView

MOST_FILES = 400
MOST_METADATA = 60
# Order of interest: the C++ that calls the kernels, then the kernels.
FIRST = ("wrapper", "kernels", "metadata")
INDENT = "\u2003"
# Torch's name for compiled code: a digest in base 32.
DIGEST = re.compile(r"\bc[a-z2-7]{50,}\.?")
SHORT_DIGEST = 8


def package_panel(view: RunView, story: AotiStory) -> None:
    """Draw the files of the package beside the text of one of them."""
    package = story.package
    if package is None:
        st.caption("The model was not exported, so there is no package.")
        return
    if package.problem:
        st.code(package.problem, language=None, height=code_height(package.problem))
    files = package.files[:MOST_FILES]
    if not files:
        return
    left, right = st.columns([2, 3], gap="medium")
    with left:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(plain(package.file or "model.pt2", LONGEST_NAME), anchor=False)
            package_download(view.run)
        chosen = _tree(view, package, files)
        _metadata(package)
    with right:
        _text(view, chosen)


def _tree(view: RunView, package: Package, files: Sequence[PackagedFile]) -> PackagedFile:
    """Draw the tree; return the file that is chosen, by a click or by the URL."""
    rows = package_tree(files)
    frame = pd.DataFrame(
        [{"file": _indented(row), "kind": row.kind, "size": fmt.bytes_(row.bytes)} for row in rows],
    )
    clicked = newly_picked(frame, rows, "package-files", height=SHORT)
    if clicked is not None and clicked.file is not None:
        url.put(url.FILE, clicked.file.name)
    left_out = package.left_out + len(package.files) - len(files)
    if left_out:
        st.caption(f"{fmt.count(left_out, 'more file')} not shown.")
    asked = url.asked(url.FILE)
    return next((file for file in files if file.name == asked), None) or _first(view, files)


def _indented(row: TreeRow) -> str:
    return INDENT * row.depth + _short(row.name)


def _short(name: str) -> str:
    """Return a name without the middle of torch's digest at its start."""
    shown = one_line(name, LONGEST_LINE)
    return DIGEST.sub(lambda entry: f"{entry.group()[:SHORT_DIGEST]}…", shown)


def _first(view: RunView, files: Sequence[PackagedFile]) -> PackagedFile:
    """Return the first file to show: one with a recorded text, the wrapper before others."""
    readable = [file for file in files if text_of(view, "file", file.name) is not None]
    by_kind = (file for kind in FIRST for file in readable if file.kind == kind)
    return next(by_kind, None) or next(iter(readable), files[0])


def _text(view: RunView, file: PackagedFile) -> None:
    """Draw the text of a file, or its kind if it has no text."""
    name = _short(file.name.rsplit("/", 1)[-1])
    text = text_of(view, "file", file.name)
    if text is None:
        st.subheader(plain(name, LONGEST_NAME), anchor=False)
        st.caption(f"{fmt.bytes_(file.bytes)} of which no text was recorded.")
        return
    lines = code_lines(view.text(text.text), prefix="p")
    code_view(CodePicture(name, text.language, lines), key=f"package-{file.name}", height=TALL, channel="package")


def _metadata(package: Package) -> None:
    """Draw AOTInductor's metadata of the package, and its digest."""
    rows = [
        {"metadata": one_line(name, LONGEST_NAME), "value": one_line(value, LONGEST_LINE)}
        for name, value in list(package.metadata.items())[:MOST_METADATA]
    ]
    if rows:
        shown(pd.DataFrame(rows), rows, height=SHORT)
    digest = f" SHA-256 {code(package.sha256, LONGEST_NAME)}" if package.sha256 else ""
    st.caption(f"{fmt.count(package.constants, 'parameter or buffer', 'parameters and buffers')} in it.{digest}")


def text_of(view: RunView, part: PackagePart, name: str) -> PackageText | None:
    """Return a text of a package by its part and name, any name if none is passed; None if it was not recorded."""
    found = (text for text in view.report.package_texts if text.part == part and (not name or text.name == name))
    return next(found, None)
