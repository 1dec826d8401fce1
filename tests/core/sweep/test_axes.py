"""Axes as they are typed, the fields that they change, and the cells that they make."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import Axis, CompileJob, CompileOptions, Conditions, JobError, Model, new_sweep, parse_axis
from core.sweep.model import MAX_CELLS, MAX_VALUES, cells, changed, check_backends

BASE = CompileJob(Model("sample", "mlp"))


@pytest.mark.parametrize(
    ("text", "values", "labels"),
    [
        ("backend=eager, inductor", ("eager", "inductor"), ("eager", "inductor")),
        ("dynamic=automatic,always,never", (None, True, False), ("automatic", "always", "never")),
        ("dynamic=None,True,False", (None, True, False), ("automatic", "always", "never")),
        ("mode=None,max-autotune", (None, "max-autotune"), ("None", "max-autotune")),
        ("fullgraph=true,False", (True, False), ("True", "False")),
        ("threads=none,1,2", (None, 1, 2), ("None", "1", "2")),
        ("force_backend=none,eager", ("", "eager"), ("none", "eager")),
        ("marks=none,batch,0.1; 1.0", ((), ("batch",), ("0.1", "1.0")), ("none", "batch", "0.1; 1.0")),
        ("calls=f32[8, 4] | f32[9]; f32[8]", (("f32[8, 4]",), ("f32[9]", "f32[8]")), ("f32[8, 4]", "f32[9]; f32[8]")),
        ("options.max_autotune=true,False", (True, False), ("True", "False")),
        ("options.cpp.simdlen=None,256,512", (None, 256, 512), ("None", "256", "512")),
        ("options.max_autotune_gemm_backends=CPP,ATEN|ATEN", ("CPP,ATEN", "ATEN"), ("CPP,ATEN", "ATEN")),
        ("dynamo.recompile_limit=1,8", (1, 8), ("1", "8")),
        ("backend=eager,/tmp/mine.py:fast", ("eager", "/tmp/mine.py:fast"), ("eager", "mine.py:fast")),
        ("code=mlp,/tmp/net.py:net", ("mlp", "/tmp/net.py:net"), ("mlp", "net.py:net")),
    ],
)
def test_axis_is_read_as_it_is_typed(text: str, values: tuple[object, ...], labels: tuple[str, ...]) -> None:
    axis = parse_axis(text)
    assert (axis.values, axis.named()) == (values, labels)


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("1,2,4,…,64", (1, 2, 4, 8, 16, 32, 64)),
        ("1,2,4,...,64,100", (1, 2, 4, 8, 16, 32, 64, 100)),
        ("1,2,…,6", (1, 2, 3, 4, 5, 6)),
        ("8,16,24,…,48", (8, 16, 24, 32, 40, 48)),
        ("512,256,128,…,16", (512, 256, 128, 64, 32, 16)),
        ("10,7,…,1", (10, 7, 4, 1)),
        ("5,1,2,4,…,16", (5, 1, 2, 4, 8, 16)),
        ("1,2,4,…,8", (1, 2, 4, 8)),
        ("1,2,…,4,8,16,…,64", (1, 2, 3, 4, 8, 16, 32, 64)),
    ],
)
def test_ellipsis_goes_on_as_the_numbers_before_it_do(typed: str, values: tuple[int, ...]) -> None:
    assert parse_axis(f"inputs.0.0={typed}").values == values


@pytest.mark.parametrize(
    ("text", "field", "says"),
    [
        (
            "speed=1",
            "axis speed",
            "no field of the job is called so (did you mean seed?); there are backend, batch,",
        ),
        (
            "bakend=eager",
            "axis bakend",
            "(did you mean backend or force_backend?); there are backend, batch,",
        ),
        ("backend", "axis backend", "write it as FIELD=VALUE"),
        ("variant=1", "axis variant", "no field of the job is called so"),
        ("inputs.=1", "axis inputs.", "options.NAME, dynamo.NAME, inputs.NAME"),
        ("batch=1,x", "axis batch", "`x` is no whole number"),
        ("batch=1,…,8", "axis batch", "two numbers or more before it"),
        ("batch=1,2,…", "axis batch", "two numbers or more before it"),
        ("batch=1,2,4,…,100", "axis batch", "1, 2, 4 do not go on to 100"),
        ("batch=1,2,5,…,100", "axis batch", "1, 2, 5 do not go on to 100"),
        ("batch=1,1,…,100", "axis batch", "do not go on to 100"),
        ("batch=0,0,0,…,1", "axis batch", "do not go on to 1"),
        ("batch=1,2,…,99999999999999999", "axis batch", "do not go on"),
        ("batch=9,6,4,…,1", "axis batch", "do not go on to 1"),
        ("fullgraph=maybe", "axis fullgraph", "write true or false"),
        ("dynamic=maybe", "axis dynamic", "`maybe` is none of automatic, always, never, true, false"),
        ("options.x=[1]", "axis options.x", "an option is a number"),
    ],
)
def test_axis_that_is_not_right_is_refused_by_its_name(text: str, field: str, says: str) -> None:
    with pytest.raises(JobError) as error:
        parse_axis(text)
    assert error.value.field == field
    assert says in error.value.message


@pytest.mark.parametrize(
    ("field", "value", "job"),
    [
        ("backend", "eager", replace(BASE, compile=CompileOptions(backend="eager"))),
        ("dynamic", True, replace(BASE, compile=CompileOptions(dynamic=True))),
        ("options.max_autotune", True, replace(BASE, compile=CompileOptions(options={"max_autotune": True}))),
        ("dynamo.recompile_limit", 1, replace(BASE, conditions=Conditions(dynamo={"recompile_limit": 1}))),
        ("threads", 2, replace(BASE, conditions=Conditions(threads=2))),
        ("stance", "force_eager", replace(BASE, conditions=Conditions(stance="force_eager"))),
        ("caches", "warm", replace(BASE, conditions=Conditions(caches="warm"))),
        ("dtype", "bfloat16", replace(BASE, dtype="bfloat16")),
        ("training", True, replace(BASE, training=True)),
        ("calls", ("f32[8]",), replace(BASE, calls=("f32[8]",))),
        ("marks", ("batch",), replace(BASE, marks=("batch",))),
        ("numerics", "results", replace(BASE, numerics="results")),
        ("batch", 4, replace(BASE, sizes={"batch": 4})),
        ("inputs.mask.1", 4, replace(BASE, sizes={"mask.1": 4})),
        ("code", "sin_cos", replace(BASE, model=Model("sample", "sin_cos"))),
        ("code", "model = abs\n", replace(BASE, model=Model("code", "model = abs\n"))),
        ("code", "/tmp/a.py:net", replace(BASE, model=Model("file", "/tmp/a.py", "net"))),
        (
            "variant",
            {"dynamic": False, "batch": 2},
            replace(BASE, compile=CompileOptions(dynamic=False), sizes={"batch": 2}),
        ),
    ],
)
def test_each_field_changes_what_it_names(field: str, value: object, job: CompileJob) -> None:
    sweep = new_sweep(BASE, (Axis(field, (value,)),))  # type: ignore[arg-type]
    assert [cell.job for cell in cells(sweep)] == [replace(job, sweep=sweep.id)]


def test_fields_that_are_typed_change_a_job_with_options_in_the_place_of_its_mode() -> None:
    base = replace(BASE, compile=CompileOptions(mode="max-autotune"))
    typed = ["options.epilogue_fusion=False", "batch=64", "caches=cold"]
    options = CompileOptions(options={"epilogue_fusion": False})
    without_mode = BASE.with_settings(mode=None, options=options.options)
    after = replace(without_mode, sizes={"batch": 64}, conditions=Conditions(caches="cold"))
    assert changed(base, typed) == after
    assert changed(after, ["mode=max-autotune"]).compile == CompileOptions(mode="max-autotune")
    assert changed(base, ["mode=None"]) == BASE.with_settings(mode=None)


@pytest.mark.parametrize(
    ("typed", "field", "says"),
    [
        (["batch=1,2"], "axis batch", "give it one value here"),
        (["batch=1", "batch=2"], "axis batch", "given twice"),
        (["speed=1"], "axis speed", "no field of the job"),
        (["seed=-1.5"], "axis seed", "no whole number"),
    ],
)
def test_fields_that_are_typed_wrongly_are_refused_by_their_name(typed: list[str], field: str, says: str) -> None:
    with pytest.raises(JobError) as error:
        changed(BASE, typed)
    assert error.value.field == field
    assert says in error.value.message


def test_cells_are_all_combinations_the_last_axis_the_fastest() -> None:
    sweep = new_sweep(replace(BASE, sizes={"0.1": 3}), (Axis("backend", ("eager", "inductor")), Axis("batch", (1, 2))))
    assert [(cell.index, cell.at, cell.values, cell.job.sizes) for cell in cells(sweep)] == [
        (0, ("eager", "1"), ("eager", 1), {"0.1": 3, "batch": 1}),
        (1, ("eager", "2"), ("eager", 2), {"0.1": 3, "batch": 2}),
        (2, ("inductor", "1"), ("inductor", 1), {"0.1": 3, "batch": 1}),
        (3, ("inductor", "2"), ("inductor", 2), {"0.1": 3, "batch": 2}),
    ]
    assert sweep.title == "mlp by backend, batch"


@pytest.mark.parametrize(
    ("axes", "field", "says"),
    [
        ((), "axes", "from 1 to 8 axes, and this one has 0"),
        ((Axis("seed", ()),), "axis seed", "and not 0"),
        ((Axis("seed", tuple(range(MAX_VALUES + 1))),), "axis seed", "and not 501"),
        ((Axis("seed", (1, 1)),), "axis seed", "`1` is there twice"),
        ((Axis("seed", (1, 2), ("one",)),), "axis seed", "1 label for 2 values"),
        ((Axis("seed", (1,)), Axis("seed", (2,))), "axis seed", "given twice"),
        ((Axis("seed", tuple(range(100))), Axis("batch", tuple(range(1, 22)))), "axes", f"more than {MAX_CELLS:,}"),
        ((Axis("seed", ("x",)),), "axis seed", "Expected `int`"),
        ((Axis("caches", ("x",)),), "axis caches", "`x` is none of objects, cold, warm"),
        ((Axis("sweep", ("x",)),), "axis sweep", "no such field"),
        ((Axis("variant", (1,)),), "axis variant", "sets fields by name"),
        ((Axis("variant", ({"variant": "x"},)),), "axis variant", "holds no variants"),
        ((Axis("stance", ("lazy",)),), "cell stance=lazy", "`lazy` is none of default, force_eager"),
        ((Axis("inputs.x", (1,)),), "cell inputs.x=1", "sizes: `x`"),
        ((Axis("mode", ("lite",)), Axis("options.a", (1,))), "cell mode=lite, options.a=1", "either mode or options"),
    ],
)
def test_axes_that_cannot_be_right_are_refused_by_the_name_of_the_axis_or_the_cell(
    axes: tuple[Axis, ...], field: str, says: str
) -> None:
    with pytest.raises(JobError) as error:
        new_sweep(BASE, axes)
    assert error.value.field == field
    assert says in error.value.message


def test_a_backend_of_ones_own_is_a_value_of_an_axis(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def fast(gm, example_inputs):\n    return gm.forward\n")
    sweep = new_sweep(BASE, (parse_axis(f"backend=eager,{path}:fast"),))
    found = [(cell.at, cell.job.compile.backend, cell.job.compile.backend_code) for cell in cells(sweep)]
    assert found == [(("eager",), "eager", ""), (("mine.py:fast",), "fast", path.read_text())]
    with pytest.raises(JobError, match="cannot be read: No such file"):
        new_sweep(BASE, (parse_axis(f"backend={tmp_path}/nothing.py:fast"),))


def test_a_backend_that_is_neither_here_nor_in_the_code_is_refused_with_the_nearest() -> None:
    known = ("aot_eager", "eager", "inductor")
    with pytest.raises(JobError, match="here; did you mean inductor. There are aot_eager, eager, inductor."):
        check_backends(BASE, (parse_axis("backend=eager,inducter"),), known)
    registered = replace(BASE, model=Model("code", "register_backend(name='mine')\nmodel = abs\ninputs = (1,)\n"))
    check_backends(registered, (parse_axis("backend=eager,mine"),), known)
    check_backends(BASE, (parse_axis("backend=eager,/tmp/mine.py:fast"),), known)
    check_backends(BASE, (parse_axis("backend=whatever"),), ())
