"""Downloads: the log, the report, and the page's content as text."""

import csv
import io
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import Run, as_json, package_files
from core.base import words as fmt
from core.views import scrub
from core.views.blocks import Table
from core.views.run_files import RunFiles
from pages.look.text import code
from pages.session.actions import attempt
from pages.session.server import cached

PACKAGE = ".pt2"
OCTETS = "application/octet-stream"
# Streamlit keeps downloads in memory; larger ones are available on the command line.
MOST_DOWNLOADED_BYTES = 256 * 1024**2  #: limit: a package to download


def download(
    label: str, data: str | bytes | Callable[[], str | bytes], name: str, mime: str = OCTETS, **options: Any
) -> None:
    """Draw a button that downloads a file without a rerun; `data` may make the file on the click."""
    st.download_button(label, data, name, mime, on_click="ignore", **{"icon": ":material/download:", **options})


def log_download(run: Run, key: str | None = None) -> None:
    """Draw the download of the TORCH_TRACE log, which tlparse reads."""
    log = run.log_path()
    if log is not None:
        download("Log", log.read_bytes, f"{run.id}.log", "text/plain", key=key)


def report_download(run: Run, key: str | None = None) -> None:
    """Draw the download of the whole report as JSON."""
    if run.log_path() is not None:
        download("Report", RunFiles(run).report_json, f"{run.id}.json", "application/json", key=key)


def html_download(run: Run) -> None:
    """Draw the downloads of a run as one HTML file, and of its debug files, with kinds to scrub."""
    if run.log_path() is None:
        return
    with st.popover("Export", icon=":material/ios_share:", help="The run as one file that opens without a server"):
        scrubber = scrub_choice("export", run)
        if scrubber is None:
            return
        files = RunFiles(run)
        scrubbed_download(
            "HTML",
            lambda: files.html(scrubber),
            scrubber,
            name=f"{run.id}.html",
            mime="text/html",
            icon=":material/html:",
            key=f"html-{run.id}",
            help="Findings, graphs, code, guards and charts in one file",
        )
        if files.has_debug_files:
            scrubbed_download(
                "Debug files",
                lambda: files.debug_zip(scrubber),
                scrubber,
                name=f"{run.id}-debug.zip",
                mime="application/zip",
                icon=":material/folder_zip:",
                key=f"debug-{run.id}",
                help="The files of TORCH_COMPILE_DEBUG=1, as far as they were recorded",
            )


def comparison_download(left: Run, right: Run) -> None:
    """Draw the download of two runs' comparison as one HTML file, and the choice of text to scrub."""
    with st.popover("Export", icon=":material/ios_share:", help="Both runs as one file that opens without a server"):
        scrubber = scrub_choice("compare", left, right)
        if scrubber is None:
            return
        scrubbed_download(
            "HTML",
            lambda: RunFiles(left).comparison_html(right, scrubber),
            scrubber,
            name=f"{left.id}-{right.id}.html",
            mime="text/html",
            icon=":material/html:",
            key=f"compare-html-{left.id}-{right.id}",
            help="Verdicts, differences, graphs, kernels, guards and times in one file",
        )


def scrubbed_download(
    label: str, make: Callable[[], str | bytes], scrubber: scrub.Scrubber, *, key: str, **options: Any
) -> None:
    """Draw the download of a file; if scrubbed texts stay in it, list them and let the visitor allow it."""
    left = _leftovers(key, tuple(secret.text for secret in scrubber.secrets), make, scrubber)
    allowed = True
    if left:
        st.warning(code(scrub.leftover_words(left)))
        allowed = st.checkbox(f"Download {label} with these texts", key=f"leftovers-{key}")
    download(label, make, key=key, disabled=not allowed, **options)


