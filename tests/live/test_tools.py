"""Tools on one kernel of a stored run: compiled down to machine code, reproduced, interpreted; and what they say when
they cannot.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core import LocalEngine, Run, Runner, Store, open_report
from core.base.errors import ToolError
from core.runs.engine.queues import Assignment
from core.runs.tools.tasks import (
    Assembly,
    AssemblyAnswer,
    Configs,
    ConfigsAnswer,
    Interpret,
    InterpretAnswer,
    Ladder,
    LadderAnswer,
    Passes,
    PassesAnswer,
    Reproduce,
    ReproduceAnswer,
    Request,
    Task,
    Trouble,
    create,
    forget,
    reproduction_of,
    result,
    tool_run,
)
from tests.support.asking import MATMUL, answered, ask, ask_of, kernels, ran
from tests.support.sample import one_in

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("targets")]
SECONDS = r"[\d.]+ s"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def tools(store: Store, engine: LocalEngine) -> Runner:
    """A runner whose fork server is the one of the whole test run."""
    return Runner(store, engine)


@pytest.fixture(scope="module")
def cpu_run(tools: Runner) -> Run:
    return ran(tools)


@pytest.fixture(scope="module")
def gpu_run(tools: Runner) -> Run:
    return ran(tools, target="h100")


@pytest.fixture(scope="module")
def ladders(tools: Runner, gpu_run: Run) -> dict[str, LadderAnswer]:
    """The ladder of the first Triton kernel for several targets."""
    kernel = kernels(gpu_run)[0]
    return {target: ask(tools, gpu_run, Ladder(kernel.id, target)) for target in ("", "a100", "b200", "mi300x")}


@pytest.mark.parametrize(("target", "last"), [("", "sass"), ("a100", "sass"), ("b200", "sass"), ("mi300x", "amdgcn")])
def test_a_triton_kernel_goes_down_to_machine_code_without_the_device(
    ladders: dict[str, LadderAnswer], target: str, last: str
) -> None:
    answer = ladders[target]
    middle = ["amdgcn"] if last == "amdgcn" else ["ptx", "sass"]
    assert [rung.name for rung in answer.rungs] == ["python", "ttir", "ttgir", "llir", *middle]
    assert answer.problem == ""
    assert answer.resources is not None
    assert answer.resources.registers
    stages = ["amdgcn", "hsaco"] if last == "amdgcn" else ["ptx", "cubin"]
    assert list(answer.stage_us) == ["ttir", "ttgir", "llir", *stages]
    assert all(answer.stage_us.values())
    assert {"cubin", "hsaco"} & {file.name.rsplit(".", 1)[-1] for file in answer.files}


def test_every_rung_is_linked_to_the_lines_of_the_source(ladders: dict[str, LadderAnswer]) -> None:
    for answer in ladders.values():
        source, *others = answer.rungs
        stores = {number for number, line in enumerate(source.text.split("\n"), 1) if "tl.store(" in line}
        for rung in others:
            assert stores <= set(rung.lines.values()), rung.name
            assert max(rung.lines) <= rung.text.count("\n") + 1


def ptxas_of(arch: str) -> str:
    """The `ptxas` that Triton takes for an architecture: its wheel has two."""
    number = re.sub(r"\D", "", arch)
    code = f"from triton.backends.nvidia.compiler import get_ptxas; print(get_ptxas({number}).path)"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_figures_agree_with_ptxas(ladders: dict[str, LadderAnswer], tmp_path: Path) -> None:
    for target in ("", "a100"):
        answer = ladders[target]
        ptx = next(rung.text for rung in answer.rungs if rung.name == "ptx")
        (tmp_path / "k.ptx").write_text(ptx)
        arch = "sm_80" if target == "a100" else "sm_90a"
        command = [
            ptxas_of(arch),
            "-v",
            "-lineinfo",
            "--regAllocOptLevel=2",
            f"--gpu-name={arch}",
            "k.ptx",
            "-o",
            "k.cubin",
        ]
        said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
        assert answer.resources is not None
        found = answer.resources
        assert re.findall(r"Used (\d+) registers", said) == [str(found.registers)]
        spills = (
            f"{found.local_bytes} bytes stack frame, {found.spill_store_bytes} bytes spill stores, "
            f"{found.spill_load_bytes} bytes"
        )
        assert spills in said
        metadata = next(file.text for file in answer.files if re.fullmatch(r"triton_\w+\.json", file.name))
        assert f'"shared": {found.shared_bytes}' in metadata


def test_the_passes_that_changed_the_module_are_listed_with_their_diffs(tools: Runner, gpu_run: Run) -> None:
    answer = ask(tools, gpu_run, Passes(kernels(gpu_run)[0].id))
    assert isinstance(answer, PassesAnswer)
    changes = {change.name: change for change in answer.changes}
    assert len(answer.changes) < answer.ran
    assert "+#blocked" in changes["ConvertTritonToTritonGPU"].diff
    assert "loc(" not in changes["ConvertTritonToTritonGPU"].diff


def test_every_config_shows_what_it_takes(tools: Runner, gpu_run: Run) -> None:
    kernel = kernels(gpu_run)[0]
    answer = ask(tools, gpu_run, Configs(kernel.id, "l4"))
    assert isinstance(answer, ConfigsAnswer)
    assert answer.configs
    for config in answer.configs:
        assert (config.problem, config.resources is not None) == ("", True)
        assert config.words.endswith(("num_stages=1", "num_stages=2", "num_stages=3"))


def test_an_answer_is_stored_and_not_made_again(tools: Runner, gpu_run: Run, ladders: dict[str, LadderAnswer]) -> None:
    request = Ladder(kernels(gpu_run)[0].id, "a100")
    made = tool_run(gpu_run, request).status().created_s
    tools.start_tool(gpu_run, request)
    assert result(gpu_run, request) == ladders["a100"]
    assert tool_run(gpu_run, request).status().created_s == made
    forget(gpu_run, request)
    assert result(gpu_run, request) is None


def test_a_cpp_kernel_is_shown_as_inductors_compiler_emits_it(tools: Runner, cpu_run: Run) -> None:
    kernel = kernels(cpu_run)[0]
    answer = ask(tools, cpu_run, Assembly(kernel.id))
    assert isinstance(answer, AssemblyAnswer)
    assert {"-O3", "-S"} <= set(answer.command.split())
    assert answer.assembly.text.startswith("kernel:\n") or "\nkernel:\n" in answer.assembly.text
    rows = answer.source.split("\n")
    assert [rows[loop.line - 1].strip()[:3] for loop in answer.loops] == ["for"] * len(answer.loops)
    assert any(loop.kind == "explicit" and loop.width_bytes for loop in answer.loops)
    assert set(answer.assembly.lines.values()) <= set(range(1, len(rows) + 1))


def test_the_reproduction_of_every_cpp_kernel_runs_as_it_is(tools: Runner, cpu_run: Run) -> None:
    for kernel in kernels(cpu_run):
        answer = ask(tools, cpu_run, Reproduce(kernel.id))
        assert isinstance(answer, ReproduceAnswer)
        assert answer.exit_code == 0, answer.output
        assert "is what eager computes" in answer.output
        assert re.search(r"kernel \d+\.\d us", answer.output)


def test_the_reproduction_needs_nothing_of_ours(cpu_run: Run) -> None:
    script = reproduction_of(cpu_run, open_report(cpu_run), kernels(cpu_run)[0].id)
    imported = set(re.findall(r"^(?:from|import) (\w+)", script, re.MULTILINE))
    assert imported <= {"os", "statistics", "time", "math", "torch"}


@pytest.mark.long
def test_a_generated_triton_kernel_runs_in_the_interpreter_and_is_what_eager_computes(
    tools: Runner, gpu_run: Run
) -> None:
    for kernel in kernels(gpu_run):
        answer = ask(tools, gpu_run, Interpret(kernel.id))
        assert isinstance(answer, InterpretAnswer), answer
        assert answer.same in (True, None), answer.words
        assert any(tensor.stores for tensor in answer.tensors)


def test_one_program_of_the_vector_add_touches_one_block(tools: Runner, cpu_run: Run) -> None:
    answer = ask(tools, cpu_run, Interpret(program=(3, 0, 0)))
    assert (answer.kernel, answer.grid, answer.same) == ("add_kernel", (4,), True)
    block = tuple(range(768, 1000))
    touched = [(tensor.name, tensor.loaded, tensor.stored) for tensor in answer.tensors]
    assert touched == [("x_ptr", block, ()), ("y_ptr", block, ()), ("out_ptr", (), block)]


LARGE_GRID = "import torch, triton\n@triton.jit\ndef fill(x): pass\nfill[(10**8,)](torch.zeros(1))"


@pytest.mark.parametrize(
    ("request_", "words"),
    one_in(
        5,
        [
            (Interpret(code="1 / 0"), "ZeroDivisionError: division by zero"),
            (Interpret(code=LARGE_GRID, program=(10**8, 0, 0)), "there is no program (100000000, 0, 0)"),
            (Interpret(code="print('hello')"), "the script launched no Triton kernel"),
            (Interpret(code="import os; os._exit(7)"), "the interpreter ended with exit code 7"),
            (Interpret(code="def"), "SyntaxError: "),
        ],
    ),
)
def test_what_cannot_be_interpreted_says_why(tools: Runner, cpu_run: Run, request_: Interpret, words: str) -> None:
    answer = ask(tools, cpu_run, request_)
    assert isinstance(answer, Trouble)
    assert words in answer.message


def test_a_hanging_tool_is_ended_when_it_is_cancelled(tools: Runner, cpu_run: Run) -> None:
    request = Interpret(code="import time\nwhile True: time.sleep(1)")
    tool = tools.start_tool(cpu_run, request)
    while tool.status().state != "running":
        time.sleep(0.02)
    tools.cancel(tool)
    assert answered(cpu_run, request) == Trouble("the tool ended without an answer: cancelled, cancelled by the user")


def test_a_hanging_tool_is_ended_at_its_time_limit(tools: Runner, cpu_run: Run) -> None:
    request = Interpret(code="import time\nwhile True: time.sleep(2)")
    assert create(cpu_run, Task(request, script=request.code, time_limit_s=2.0))
    tools.engine.start(Assignment(tool_run(cpu_run, request)), lambda: None)
    assert re.match(rf"it was not done after {SECONDS} and was ended", answered(cpu_run, request).message)


def test_a_kernel_that_does_not_compile_says_so_in_tritons_words(tools: Runner, cpu_run: Run) -> None:
    broken = MATMUL.replace("tl.dot(left, right)", "tl.dot(left, nothing)")
    for request in (Ladder("broken"), Passes("broken")):
        answer = ask_of(tools, cpu_run, request, broken, "matmul")
        assert isinstance(answer, Trouble)
        assert answer.message == "Triton could not compile it: CompilationError"
        assert "nothing is not defined" in answer.detail


def test_a_target_with_too_little_shared_memory_is_reported_beside_the_rungs(tools: Runner, cpu_run: Run) -> None:
    fits = ask_of(tools, cpu_run, Ladder("matmul", "h100"), MATMUL, "matmul")
    assert (fits.problem, fits.configs) == ("", ("num_warps=8, num_stages=5",))
    answer = ask_of(tools, cpu_run, Ladder("matmul", "l4"), MATMUL, "matmul")
    assert re.fullmatch(r"it needs [\d,]+ bytes of shared memory a block; the target allows 101,376", answer.problem)
    assert answer.rungs[-1].name == "sass"
    configs = ask_of(tools, cpu_run, Configs("matmul", "l4"), MATMUL, "matmul")
    assert configs.configs[0].problem == answer.problem


def test_a_kernel_of_very_many_lines_is_shown_in_part(tools: Runner, cpu_run: Run) -> None:
    long = MATMUL.replace("    tl.store(", "    # a comment\n" * 25_000 + "    tl.store(")
    answer = ask_of(tools, cpu_run, Ladder("long", "a100"), long, "matmul")
    assert [(rung.name, rung.left_out > 0) for rung in answer.rungs][:2] == [("python", True), ("ttir", False)]
    assert answer.rungs[0].text.count("\n") < 20_000


def test_a_kernel_that_takes_the_compiler_too_long_is_ended_with_a_word(tools: Runner, cpu_run: Run) -> None:
    body = "".join(f"    n = n * 3 + {number}\n" for number in range(10_000))
    endless = MATMUL.replace("    rows =", f"{body}    rows =")
    answer = ask_of(tools, cpu_run, Ladder("endless", "a100"), endless, "matmul", time_limit_s=3.0)
    words = f"it was not done after {SECONDS} and was ended: the kernel may be too large for the compiler"
    assert re.fullmatch(words, answer.message)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Ladder("no such kernel"), "the run has no kernel `no such kernel`"),
        (Interpret("no such kernel"), "the run has no kernel `no such kernel`"),
        (Interpret(code="x" * 2_000_000), "the code is longer than 1,000,000 characters"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_at_once(
    tools: Runner, cpu_run: Run, request_: Request, words: str
) -> None:
    with pytest.raises(ToolError, match=re.escape(words)):
        tools.start_tool(cpu_run, request_)
    assert result(cpu_run, request_) is None


def test_a_cpp_kernel_has_no_ladder_and_no_unknown_target(tools: Runner, cpu_run: Run, gpu_run: Run) -> None:
    with pytest.raises(ToolError, match="is no Triton kernel"):
        tools.start_tool(cpu_run, Ladder(kernels(cpu_run)[0].id))
    with pytest.raises(ToolError, match="is no C\\+\\+ kernel"):
        tools.start_tool(gpu_run, Assembly(kernels(gpu_run)[0].id))
    with pytest.raises(ToolError, match="there is no target `tpu`"):
        tools.start_tool(gpu_run, Ladder(kernels(gpu_run)[0].id, "tpu"))


def test_a_config_that_does_not_exist_is_reported(tools: Runner, gpu_run: Run) -> None:
    answer = ask(tools, gpu_run, Ladder(kernels(gpu_run)[0].id, "", 99))
    assert isinstance(answer, Trouble)
    assert "there is no number 99" in answer.message
