"""`python -m core export`, `issue`, `logs`, `artifacts`, `debug` and `skill`: runs in other forms.

`export` writes one HTML file or a trace, `issue` a bug report; on request, secrets are replaced by placeholders.
`skill` writes the instructions for coding agents. The others print or write a run's log as messages, records or debug
files.
"""

import argparse
import hashlib
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from core.base.errors import JobError, StoreError
from core.base.files import read
from core.base.machine import DASHBOARD_DIR
from core.base.words import bytes_, count
from core.commands.output import FAILED, OK, complain, print_start, write_file
from core.report import as_json
from core.runs.engine.opening import environment_here
from core.runs.store import Run, Store
from core.runs.stored import opened_log, side_of_run
from core.trace.index import index_of
from core.views.artifacts import ArtifactsView, artifacts_view
from core.views.markdown import CONTROL
from core.views.run_files import RunFiles, debug_folder
from core.views.scrub import KINDS, Scrubber, checked_kinds, leftover_words
from core.views.sharing import changed_words
from core.views.texts import NOT_RECORDED, LogsView


def add_export_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="stored run; @N: its rank N")
    command.add_argument("right", metavar="RIGHT", nargs="?", help="stored run to compare with, in the HTML file")
    command.add_argument("--html", metavar="FILE", help="file to write: findings, graphs, code, guards and charts")
    command.add_argument("--perfetto", metavar="FILE", help="file to write: phases, kernels, memory")
    _add_scrub_options(command)


def _add_scrub_options(command: argparse.ArgumentParser) -> None:
    """Add the options that replace secrets in a file by placeholders, and that preview the replacements."""
    command.add_argument("--scrub", metavar="KINDS", default="", help=f"replace by placeholders: {', '.join(KINDS)}")
    command.add_argument("--scrub-preview", action="store_true", help="show what --scrub replaces, and write nothing")
    command.add_argument("--allow-leftovers", action="store_true", help="write the file even if a scrubbed text stays")


def _scrubber_of(files: RunFiles, arguments: argparse.Namespace, right: Run | None = None) -> Scrubber:
    """Return the scrubber of the options for one or two runs; raises JobError for an unknown kind."""
    try:
        kinds = checked_kinds(arguments.scrub or (",".join(KINDS) if arguments.scrub_preview else ""))
    except ValueError as error:
        raise JobError("--scrub", str(error)) from None
    return files.scrubber(kinds, right)


def _is_preview(scrubber: Scrubber, arguments: argparse.Namespace) -> bool:
    """Print what is scrubbed and return True if only a preview was asked for."""
    if arguments.scrub_preview:
        print("\n".join(scrubber.preview) or "nothing to scrub")
    return bool(arguments.scrub_preview)


def _is_scrubbed(content: bytes, scrubber: Scrubber, arguments: argparse.Namespace) -> bool:
    """Return True if a finished file may be written; print the scrubbed texts that it still has."""
    leftovers = RunFiles.leftovers(content, scrubber)
    if not leftovers:
        return True
    written = "" if arguments.allow_leftovers else " It was not written; `--allow-leftovers` writes it."
    complain(f"{leftover_words(leftovers)}{written}", FAILED)
    return bool(arguments.allow_leftovers)


def export_command(arguments: argparse.Namespace) -> int:
    store = Store()
    files, right = RunFiles(store.open(arguments.run)), store.open(arguments.right) if arguments.right else None
    if not (arguments.html or arguments.perfetto or arguments.scrub_preview):
        raise JobError("export", "name a file to write: --html FILE or --perfetto FILE")
    if right is not None and arguments.perfetto:
        raise JobError("export", "--perfetto writes one run: leave the second one out")
    scrubber = _scrubber_of(files, arguments, right)
    if _is_preview(scrubber, arguments):
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
    if not _is_scrubbed(content, scrubber, arguments):
        return False
    write_file(path, content)
    print(f"{path}: {bytes_(len(content))}{use}")
    return True


def add_issue_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="stored run to report")
    command.add_argument("--out", metavar="FILE.zip", help="write the report with its script, model, job and trace")
    _add_scrub_options(command)


def issue_command(arguments: argparse.Namespace) -> int:
    files = RunFiles(Store().open(arguments.run))
    scrubber = _scrubber_of(files, arguments)
    if _is_preview(scrubber, arguments):
        return OK
    content = files.issue_zip(scrubber) if arguments.out else files.issue_markdown(scrubber).encode("utf-8", "replace")
    if not _is_scrubbed(content, scrubber, arguments):
        return FAILED
    if arguments.out:
        write_file(arguments.out, content)
    print(arguments.out or content.decode(), end="\n" if arguments.out else "")
    return OK


