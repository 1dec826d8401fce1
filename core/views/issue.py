"""A bug report about a run, in the form of PyTorch's issue template: Markdown, and a ZIP with its files."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.analysis import results, sentence, verdict
from core.analysis.numerics import bisection_words, minified_words, nan_words
from core.base.errors import StoreError
from core.base.words import bytes_, number
from core.job import CompileJob, job_to_json
from core.job.prepared import checked_script
from core.report import Report, Setting
from core.runs.doctor import collected_environment, is_torch_here
from core.runs.progress import ending_words
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import open_report
from core.views.markdown import LONGEST_LINE, one_line
from core.views.scrub import KINDS, NOTHING, Scrubber, read_log

# GitHub takes 65,536 characters; the two longest parts share them.
MAX_PART_CHARS = 25_000
MAX_LOG_BYTES = 64 * 1024**2
FENCE = re.compile(r"`{3,}")
# Frames of the process that ran the model, which no reader of the report has.
OUR_FRAMES = re.compile(r'^  File "[^"\n]*/core/worker/[^"\n]*", line .*\n(?:    .*\n)*', re.MULTILINE)
NOT_HERE = "The run's torch is not installed here. Add what `python -m torch.utils.collect_env` prints where it ran."
NOT_COLLECTED = "`python -m torch.utils.collect_env` could not be run here. Add what it prints."
FILES = {
    "issue.md": "the report, to paste into an issue",
    "script.py": "a script that shows the failure by itself; it needs torch alone",
    "model.py": "the model's file, as the run had it",
    "job.json": "all settings of the run; `python -m core run job.json` repeats it",
    "trace.log": "the log of TORCH_TRACE, for tlparse or `python -m core open`",
}
README = "README.txt"


def issue_of(run: Run) -> IssueView:
    """Return the bug report about a stored run; raises StoreError for an imported log, which has no job."""
    job = run.job()
    if job is None:
        raise StoreError(f"{run.id} is an imported log: it has no job to report about")
    report = open_report(run) if run.log_path() else None
    return IssueView(run, job, run.status(), report, run.code())


@dataclass(frozen=True)
class IssueView:
    """A bug report about an ended run; `code` is its model's file, empty if it is not stored."""

    run: Run
    job: CompileJob
    status: Status
    report: Report | None
    code: str
    collect: Callable[[], str] = collected_environment

    @property
    def title(self) -> str:
        """The title of the issue."""
        error = self.report.error if self.report else None
        if error is not None:
            message = one_line(error.message.strip().partition("\n")[0], LONGEST_LINE)
            return ": ".join(filter(None, (f"{self.call} raises {error.type}", message)))
        if self.report is not None and self.status.state == "done":
            outcome = results(self.report)
            return f"{self.call}: {outcome.outcome if outcome else 'results were not compared'}"
        return f"{self.call}: the process {self.status.state}"

    @property
    def call(self) -> str:
        """The call of torch.compile."""
        return self.job.compile.as_call()

    @property
    def script(self) -> str:
        """A script that fails by itself: torch's minified graph if it does, otherwise the model's file."""
        bisection = self.report.bisection if self.report else None
        if bisection is not None and bisection.reproduces:
            return checked_script(self.job, bisection.script, minified=True)
        return checked_script(self.job, self.code)

    @property
    def markdown(self) -> str:
        """The report, with the headings of PyTorch's template."""
        parts = [
            f"# {self.title}",
            "### 🐛 Describe the bug",
            *self._facts(),
            fenced(self.script, "python"),
            "### Error logs",
            fenced(self._error, "") if self._error else "No error was recorded.",
            "### Versions",
            *self._versions(),
        ]
        return "\n\n".join(parts) + "\n"

    @property
    def _error(self) -> str:
        if self.report is not None and self.report.error is not None:
            return OUR_FRAMES.sub("", self.report.error.traceback) or self.report.error.message
        return "" if self.status.state == "done" else f"{self.status.reason}\n{self.run.output_tail()}".strip()

    def _facts(self) -> Iterator[str]:
        if self.report is None:
            yield f"The run ended: {self.status.state}."
            return
        yield sentence(verdict(self.report))
        if ending := ending_words(self.run, self.report):
            yield ending
        if self.report.bisection is not None:
            words = (bisection_words, minified_words, nan_words)
            yield from filter(None, (write(self.report.bisection) for write in words))

        settings = ", ".join(self.job.differences())
        if settings:
            yield f"Settings: `{settings}`"

    def _versions(self) -> Iterator[str]:
        """Yield what torch's collect_env prints if the run's torch is here, otherwise what the run recorded."""
        setting = self.report.setting if self.report else Setting()
        here = is_torch_here(setting.torch)
        collected = self.collect() if here else ""
        if collected:
            yield fenced(collected, "")
        else:
            recorded = {"PyTorch": setting.torch, "Python": setting.python}
            yield fenced("\n".join(f"{name} version: {recorded[name] or 'not recorded'}" for name in recorded), "")
            yield NOT_COLLECTED if here else NOT_HERE
        device = f"Device of the run: {setting.device or self.job.device}"
        yield f"{device}, CPUs: {setting.cpus or 'not recorded'}, threads of torch: {setting.threads or 'not recorded'}"

    def as_zip(self, scrubber: Scrubber = NOTHING) -> bytes:
        """Return a ZIP with the report, its script, the model's file, the job, and torch's trace, without secrets."""
        buffer = io.BytesIO()
        log = self.run.log_path()
        is_small = log is not None and log.stat().st_size <= MAX_LOG_BYTES
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(README, self._contents(scrubber, log if is_small else None))
            archive.writestr("issue.md", scrubber.text(self.markdown))
            archive.writestr("script.py", scrubber.text(self.script))
            archive.writestr("model.py", scrubber.text(self.code))
            archive.writestr("job.json", scrubber.document(job_to_json(self.job).decode()))
            if log is not None and is_small:
                archive.writestr("trace.log", scrubber.log(read_log(log)).encode("utf-8", "surrogateescape"))
        return buffer.getvalue()

    def _contents(self, scrubber: Scrubber, log: Path | None) -> str:
        """Return the list of the files in the ZIP, what is not in it, and what was replaced."""
        lines = [f"{name}: {FILES[name]}" for name in FILES if name != "trace.log" or log]
        left_out = self.run.log_path() if log is None else None
        if left_out is not None:
            lines.append(f"The log of TORCH_TRACE has {bytes_(left_out.stat().st_size)} and is not in this file.")
        elif log is None:
            lines.append("The run wrote no log of TORCH_TRACE.")
        kinds = [kind for kind in KINDS if any(secret.kind == kind for secret in scrubber.secrets)]
        if kinds:
            lines.append(f"Replaced by placeholders: {', '.join(kinds)}.")
        return "\n".join(lines) + "\n"


def fenced(text: str, language: str) -> str:
    """Return text as a code block of Markdown; a long one keeps its end."""
    left_out = len(text) - MAX_PART_CHARS
    shown = (
        text if left_out <= 0 else f"… {number(left_out)} characters before this are left out\n{text[-MAX_PART_CHARS:]}"
    )
    longest = max((len(ticks) for ticks in FENCE.findall(shown)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{shown.strip(chr(10))}\n{ticks}"
