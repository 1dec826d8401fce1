"""Files of a run to download: report, HTML, Perfetto trace, bug report, and debug directories."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

import msgspec

from core.analysis.kernels.kernel import measured_seconds
from core.base.decoder import toml_as
from core.base.errors import StoreError
from core.base.machine import PROJECT_DIR
from core.base.words import bytes_, count
from core.code.diff import diff_texts
from core.job import CompileJob, job_to_json
from core.report import Payload, Report, to_json
from core.report.measurements import MemoryUse
from core.report.model import DEBUG_FILES
from core.runs.store import Run
from core.runs.stored import open_report, side_of_run
from core.views.comments import CommentsView
from core.views.html import as_html, comparison_as_html, texts_of_file, words_of_file
from core.views.scrub import NOTHING, Kind, Scrubber, read_log
from core.views.scrub import scrubber as make_scrubber
from core.views.selection import OpId
from core.views.sharing import issue_of
from core.views.texts import SourceView

MAX_SCRUBBED_BYTES = 64 * 1024**2  #: limit: a log that is scrubbed
COMPILING, KERNELS, MEMORY = 1, 2, 3
PROCESSES = {
    COMPILING: "torch.compile: phases",
    KERNELS: "kernels, each call's measured time, one after another",
    MEMORY: "memory of one call",
}


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of a stored run, made on request; methods that make files raise StoreError, TraceError."""

    issue_help: ClassVar[str] = (
        "A report in the form of PyTorch's issue template: what happened, a script, the error, the versions"
    )

    run: Run

    def report_json(self) -> bytes:
        """Return the whole report as indented JSON."""
        return to_json(open_report(self.run), 2)

    def perfetto(self, pages: str = "") -> bytes:
        """Return the run as a trace for ui.perfetto.dev; `pages` is the address of the dashboard's pages."""
        return perfetto_trace(open_report(self.run), f"{pages}/kernels?run={quote(self.run.id)}" if pages else "")

    def html(self, scrubber: Scrubber = NOTHING) -> str:
        """Return the run as one HTML file that needs no server."""
        return as_html(self.run, scrubber)

    def issue_markdown(self, scrubber: Scrubber = NOTHING) -> str:
        """Return a bug report in the form of PyTorch's issue template."""
        return scrubber.text(issue_of(self.run).markdown)

    def issue_zip(self, scrubber: Scrubber = NOTHING) -> bytes:
        """Return the bug report with its script, model, job and trace as one ZIP."""
        return issue_of(self.run).as_zip(scrubber)

    def comparison_html(self, right: Run, scrubber: Scrubber = NOTHING) -> str:
        """Return the run compared with a second one as one HTML file that needs no server."""
        return comparison_as_html(self.run, right, scrubber)

    def scrubber(self, kinds: Iterable[Kind], right: Run | None = None) -> Scrubber:
        """Return a scrubber for the files of this run and of `right`; raises StoreError if a log is too large."""
        if not (kinds := tuple(kinds)):
            return NOTHING
        parts = [searched_texts(run) for run in (self.run, right) if run is not None]
        return make_scrubber(
            kinds,
            codes=[text for part in parts for text in part.codes],
            texts=[text for part in parts for text in part.texts],
            names=[text for part in parts for text in part.names],
            reserved=words_of_file(),
            devices=[part.device for part in parts],
            places=[place for part in parts for place in part.places],
        )

    @staticmethod
    def leftovers(content: bytes, scrubber: Scrubber) -> tuple[str, ...]:
        """Return the replaced texts that are still in a finished file of `RunFiles`."""
        return scrubber.leftovers(content, texts_of_file())

    @property
    def has_debug_files(self) -> bool:
        """True if the log has any file of torch's debug directories."""
        return self.run.log_path() is not None and bool(open_report(self.run).debug_files)

    def edited(self, output_code: Payload, name: str) -> str:
        """Return a backend that runs a debug file of an output code, to edit; empty if the log lacks it."""
        folder = debug_folder(self.run)
        graph = next((file.graph for file in folder.report.debug_files if file.text.offset == output_code.offset), -1)
        file = next((file for file in folder.report.debug_files if (file.graph, file.name) == (graph, name)), None)
        return edited_backend(name, folder.read(file.text), graph) if file else ""

    @staticmethod
    def changes(original: str, edited: str) -> str:
        """Return the changes of an edited file as a unified diff; empty if there are none."""
        return diff_texts(original, edited, "generated", "edited").text

    def debug_zip(self, scrubber: Scrubber = NOTHING) -> bytes:
        """Return torch's debug directories as one ZIP."""
        return debug_folder(self.run).as_zip(scrubber)


