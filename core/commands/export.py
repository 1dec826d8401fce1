"""`python -m core export` and `issue`: a run as one HTML file, a trace or a bug report.

On request, secrets are replaced by placeholders.
"""

from __future__ import annotations

import argparse

from core.base.errors import JobError
from core.base.words import bytes_
from core.commands.output import FAILED, OK, complain, write_file
from core.runs.store import Run, Store
from core.views.run_files import RunFiles
from core.views.scrub import KINDS, Scrubber, checked_kinds, leftover_words


def add_export_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `export`."""
    command.set_defaults(function=_export)
    command.add_argument("run", metavar="RUN", help="stored run; @N: its rank N")
    command.add_argument("right", metavar="RIGHT", nargs="?", help="stored run to compare with, in the HTML file")
    command.add_argument("--html", metavar="FILE", help="file to write: findings, graphs, code, guards and charts")
    command.add_argument("--perfetto", metavar="FILE", help="file to write: phases, kernels, memory")
    add_scrub_options(command)


def add_scrub_options(command: argparse.ArgumentParser) -> None:
    """Add the options that replace secrets in a file by placeholders, and that preview the replacements."""
    command.add_argument("--scrub", metavar="KINDS", default="", help=f"replace by placeholders: {', '.join(KINDS)}")
    command.add_argument("--scrub-preview", action="store_true", help="show what --scrub replaces, and write nothing")
    command.add_argument("--allow-leftovers", action="store_true", help="write the file even if a scrubbed text stays")


def scrubber_of(files: RunFiles, arguments: argparse.Namespace, right: Run | None = None) -> Scrubber:
    """Return the scrubber of the options for one or two runs; raises JobError for an unknown kind."""
    try:
        kinds = checked_kinds(arguments.scrub or (",".join(KINDS) if arguments.scrub_preview else ""))
    except ValueError as error:
        raise JobError("--scrub", str(error)) from None
    return files.scrubber(kinds, right)


def scrubbed_well(content: bytes, scrubber: Scrubber, arguments: argparse.Namespace) -> bool:
    """Return True if a finished file may be written; print the scrubbed texts that it still has."""
    leftovers = RunFiles.leftovers(content, scrubber)
    if not leftovers:
        return True
    written = "" if arguments.allow_leftovers else " It was not written; `--allow-leftovers` writes it."
    complain(f"{leftover_words(leftovers)}{written}", FAILED)
    return bool(arguments.allow_leftovers)


def _export(arguments: argparse.Namespace) -> int:
    store = Store()
    files, right = RunFiles(store.open(arguments.run)), store.open(arguments.right) if arguments.right else None
    if not (arguments.html or arguments.perfetto or arguments.scrub_preview):
        raise JobError("export", "name a file to write: --html FILE or --perfetto FILE")
    if right is not None and arguments.perfetto:
        raise JobError("export", "--perfetto writes one run: leave the second one out")
    scrubber = scrubber_of(files, arguments, right)
    if arguments.scrub_preview:
        print("\n".join(scrubber.preview) or "nothing to scrub")
        return OK
    written = []
    if arguments.perfetto:
        text = scrubber.document(files.perfetto().decode())
        written.append(_write(arguments.perfetto, text, ", to open on ui.perfetto.dev", scrubber, arguments))
    if arguments.html:
        html = files.comparison_html(right, scrubber) if right else files.html(scrubber)
        written.append(_write(arguments.html, html, ", to open in a browser", scrubber, arguments))
    return OK if all(written) else FAILED


def _write(path: str, text: str, use: str, scrubber: Scrubber, arguments: argparse.Namespace) -> bool:
    """Write a file and print its size; return False if it still has scrubbed texts and was not written."""
    content = text.encode("utf-8", "replace")
    if not scrubbed_well(content, scrubber, arguments):
        return False
    write_file(path, content)
    print(f"{path}: {bytes_(len(content))}{use}")
    return True


def add_issue_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `issue`."""
    command.set_defaults(function=_issue)
    command.add_argument("run", metavar="RUN", help="stored run to report")
    command.add_argument("--out", metavar="FILE.zip", help="write the report with its script, model, job and trace")
    add_scrub_options(command)


def _issue(arguments: argparse.Namespace) -> int:
    files = RunFiles(Store().open(arguments.run))
    scrubber = scrubber_of(files, arguments)
    if arguments.scrub_preview:
        print("\n".join(scrubber.preview) or "nothing to scrub")
        return OK
    content = files.issue_zip(scrubber) if arguments.out else files.issue_markdown(scrubber).encode("utf-8", "replace")
    if not scrubbed_well(content, scrubber, arguments):
        return FAILED
    if arguments.out:
        write_file(arguments.out, content)
    print(arguments.out or content.decode(), end="\n" if arguments.out else "")
    return OK
