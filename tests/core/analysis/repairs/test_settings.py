"""Rules that write a recipe's settings into the user's file."""

from typing import Any

import pytest
import torch

from core.analysis.repairs.offers import repair_of, repaired
from core.analysis.repairs.settings import LAYERS, compiles_itself, steps_of
from core.job import CompileJob, Model
from core.sweep.model import VARIANT, applied

JOB = CompileJob(Model("file", "/work/net.py"))
PLAIN = "import torch\nmodel = torch.nn.Linear(2, 2)\ninputs = (torch.ones(1, 2),)\n"


def written(text: str, fields: dict[str, Any], job: CompileJob = JOB) -> str:
    """The file with the fields of a recipe."""
    return repaired(text, [(step,) for step in steps_of(applied(job, VARIANT, fields), fields, text)])


def test_a_file_without_a_call_of_compile_gets_one_below_its_model() -> None:
    assert written(PLAIN, {"options.freezing": True, "options.cpp.min_chunk_size": 4096, "dynamic": False}) == (
        "import torch\nmodel = torch.nn.Linear(2, 2)\n"
        "model = torch.compile(model, dynamic=False, options={'freezing': True, 'cpp.min_chunk_size': 4096})\n"
        "inputs = (torch.ones(1, 2),)\n"
    )


def test_a_new_call_has_the_parameters_of_the_job_and_takes_the_place_of_the_literal() -> None:
    text = "import torch as t\ntorch_compile = {'fullgraph': True}\n\ndef model(x):\n    return x\n\ninputs = (1,)\n"
    job = JOB.with_settings(fullgraph=True, options={"max_autotune": True})
    assert written(text, {"options.freezing": True}, job) == (
        "import torch as t\n\ndef model(x):\n    return x\n"
        "model = t.compile(model, fullgraph=True, options={'max_autotune': True, 'freezing': True})\n\ninputs = (1,)\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("model = torch.compile(f)", "model = torch.compile(f, dynamic=True, options={'freezing': True})"),
        (
            "model = torch.compile(\n    f,\n)",
            "model = torch.compile(\n    f, dynamic=True, options={'freezing': True},\n)",
        ),
        (
            "model = torch.compile(f, dynamic=False, options={'a.b': 1})",
            "model = torch.compile(f, dynamic=True, options={'a.b': 1, 'freezing': True})",
        ),
        (
            "@torch.compile\ndef model(x): return x",
            "@torch.compile(dynamic=True, options={'freezing': True})\ndef model(x): return x",
        ),
    ],
)
def test_a_call_in_the_file_is_edited_in_place(before: str, after: str) -> None:
    assert compiles_itself(f"import torch\n{before}\n", "model")
    fields = {"dynamic": True, "options.freezing": True}
    assert written(f"import torch\n{before}\n", fields) == f"import torch\n{after}\n"


def test_settings_of_the_process_are_lines_below_the_imports() -> None:
    fields = {
        "threads": 1,
        "dynamo.inline_inbuilt_nn_modules": False,
        "repair.set_config:functorch:activation_memory_budget:0_5": True,
        "repair.matmul_precision:medium": True,
    }
    lines = written("import torch as t\nmodel = t.sin\n", fields).splitlines()
    assert [line for line in lines if line] == [
        "import torch as t",
        "import torch._functorch.config",
        't.set_float32_matmul_precision("medium")',
        "t._functorch.config.activation_memory_budget = 0.5",
        "t._dynamo.config.inline_inbuilt_nn_modules = False",
        "t.set_num_threads(1)",
        "model = t.sin",
        "model = t.compile(model)",
    ]


def test_changes_of_the_model_are_above_the_call_that_compiles_it() -> None:
    text = "import torch\nmodel = Net()\nmodel = torch.compile(model)\n"
    assert written(text, {"repair.channels_last:model": True}) == (
        "import torch\nmodel = Net()\nmodel = model.to(memory_format=torch.channels_last)\n"
        "model = torch.compile(model)\n"
    )


def test_a_function_has_no_layers_and_no_layout_to_change() -> None:
    text = "import torch\ndef model(x): return x\n"
    assert [repair_of(text, f"{rule}:model") for rule in ("channels_last", "compile_layers_once")] == [None, None]


def test_a_layer_without_children_is_no_region() -> None:
    """Its class is that of many other modules of the process."""
    made = [torch.nn.ModuleList([torch.nn.Linear(2, 2)]), torch.nn.ModuleList([torch.nn.Sequential(torch.nn.ReLU())])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.compiler, "nested_compile_region", lambda forward: None)
        patch.setattr(torch.nn.Sequential, "forward", torch.nn.Sequential.forward)
        exec(LAYERS.format(model="model", torch="torch"), {"model": torch.nn.ModuleList(made), "torch": torch})
        assert torch.nn.Sequential.forward is None
        assert torch.nn.Linear.forward is not None


def test_the_main_block_stays_last() -> None:
    text = "import torch\nmodel = Net()\nif __name__ == '__main__':\n    model(1)"
    assert written(text, {"dynamic": True}).endswith("dynamic=True)\nif __name__ == '__main__':\n    model(1)")


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("model = (", {"dynamic": True}),
        (PLAIN, {"options.path": "/tmp/x y"}),
        (PLAIN, {"options.x'": True}),
    ],
)
def test_what_has_no_id_is_not_written(text: str, fields: dict[str, Any]) -> None:
    assert steps_of(applied(JOB, VARIANT, fields), fields, text) == ()