def add_logs_command(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "run", metavar="RUN", nargs="?", help="stored run; without it, torch's names of its logs are printed"
    )
    command.add_argument("--name", default="", help="messages of one artifact or logger")
    command.add_argument("--compilation", default="", metavar="ID", help="messages of one compilation, such as 0/0")
    command.add_argument("--search", default="", metavar="TEXT", help="messages with a text in them")


def logs_command(arguments: argparse.Namespace) -> int:
    if arguments.run is None:
        return _list_names()
    run = Store().open(arguments.run)
    side = side_of_run(run) if run.log_path() else None
    if side is None:
        raise StoreError(f"{run.id} has no log")
    view = LogsView(side.report, side.text, arguments.compilation, arguments.name, arguments.search)
    if not view.is_recorded:
        return complain(f"{view.title} {NOT_RECORDED}", FAILED)
    print(view.text)
    return OK


def _list_names() -> int:
    print_start()
    environment = environment_here()
    if environment.problem:
        return complain(environment.problem, FAILED)
    for name, description in sorted(environment.logs.items()):
        print(f"{name}\n    {description}" if description else name)
    return OK


def add_artifacts_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("what", metavar="RUN|LOG", help="stored run, log, or directory of a log")
    command.add_argument("--kind", default="", help="records of one kind, such as inductor_output_code")
    command.add_argument("--compilation", default="", metavar="ID", help="of one compilation, such as 0/0; - for none")
    command.add_argument("--search", default="", metavar="TEXT", help="records with a text in them")
    command.add_argument("--all", action="store_true", help="also chromium events and input descriptions")
    command.add_argument("--page", type=int, default=1, metavar="N", help="page of 1,000 records (1)")
    command.add_argument("--show", type=int, metavar="N", help="print the payload of record N as it is in the log")


def artifacts_command(arguments: argparse.Namespace) -> int:
    with opened_log(arguments.what) as log:
        if log is not None:
            return _print_artifacts(ArtifactsView(index_of(log.path)), arguments)
    return _print_artifacts(artifacts_view(Store().open(arguments.what)), arguments)


def _print_artifacts(whole: ArtifactsView, arguments: argparse.Namespace) -> int:
    view = ArtifactsView(whole.index, arguments.compilation, arguments.kind, arguments.search, arguments.all)
    view = replace(view, page=arguments.page)
    if arguments.show is not None:
        _write_payload(view.raw(arguments.show)[1])
        return OK
    if arguments.json:
        print(as_json(view.rows).decode())
        return OK
    print(f"{view.title}. {view.note}".strip())
    for row in view.rows:
        print(f"{row['record']:>7}  {row['compilation']:<10} {row['bytes'] or 0:>10}  {row['kind']}")
    return OK


def _write_payload(payload: bytes) -> None:
    """Write a payload unchanged; on a terminal, replace control characters."""
    if sys.stdout.isatty():
        print(CONTROL.sub("�", payload.decode("utf-8", "replace")))
    else:
        sys.stdout.buffer.write(payload)


def add_debug_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="stored run with its debug files")
    command.add_argument("--out", metavar="FILE.zip", help="write the files; without it, their names are printed")
    _add_scrub_options(command)


def debug_command(arguments: argparse.Namespace) -> int:
    run = Store().open(arguments.run)
    scrubber = _scrubber_of(RunFiles(run), arguments)
    if _is_preview(scrubber, arguments):
        return OK
    folder = debug_folder(run)
    if arguments.out:
        content = folder.as_zip(scrubber)
        if not _is_scrubbed(content, scrubber, arguments):
            return FAILED
        write_file(arguments.out, content)
    print(f"{folder.title}. {folder.missing}".rstrip())
    for path, text in folder.files():
        print(f"  {path}  {count(len(text), 'character')}")
    return OK


MOST_SKILL_BYTES = 1_000_000  #: an installed skill that is compared with this one
DIGEST = "<!-- digest: "


def add_skill_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("--to", metavar="DIR", required=True, type=Path, help="directory of an agent's skills")
    command.add_argument("--force", action="store_true", help="replace a skill that you changed")


def skill_command(arguments: argparse.Namespace) -> int:
    target = arguments.to / "compileboard" / "SKILL.md"
    text = (DASHBOARD_DIR / "docs" / "skill" / "SKILL.md").read_text(encoding="utf-8")
    if target.exists() and not (arguments.force or _is_ours(target)):
        return complain(changed_words(target), FAILED)
    with suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
    write_file(str(target), text.encode())
    print(target)
    return OK


def _is_ours(path: Path) -> bool:
    """Return True if a skill is as a version wrote it, by the digest in its last line."""
    try:
        text = read(path, MOST_SKILL_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    above, mark, digest = text.rpartition(f"\n{DIGEST}")
    return f"{mark[1:]}{digest}" == digest_line(above)


def digest_line(text: str) -> str:
    """Return the last line of a skill, by which a later version sees that nobody changed it."""
    return f"{DIGEST}{hashlib.sha256(text.encode()).hexdigest()[:16]} -->\n"
