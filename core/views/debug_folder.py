"""Torch's debug directories of a run, made from its log: as TORCH_COMPILE_DEBUG=1 writes them, and as one ZIP."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from core.base.errors import StoreError
from core.base.words import count
from core.report import Payload, Report
from core.report.model import DEBUG_FILES
from core.runs.sides import side_of_run
from core.runs.store import Run

README = "README.txt"
# Lines of fx_graph_runnable.py that set the recorders of our worker, which do not exist elsewhere.
OUR_SETTINGS = re.compile(
    r"^(import core\.worker\.\S+|torch\._inductor\.config\._(pre|post)_fusion_custom_pass = core\.worker\..*)\n",
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
        """The files that were not recorded, in a sentence; empty if all were."""
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
            compilation = file.compilation.replace("/", "_") or "no_compilation"
            text = OUR_SETTINGS.sub("", self.read(file.text))
            yield f"model__{compilation}.{file.graph}/{file.name}", text

    def as_zip(self) -> bytes:
        """Return one ZIP with all directories, and a note if files were not recorded."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, text in self.files():
                archive.writestr(path, text)
            if self.missing:
                archive.writestr(README, f"{self.missing}\n")
        return buffer.getvalue()
