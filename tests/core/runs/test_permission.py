"""Where code is not allowed, nothing that a visitor sets reaches a compiler, a path or a command."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import AccessError, CompileJob, CompileOptions, JobError, Model, Run, Runner, Status, Store, samples
from core.accelerator.backends import SHIPPED_BACKENDS
from core.job import DynamicDim, Packaging
from core.job.options.call import FLAG, OneOf, Whole
from core.runs.permission import OPTIONS, allowed, allowed_request
from core.runs.processes.handles import LocalLiveness
from core.runs.tools.tasks import Assembly, Interpret, Ladder, Reproduce, Request

SAMPLE = CompileJob(Model("sample", "mlp"))
TEXTS = ("", "0", "True", "/tmp/x", "-include /data/runs/x/trace/opened.log", "$(id)", "a;b")
# Options that not every supported torch has.
OF_OTHER_TORCHES = {"benchmark_epilogue_fusion", "combo_kernel_max_num_nodes", "delay_realize_cheap_outputs"}
NEVER: tuple[Any, ...] = (*TEXTS, ["a"], {"a": 1}, print, Path("/tmp"), b"x", 1.5, 10**9, -(10**9))


def with_options(**options: Any) -> CompileJob:
    return replace(SAMPLE, compile=CompileOptions(options=options))


def with_dynamo(**configs: Any) -> CompileJob:
    return replace(SAMPLE, conditions=replace(SAMPLE.conditions, dynamo=configs))


def refused(job: CompileJob) -> str:
    with pytest.raises(JobError) as error:
        allowed(job)
    return error.value.field


def every_option() -> Iterator[tuple[str, Any]]:
    """Each option of Inductor and Dynamo with its default."""
    import torch._dynamo.config as dynamo
    import torch._inductor.config as inductor

    for module in (inductor, dynamo):
        yield from module.get_config_copy().items()


@pytest.mark.promise("code")
@pytest.mark.torch
def test_no_option_of_inductor_or_dynamo_takes_text_a_list_a_function_or_a_path() -> None:
    """Where code is not allowed, no setting of a run is text that reaches a compiler, a path or a command."""
    for name, _ in every_option():
        for value in NEVER:
            assert refused(with_options(**{name: value})).startswith(("compile.options", "job")), (name, value)


@pytest.mark.torch
def test_the_options_that_pass_are_flags_and_numbers_of_inductor_and_listed() -> None:
    defaults = dict(every_option())
    passing = set()
    for name in defaults:
        for value in (True, 1):
            try:
                allowed(with_options(**{name: value}))
            except JobError:
                continue
            passing.add(name)
    missing = set(OPTIONS) - set(defaults)
    assert passing == set(OPTIONS) - missing
    assert missing <= OF_OTHER_TORCHES
    assert {name for name in passing if not isinstance(defaults[name], (bool, int, type(None)))} == set()


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_takes_what_its_rule_says_and_no_other_type(name: str) -> None:
    rule = OPTIONS[name]
    good = rule.values if isinstance(rule, OneOf) else (rule.least, rule.most)
    for value in good:
        assert allowed(with_options(**{name: value})).compile.options == {name: value}
    bad = (1, 0, 1.0) if rule is FLAG else (True, False, 1.0)
    for value in (*NEVER, *bad, *((rule.least - 1, rule.most + 1) if isinstance(rule, Whole) else ())):
        assert refused(with_options(**{name: value})).startswith(("compile.options", "job"))


def test_a_visitor_may_choose_a_recompile_limit_from_1_to_64() -> None:
    for limit in (1, 64):
        job = with_dynamo(recompile_limit=limit)
        assert allowed(job) == job
    for refusal in (0, 65, True, 8.0):
        assert refused(with_dynamo(recompile_limit=refusal)).startswith("conditions.dynamo")


@pytest.mark.parametrize(
    ("options", "passes"),
    [
        ({"without": "relu _softmax aten.mm.default", "passes": "plan-memory fuse-products", "freeze": True}, True),
        ({"passes": "none"}, True),
        ({"passes": "plan-memory,-o"}, False),
        ({"without": "relu; import os"}, False),
        ({"without": "a " * 4_000}, False),
        ({"without": 1}, False),
        ({"freeze": "yes"}, False),
        ({"examples": True}, False),
        ({"freezing": True}, False),
    ],
)
def test_the_accelerator_takes_options_of_its_own(options: dict[str, Any], passes: bool) -> None:
    job = CompileJob(Model("sample", "mlp"), compile=CompileOptions(backend="accelerator", options=options))
    if passes:
        assert allowed(job) == job
    else:
        assert refused(job).startswith("compile.options")


@given(st.text(max_size=80), st.booleans() | st.integers() | st.text())
def test_an_unknown_option_never_passes(name: str, value: Any) -> None:
    if name not in OPTIONS:
        assert refused(with_options(**{name: value})).startswith(("compile.options", "job"))


@pytest.mark.parametrize("name", SHIPPED_BACKENDS)
def test_every_backend_that_ships_passes(name: str) -> None:
    job = replace(SAMPLE, compile=CompileOptions(backend=name))
    assert allowed(job) == job


@pytest.mark.parametrize("name", [item.name for item in samples()])
def test_every_sample_passes_as_its_card_submits_it(name: str) -> None:
    job = CompileJob(Model("sample", name))
    assert allowed(job) == job


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("model.kind", {"model": Model("code", "import os")}),
        ("model.kind", {"model": Model("file", "/etc/passwd")}),
        ("sample", {"model": Model("sample", "../../../etc/passwd")}),
        ("model.name", {"model": Model("sample", "mlp", "torch")}),
        ("compile.backend", {"compile": CompileOptions(backend="tvm")}),
        ("compile.backend_code", {"compile": CompileOptions(backend="eager", backend_code="import os")}),
        ("rival.backend_code", {"rival": CompileOptions(backend_code="import os")}),
        ("rival_code", {"rival_code": "import os"}),
        ("bits.options.cpp.cxx", {"bits": {"options.cpp.cxx": "/bin/sh"}}),
        ("bits", {"bits": {"mode": "-include"}}),
        ("bits", {"bits": {"batch": "1; id"}}),
        ("bits", {"bits": {"backend": "tvm"}}),
        ("logs", {"logs": ("dynamo; id",)}),
        ("logs", {"logs": ("/etc/passwd",)}),
        ("logs", {"logs": ("dynamo",) * 1_000}),
        ("compile.mode", {"compile": CompileOptions(mode="-include")}),
        ("device", {"device": "meta"}),
        ("device", {"device": "privateuse"}),
        ("target", {"target": "sm_90 -o /tmp/x"}),
        ("dtype", {"dtype": "float32; import os"}),
        ("memory_limit_bytes", {"memory_limit_bytes": 2**60}),
        ("time_limit_s", {"time_limit_s": 1e9}),
        ("seed", {"seed": 2**70}),
        ("calls[0]", {"calls": ("'text'",)}),
        ("calls[0]", {"calls": ("x=b'bytes'",)}),
        ("calls[0]", {"calls": ("[f32[2], ('text',)]",)}),
        ("calls[0]", {"calls": ("{'not a name': 1}",)}),
        ("calls[0]", {"calls": ("f32[8, 8], __import__('os')",)}),
        ("calls[0]", {"calls": ("f32[65536, 65536]",)}),
        ("calls[0]", {"calls": ("f32[2]," * 1_000,)}),
        ("aoti.dims", {"aoti": Packaging((DynamicDim("batch", 1, 10**6),))}),
        ("aoti.dims", {"aoti": Packaging((DynamicDim("batch; id"),))}),
        ("measure", {"measure": "yes"}),
        ("training", {"training": "os.system('id')"}),
        ("compile.fullgraph", {"compile": CompileOptions(fullgraph="yes")}),  # type: ignore[arg-type]
        ("compile.dynamic", {"compile": CompileOptions(dynamic="yes")}),  # type: ignore[arg-type]
    ],
)
def test_a_job_beyond_the_samples_is_refused_by_the_field_that_is_wrong(field: str, changes: dict[str, Any]) -> None:
    assert refused(replace(SAMPLE, **changes)) == field


def test_a_job_with_other_inputs_device_target_and_flags_passes() -> None:
    job = replace(
        SAMPLE,
        calls=("f32[8, 64], 2.0, flag=True", "x={'a': [f32[2], None]}"),
        compile=CompileOptions(fullgraph=True, dynamic=True, options={"max_autotune": True, "cpp.simdlen": 256}),
        dtype="bfloat16",
        target="h100",
        seed=7,
    )
    assert allowed(job) == job


def test_a_sample_may_be_compared_bit_by_bit_and_its_log_recorded() -> None:
    job = replace(SAMPLE, bits={"batch": 1, "options.max_autotune": True}, logs=("+dynamo", "guards"), debug_files=True)
    assert allowed(job) == job


def test_a_sample_may_be_packaged_with_a_range_of_sizes() -> None:
    job = replace(SAMPLE, aoti=Packaging((DynamicDim("batch", 1, 128),)))
    assert allowed(job) == job


@pytest.mark.promise("code")
def test_a_sample_may_be_repaired_by_what_is_in_the_table_and_by_nothing_else(tmp_path: Path) -> None:
    """Where code is not allowed, a job repairs a sample by rules from a table, never by edited code."""
    zoo = CompileJob(Model("sample", "graph_break_zoo"))
    runner = Runner(Store(tmp_path), code_allowed=lambda: False)
    mended = replace(zoo, repairs=(("where:25", "keep_tensor:31"),))
    assert allowed(mended) == mended
    assert runner.fingerprint(mended) != runner.fingerprint(zoo)
    for repair in ("where:25; import os", "import os", "where:18", "nothing:25"):
        with pytest.raises(JobError) as error:
            runner.submit(replace(zoo, repairs=((repair,),)))
        assert error.value.field == "repairs"
    assert runner.store.list() == []
    assert refused(replace(mended, model=Model("code", "model = abs"))) == "model.kind"


@pytest.mark.promise("code")
@pytest.mark.parametrize(
    ("repair", "field"),
    [
        ("compile_with:model:options:freezing:True", ""),
        ("compile_with:model:options:cpp:min_chunk_size:4096", ""),
        ("compile_with:model:mode:max_autotune", ""),
        ("set_config:functorch:activation_memory_budget:0_5", ""),
        ("compile_with:model:options:cpp:min_chunk_size:99999999", "repairs.options.cpp.min_chunk_size"),
        ("compile_with:model:options:trace:enabled:True", "repairs.options.trace.enabled"),
        ("compile_with:model:recompile_limit:9", "repairs.compile.recompile_limit"),
        ("set_config:dynamo:debug_dir_root:None", "repairs.dynamo.debug_dir_root"),
        ("set_config:inductor:x:True", "repairs.inductor.x"),
        ("set_threads:100000", "repairs.threads.threads"),
    ],
)
def test_a_repair_of_a_sample_sets_what_a_visitor_may_set(repair: str, field: str) -> None:
    """Where code is not allowed, a repair sets no option that a visitor's job may not have."""
    job = replace(SAMPLE, repairs=((repair,),))
    if field:
        assert refused(job) == field
    else:
        assert allowed(job) == job