@dataclass(frozen=True, slots=True)
class SearchedTexts:
    """Texts of a run that a scrubber searches: code, other texts, names, the device and known paths."""

    codes: tuple[str, ...]
    texts: tuple[str, ...]
    names: tuple[str, ...]
    device: str
    places: tuple[str, ...]


def searched_texts(run: Run) -> SearchedTexts:
    """Return the content of a run that a scrubber searches; raises StoreError if its log is too large."""
    side, log = (side_of_run(run), run.log_path()) if run.log_path() else (None, None)
    if log is not None and log.stat().st_size > MAX_SCRUBBED_BYTES:
        raise StoreError(f"the log has more than {bytes_(MAX_SCRUBBED_BYTES)}: it cannot be scrubbed")
    job, status, sources = run.job(), run.status(), side.report.sources if side else ()
    code = SourceView(side.report, side.text) if side else None
    comments = CommentsView.stored(run).talk.comments
    authors = [each.by for each in comments if each.by]
    names = [run.name(), status.title, *(PurePath(source.path).stem for source in sources), run.note(), *authors]
    return SearchedTexts(
        codes=(run.code() if job else "", *(code.text(source.path) for source in sources if code)),
        texts=(
            *(read_log(log) if log else "", run.output_tail(), job_to_json(job).decode() if job else ""),
            *(run.note(), *(each.text for each in comments), *authors),
        ),
        names=(*names, *_model_names(job)),
        device=side.report.setting.device if side else "",
        places=(
            *(source.path for source in sources),
            *([job.model.value] if job and job.model.kind == "file" else []),
            *map(str, (run.path.parent, Path.cwd(), Path.home(), PROJECT_DIR)),
        ),
    )


def _model_names(job: CompileJob | None) -> tuple[str, ...]:
    """Return the name of the job's sample, or of its file."""
    if job is None or job.model.kind == "code":
        return ()
    return (PurePath(job.model.value).stem if job.model.kind == "file" else job.model.value,)


# Lines of fx_graph_runnable.py that set the process up: the worker's settings stay as they are.
SET_UP = re.compile(
    r"^(os\.environ\[.*|torch\._(dynamo|inductor|functorch)\S*config\.\S+ = .*|"
    r"import (compileboard\.)?core\.worker\.\S+)\n",
    re.MULTILINE,
)
MAIN = re.compile(r"^if __name__ == ['\"]__main__['\"]:\n(?:[ \t]+.*\n|\n)*\Z", re.MULTILINE)
OUTPUT_CODE, RUNNABLE = "output_code.py", "fx_graph_runnable.py"
PARTS = toml_as(Path(__file__).with_name("run_files.toml"), dict[str, str])


def edited_backend(file: str, text: str, graph: int) -> str:
    """Return the code of a backend that runs a debug file in place of one graph.

    `file` is `output_code.py` or `fx_graph_runnable.py`; `graph` is the graph's number among the graphs that Inductor
    compiles, from 0.
    """
    body = PARTS["called" if file == OUTPUT_CODE else "lowered"]
    kept = MAIN.sub("", SET_UP.sub("", text) if file == RUNNABLE else text).rstrip()
    header = PARTS["header"].format(file=file, graph=graph)
    return f"{header}\n{kept}\n{PARTS['adapter'].format(graph=graph, body=body)}"


README = "README.txt"
# Lines of fx_graph_runnable.py that set the recorders of our worker, which do not exist elsewhere.
OUR_SETTINGS = re.compile(
    r"^(import (compileboard\.)?core\.worker\.\S+|"
    r"torch\._inductor\.config\._(pre|post)_fusion_custom_pass = (compileboard\.)?core\.worker\..*)\n",
    re.MULTILINE,
)