@cached()
def _leftovers(
    key: str, secrets: tuple[str, ...], _make: Callable[[], str | bytes], _scrubber: scrub.Scrubber
) -> tuple[str, ...]:
    if not secrets:
        return ()
    content = _make()
    return RunFiles.leftovers(content.encode("utf-8", "replace") if isinstance(content, str) else content, _scrubber)


def scrub_choice(place: str, run: Run, right: Run | None = None) -> scrub.Scrubber | None:
    """Let the visitor choose the kinds of text to scrub from a file of one or two runs.

    Show the replacements, and return the scrubber. None if a log is too large to search; the page then shows the
    reason.
    """
    ids = tuple(each.id for each in (run, right) if each is not None)
    kinds = st.pills(
        "Replace by placeholders", list(scrub.KINDS), selection_mode="multi", key=f"scrub-{place}-{'-'.join(ids)}"
    )
    sizes = tuple(path.stat().st_size for each in (run, right) if each is not None and (path := each.log_path()))
    scrubber = attempt(lambda: _scrubber(ids, tuple(kinds), sizes, run, right))
    for line in scrubber.preview if scrubber is not None else ():
        st.caption(code(line))
    return scrubber


@cached()
def _scrubber(
    ids: tuple[str, ...], kinds: tuple[scrub.Kind, ...], log_bytes: tuple[int, ...], _run: Run, _right: Run | None
) -> scrub.Scrubber:
    return RunFiles(_run).scrubber(kinds, _right)


def perfetto_download(run: Run) -> None:
    """Draw the download of a run as a trace for ui.perfetto.dev."""
    download(
        "Perfetto",
        partial(RunFiles(run).perfetto, str(st.context.url or "").partition("?")[0].rpartition("/")[0]),
        f"{run.id}.perfetto.json",
        "application/json",
        help="Phases, kernels and memory of the run as a trace that ui.perfetto.dev opens",
    )


def package_download(run: Run) -> None:
    """Draw the download of a run's AOTInductor package; nothing without one, or if it is too large."""
    package = next((path for path in package_files(run) if path.suffix == PACKAGE), None)
    size = package.stat().st_size if package else 0
    if package is None or size > MOST_DOWNLOADED_BYTES:
        return
    download(
        "Package",
        package.read_bytes,
        package.name,
        help=f"{package.name}, {fmt.bytes_(size)}: for `aoti_load_package` and `AOTIModelPackageLoader`",
    )


def downloads() -> DeltaGenerator:
    """Draw a compact menu of downloads."""
    return st.popover("", icon=":material/download:", help="What this page shows, as a file")


def json_twin(name: str, value: Any, *, key: str) -> None:
    """Draw a button that downloads the page's content, or a function's result, as JSON."""
    download(
        "JSON",
        lambda: as_json(value() if callable(value) else value),
        f"{name}.json",
        "application/json",
        key=f"json-{key}",
        help="What this page shows, as JSON",
    )


def csv_twin(name: str, make: Callable[[], str], *, key: str) -> None:
    """Draw a button that downloads the page's table as CSV for a spreadsheet."""
    download("CSV", make, f"{name}.csv", "text/csv", key=f"csv-{key}", help="The table of this page, for a spreadsheet")


def table_twin(table: Table[Any], *, name: str) -> None:
    """Draw a button that downloads a table of blocks as CSV; text that looks like a formula is escaped."""
    csv_twin(name, lambda: table_as_csv(table), key=table.name)


def table_as_csv(table: Table[Any]) -> str:
    """Return a table as CSV for a spreadsheet; text that looks like a formula is escaped."""
    columns = [column.name for column in table.columns]
    rows = ([column.value(row) for column in table.columns] for row in table.rows)
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows([*map(fmt.spreadsheet_cell, row)] for row in (columns, *rows))
    return file.getvalue()


def text_twin(name: str, text: str | Callable[[], str], *, key: str) -> None:
    """Draw a button that downloads the page's content, or a function's result, as text."""
    download("Text", text, f"{name}.txt", "text/plain", key=f"text-{key}")
