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
from tests.support.sample import cases_of, one_in

pytestmark = pytest.mark.torch
NAMES = ("mlp", "matmul_relu_softmax", "gelu_layernorm_residual")
# Each sample by torch alone, in a process that is forked from one that has imported Inductor and compiled nothing.
ALONE = """
import os
import runpy
import sys
import torch
import torch._inductor.compile_fx
for path, folder in zip(sys.argv[1::2], sys.argv[2::2]):
    if (pid := os.fork()) == 0:
        torch._dynamo.config.debug_dir_root = folder
        values = runpy.run_path(path)
        with torch.no_grad():
            torch.compile(values["model"])(*values["inputs"])
        sys.exit()
    assert os.waitpid(pid, 0)[1] == 0
"""
# Lines that differ between two processes: settings of either, hashes and paths.
OF_A_PROCESS = re.compile(
    r"^torch\._(inductor|dynamo|functorch)\S*config\..*$|^\s*#.*$|^os\.environ.*$|^isolate_fails_code_str.*$"
    r"|\b[a-z0-9]{51}\b|/\S*/\S+\.(py|h|cpp|log)\b|\bc[a-z0-9]{50,}\b|kernel_cpp_\w+",
    re.MULTILINE,
)


def normal(text: str) -> list[str]:
    return [line for line in OF_A_PROCESS.sub("", text).splitlines() if line.strip()]


@pytest.fixture(scope="module")
def torchs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The files that torch writes for the one graph of each sample that this session tests, by name."""
    folders = {name: tmp_path_factory.mktemp(name) for name in cases_of(request, "name")}
    asked = [str(part) for name, folder in folders.items() for part in (sample(name).path, folder)]
    environment = {**os.environ, **NO_LOOKUPS, "TORCH_COMPILE_DEBUG": "1"}
    command = [sys.executable, "-c", ALONE, *asked]
    # Torch writes its logs of debugging below the working directory.
    subprocess.run(command, env=environment, check=True, capture_output=True, cwd=tmp_path_factory.mktemp("alone"))
    return {name: _files(folder) for name, folder in folders.items()}


def _files(folder: Path) -> dict[str, str]:
    (directory,) = (path for path in folder.glob("**/torchinductor/model__*") if path.is_dir())
    return {path.name: path.read_text() for path in directory.iterdir()}


@pytest.mark.parametrize("name", one_in(3, NAMES))
def test_the_files_and_their_texts_are_torchs(runner: Runner, torchs: dict[str, dict[str, str]], name: str) -> None:
    run = runner.wait(runner.submit(CompileJob(Model("sample", name), measure=False, debug_files=True)))
    folder = debug_folder(run)
    assert folder.missing == ""
    files = {path.rpartition("/")[2]: text for path, text in folder.files()}
    own = dict(torchs[name])
    assert set(files) == set(own)
    provenance = "inductor_provenance_tracking_node_mappings.json"
    mapping, version = json.loads(files.pop(provenance)), 2.0
    assert mapping == {**json.loads(own.pop(provenance)), "version": version}
    for file, text in files.items():
        assert normal(text) == normal(own[file]), file


@pytest.mark.long
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