def debug_folder(run: Run) -> DebugFolder:
    """Return the debug directories of a run; raises StoreError if its log has none of their files."""
    side = side_of_run(run) if run.log_path() else None
    if side is None or not side.report.debug_files:
        raise StoreError("the log has no debug file: Inductor compiled no graph, or it was cached")
    return DebugFolder(side.report, side.text)


@dataclass(frozen=True)
class DebugFolder:
    """The debug directories of a report; `read` returns a payload of its log as text."""

    report: Report
    read: Callable[[Payload], str]

    @property
    def missing(self) -> str:
        """A sentence with the files that were not recorded; empty if all files were recorded."""
        names = {file.name for file in self.report.debug_files}
        missing = [name for name in DEBUG_FILES if name not in names]
        return f"Not recorded: {', '.join(missing)}. A run with `--debug-files` records them." if missing else ""

    @property
    def title(self) -> str:
        """The number of graphs and files in words."""
        graphs = len({file.graph for file in self.report.debug_files})
        return f"{count(len(self.report.debug_files), 'file')} of {count(graphs, 'graph')}"

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield the path and text of each file; a directory is named by its compilation and graph."""
        for file in self.report.debug_files:
            compilation = file.compilation.replace("/", "_").replace("-", "no_compilation")
            text = OUR_SETTINGS.sub("", self.read(file.text))
            yield f"model__{compilation}.{file.graph}/{file.name}", text

    def as_zip(self, scrubber: Scrubber = NOTHING) -> bytes:
        """Return one scrubbed ZIP with all directories, and a note if files were not recorded."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, text in self.files():
                archive.writestr(scrubber.text(path), scrubber.document(text))
            if self.missing:
                archive.writestr(README, f"{self.missing}\n")
        return buffer.getvalue()


def perfetto_trace(report: Report, address: str = "") -> bytes:
    """Return the recorded phases, kernels and memory of the run as JSON.

    The slice of a kernel has the id by which pages select it, and with the `address` of a run's page a link to it.
    """
    events = [*_phases(report), *_kernels(report, address), *_memory(report)]
    used = {event["pid"] for event in events}
    names = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in PROCESSES.items()
        if pid in used
    ]
    return msgspec.json.encode({"displayTimeUnit": "ms", "traceEvents": [*names, *events]})


def _event(name: str, pid: int, tid: int, start_us: float, length_us: float, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": start_us, "dur": length_us, "args": args}


def _phases(report: Report) -> Iterator[dict[str, Any]]:
    origin_us = min((phase.start_us for phase in report.phases), default=0.0)
    for phase in report.phases:
        if phase.end_us is not None:
            start_us, length_us = phase.start_us - origin_us, phase.end_us - phase.start_us
            yield _event(phase.name, COMPILING, phase.thread, start_us, length_us, compilation=phase.compilation)


def _kernels(report: Report, address: str) -> Iterator[dict[str, Any]]:
    """Yield a slice for each timed kernel, one compilation after another."""
    at_us = 0.0
    for compilation in report.compilations:
        seconds_of = measured_seconds(compilation)
        for kernel in compilation.kernels:
            length_us = seconds_of.get(kernel.id, 0.0) * 1e6
            if length_us:
                op = OpId.of_kernel(compilation, kernel)
                args = {"compilation": compilation.id, "nodes": ", ".join(kernel.origins), "op": str(op)}
                if address:
                    args["open"] = f"{address}&{urlencode(op.query)}"
                yield _event(kernel.name, KERNELS, 0, at_us, length_us, **args)
                at_us += length_us


def _memory(report: Report) -> Iterator[dict[str, Any]]:
    for use in report.memory:
        yield from _curve(use)


def _curve(use: MemoryUse) -> Iterator[dict[str, Any]]:
    for at_us, live_bytes in zip(use.curve.at_us, use.curve.live_bytes, strict=False):
        yield {"ph": "C", "name": use.side, "pid": MEMORY, "tid": 0, "ts": at_us, "args": {"bytes": live_bytes}}
