"""What a run says of an error beside Python's own message."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo

from core import CompileJob, JobError, Model, Run

# Torch's own modules warn of each other while they are imported.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


def test_a_name_that_torch_has_in_another_module_is_reported() -> None:
    from core.worker.load import suggestion

    with pytest.raises(AttributeError) as raised:
        torch._dynamo.backends.register_backend  # noqa: B018
    assert suggestion(raised.value) == ". Did you mean: 'torch._dynamo.register_backend'?"
    with pytest.raises(ImportError) as unknown:
        from torch._dynamo.backends import register_backend  # noqa: F401
    assert suggestion(unknown.value) == ". Did you mean: 'torch._dynamo.register_backend'?"


def test_of_a_name_that_is_nowhere_or_not_torchs_nothing_is_reported() -> None:
    from core.worker.load import suggestion

    owners: tuple[Any, ...] = (torch._dynamo.backends, math, object())
    for owner in owners:
        with pytest.raises(AttributeError) as raised:
            owner.compileboard  # noqa: B018
        assert suggestion(raised.value) == ""
    assert suggestion(ValueError("compileboard")) == ""


def test_the_first_line_of_an_error_is_the_first_that_says_something() -> None:
    from core.worker.load import first_line

    assert first_line(RuntimeError("\n\nno such op\nin line 1")) == "RuntimeError: no such op"
    assert first_line(RuntimeError()) == "RuntimeError: "


def test_a_file_that_imports_mlx_without_it_says_how_to_install_it() -> None:
    from core.worker.load import suggestion

    missing = ModuleNotFoundError("No module named 'mlx.core'; 'mlx' is not a package", name="mlx.core")
    assert 'pip install "mlx[cpu]"' in suggestion(missing)
    assert suggestion(ModuleNotFoundError("No module named 'other'", name="other")) == ""


@pytest.mark.parametrize(
    ("here", "known", "unknown"),
    [
        (["cpu"], ["cpu"], ["cuda", "cuda:0", "xpu"]),
        (["cpu", "cuda"], ["cuda", "cuda:0"], ["cuda:1", "xpu"]),
        (["cpu", "cuda:0", "cuda:1"], ["cuda", "cuda:0", "cuda:1"], ["cuda:2"]),
    ],
)
def test_a_device_without_a_number_is_the_first(
    monkeypatch: pytest.MonkeyPatch, here: list[str], known: list[str], unknown: list[str]
) -> None:
    from core.worker import environment

    monkeypatch.setattr(environment, "devices", lambda: here)
    assert [environment.has_device(device) for device in (*known, *unknown)] == [True] * len(known) + [False] * len(
        unknown
    )


def test_a_model_file_runs_if_it_still_has_the_submitted_code(tmp_path: Path) -> None:
    from core.worker.run import _has_code

    run, path = Run("run", tmp_path), tmp_path / "mine.py"
    run.model_path.write_text("model = 1\n")
    assert not _has_code(run, path)
    for text, same in (("model = 1\n", True), ("model = 1\r\n", True), ("model = 2\n", False)):
        path.write_bytes(text.encode())
        assert _has_code(run, path) is same
    run.model_path.unlink()
    assert _has_code(run, path)


@pytest.mark.parametrize(("device", "selected"), [("cuda:1", [1]), ("cuda:0", [0]), ("cuda", []), ("cpu", [])])
def test_the_jobs_device_is_the_current_one(monkeypatch: pytest.MonkeyPatch, device: str, selected: list[int]) -> None:
    from core.worker import environment, run

    chosen: list[int] = []
    for module in (environment, run):
        monkeypatch.setattr(module, "devices", lambda: ("cpu", "cuda:0", "cuda:1"))
    monkeypatch.setattr(torch.accelerator, "set_device_index", chosen.append)
    run._select_device(CompileJob(Model("sample", "mlp"), device=device))
    assert chosen == selected
    with pytest.raises(JobError, match="is not here; this machine has"):
        run._select_device(CompileJob(Model("sample", "mlp"), device="cuda:2"))


@pytest.mark.parametrize(
    ("device", "visible", "card"),
    [("cpu", "", None), ("cuda", "", None), ("cuda:1", "", "1"), ("cuda:1", "4, GPU-5", "GPU-5"), ("cuda:2", "4", "2")],
)
def test_a_reproduction_runs_on_the_tasks_card(
    monkeypatch: pytest.MonkeyPatch, device: str, visible: str, card: str | None
) -> None:
    from core.worker.kernel_tools.cpp_assembly import visible_card

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert visible_card(device) == ({} if card is None else {"CUDA_VISIBLE_DEVICES": card})