def log_run(tmp_path: Path, kind: str) -> Run:
    run = Store(tmp_path).create(SAMPLE)
    run.write_status(replace(run.status(), state="done", kind=kind))  # type: ignore[arg-type]
    return run


@pytest.mark.parametrize("request_", [Ladder("k"), Assembly("k"), Reproduce("k"), Interpret("k")])
def test_tools_run_no_code_of_a_log_from_elsewhere(tmp_path: Path, request_: Request) -> None:
    with pytest.raises(AccessError, match="code that the log brings"):
        allowed_request(log_run(tmp_path, "log"), request_)
    assert allowed_request(log_run(tmp_path, "run"), request_) is request_


def test_the_interpreter_takes_no_code_and_no_odd_program_from_a_visitor(tmp_path: Path) -> None:
    run = log_run(tmp_path, "run")
    with pytest.raises(AccessError, match="code that visitors bring"):
        allowed_request(run, Interpret(code="import os"))
    with pytest.raises(AccessError, match="program id"):
        allowed_request(run, Interpret(program=(-1, 0, 0)))
    assert allowed_request(run, Interpret()) == Interpret()


class Untouched(LocalLiveness):
    """An engine that says who it is, and executes nothing."""

    def on_change(self, changed: Callable[[], None]) -> None: ...

    def nodes(self, *_: str) -> tuple[str, ...]:
        raise AssertionError("nodes")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


def closed_runner(home: Path) -> Runner:
    return Runner(Store(home), Untouched(), code_allowed=lambda: False)


def test_a_runner_refuses_before_anything_is_written(tmp_path: Path) -> None:
    runner = closed_runner(tmp_path)
    for job in (with_options(**{"trace.debug_dir": "/tmp"}), replace(SAMPLE, model=Model("file", __file__))):
        with pytest.raises(JobError):
            runner.submit(job)
        with pytest.raises(JobError):
            runner.stored(job)
    assert list(runner.store.runs_dir.iterdir()) == []


def test_a_runner_starts_no_tool_that_brings_code(tmp_path: Path) -> None:
    runner = closed_runner(tmp_path)
    run = runner.store.create(SAMPLE)
    with pytest.raises(AccessError):
        runner.start_tool(run, Interpret(code="import os"))
    assert not (run.path / "tools").exists()
    assert isinstance(run.status(), Status)
