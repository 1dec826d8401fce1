"""The debug files made from a run's log are those that torch writes with TORCH_COMPILE_DEBUG=1."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core import CompileJob, Model, Runner, open_report
from core.base.errors import StoreError
from core.job.gallery import sample
from core.views.run_files import debug_folder
from tests.support.homes import NO_LOOKUPS

pytestmark = pytest.mark.torch
ALONE = """
import runpy
import sys
import torch
values = runpy.run_path(sys.argv[1])
with torch.no_grad():
    torch.compile(values["model"])(*values["inputs"])
"""
# Lines that differ between two processes: settings of either, hashes and paths.
OF_A_PROCESS = re.compile(
    r"^torch\._(inductor|dynamo|functorch)\S*config\..*$|^\s*#.*$|^os\.environ.*$|^isolate_fails_code_str.*$"
    r"|\b[a-z0-9]{51}\b|/\S*/\S+\.(py|h|cpp|log)\b|\bc[a-z0-9]{50,}\b|kernel_cpp_\w+",
    re.MULTILINE,
)


def normal(text: str) -> list[str]:
    return [line for line in OF_A_PROCESS.sub("", text).splitlines() if line.strip()]


def torchs(tmp_path: Path, name: str) -> dict[str, str]:
    """The files of the one graph that torch writes for a sample, by name."""
    environment = {**os.environ, **NO_LOOKUPS, "TORCH_COMPILE_DEBUG": "1", "TORCH_COMPILE_DEBUG_DIR": str(tmp_path)}
    subprocess.run(
        [sys.executable, "-c", ALONE, str(sample(name).path)],
        env=environment,
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    (directory,) = (path for path in tmp_path.glob("**/torchinductor/model__*") if path.is_dir())
    return {path.name: path.read_text() for path in directory.iterdir()}


@pytest.mark.parametrize("name", ["mlp", "matmul_relu_softmax", "gelu_layernorm_residual"])
def test_the_files_and_their_texts_are_torchs(runner: Runner, tmp_path: Path, name: str) -> None:
    run = runner.wait(runner.submit(CompileJob(Model("sample", name), measure=False, debug_files=True)))
    folder = debug_folder(run)
    assert folder.missing == ""
    files = {path.rpartition("/")[2]: text for path, text in folder.files()}
    own = torchs(tmp_path, name)
    assert set(files) == set(own)
    provenance = "inductor_provenance_tracking_node_mappings.json"
    mapping, version = json.loads(files.pop(provenance)), 2.0
    assert mapping == {**json.loads(own.pop(provenance)), "version": version}
    for file, text in files.items():
        assert normal(text) == normal(own[file]), file


def test_the_runnable_file_runs_as_it_is(runner: Runner, tmp_path: Path) -> None:
    run = runner.wait(runner.submit(CompileJob(Model("sample", "matmul_relu_softmax"), measure=False)))
    texts = {path.rpartition("/")[2]: text for path, text in debug_folder(run).files()}
    script = tmp_path / "fx_graph_runnable.py"
    script.write_text(texts[script.name])
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 0, ended.stderr


def test_without_the_option_torchs_own_trace_has_some_of_them(runner: Runner) -> None:
    run = runner.wait(runner.submit(CompileJob(Model("sample", "sin_cos"), measure=False)))
    folder = debug_folder(run)
    assert {file.name for file in open_report(run).debug_files} == {
        "fx_graph_runnable.py",
        "output_code.py",
        "inductor_provenance_tracking_node_mappings.json",
    }
    assert folder.missing.startswith("Not recorded: fx_graph_readable.py, ")


def test_a_run_without_inductor_has_no_debug_file(runner: Runner) -> None:
    run = runner.wait(
        runner.submit(CompileJob(Model("sample", "sin_cos"), measure=False).with_settings(backend="eager"))
    )
    with pytest.raises(StoreError, match="no debug file"):
        debug_folder(run)
