"""The files of a run: the changes of an edited one."""

import io
import zipfile
from dataclasses import replace

from core.report import Payload
from core.report.model import DebugFile
from core.views.run_files import DebugFolder, RunFiles, edited_backend
from tests.support.reports.findings import QUIET as EMPTY


def test_the_changes_of_an_edited_file_are_a_diff() -> None:
    diff = RunFiles.changes("a = 1\nb = 2\n", "a = 1\nb = 3\n")
    assert diff.splitlines() == ["--- generated", "+++ edited", "@@ -1,2 +1,2 @@", " a = 1", "-b = 2", "+b = 3"]
    assert RunFiles.changes("a = 1\n", "a = 1\n") == ""


def test_an_edited_file_runs_in_place_of_its_graph() -> None:
    output = edited_backend("output_code.py", "def call(args):\n    return args\n", 2)
    assert "return call(arguments)" in output
    assert "Repro()" not in output
    assert "if next(graphs) != 2:" in output
    text = "os.environ['A'] = '1'\nclass Repro: ...\nif __name__ == '__main__':\n    run()\n"
    runnable = edited_backend("fx_graph_runnable.py", text, 0)
    assert "edited = make_fx(Repro()" in runnable
    assert "os.environ" not in runnable
    assert "__main__" not in runnable
    compile(output, "output", "exec")
    compile(runnable, "runnable", "exec")


def test_debug_directories_are_one_zip_that_names_what_was_not_recorded() -> None:
    texts = {0: "graph\n", 6: "import core.worker.recorders.passes\ncode\n"}
    files = (
        DebugFile("0/0", 0, "fx_graph_readable.py", Payload(0, 6)),
        DebugFile("-", 1, "output_code.py", Payload(6, 9)),
    )
    folder = DebugFolder(replace(EMPTY, debug_files=files), lambda payload: texts[payload.offset])
    with zipfile.ZipFile(io.BytesIO(folder.as_zip())) as archive:
        contents = {name: archive.read(name).decode() for name in archive.namelist()}
    assert contents.pop("README.txt").startswith("Not recorded: ")
    assert contents == {
        "model__0_0.0/fx_graph_readable.py": "graph\n",
        "model__no_compilation.1/output_code.py": "code\n",
    }
    assert folder.title == "2 files of 2 graphs"
