"""Files to download of a run: its report, a bug report, and torch's debug directories."""

from __future__ import annotations

from dataclasses import dataclass

from core.code.diff import diff_texts
from core.code.edited import edited_backend
from core.report import Payload, to_json
from core.runs.store import Run
from core.runs.stored import open_report
from core.views.debug_folder import debug_folder
from core.views.issue import issue_of


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of a stored run, made when they are asked for; all raise StoreError."""

    run: Run

    def report_json(self) -> bytes:
        """Return the whole report as indented JSON."""
        return to_json(open_report(self.run), 2)

    def issue_markdown(self) -> str:
        """Return a bug report in the form of PyTorch's issue template."""
        return issue_of(self.run).markdown

    def issue_zip(self) -> bytes:
        """Return the bug report with its script, model, job and trace."""
        return issue_of(self.run).as_zip()

    @property
    def has_debug_files(self) -> bool:
        """Return True if the log has any file of torch's debug directories."""
        return self.run.log_path() is not None and bool(open_report(self.run).debug_files)

    def edited(self, output_code: Payload, name: str) -> str:
        """Return the code of a backend with the debug file of that name, of the graph with that output code, to edit.

        Empty if the log does not contain the file.
        """
        folder = debug_folder(self.run)
        graph = next((file.graph for file in folder.report.debug_files if file.text.offset == output_code.offset), -1)
        file = next((file for file in folder.report.debug_files if (file.graph, file.name) == (graph, name)), None)
        return edited_backend(name, folder.read(file.text), graph) if file else ""

    @staticmethod
    def changes(original: str, edited: str) -> str:
        """Return the changes of an edited file as a unified diff; empty if there are none."""
        return diff_texts(original, edited, "generated", "edited").text

    def debug_zip(self) -> bytes:
        """Return torch's debug directories as one ZIP."""
        return debug_folder(self.run).as_zip()
