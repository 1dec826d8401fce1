"""Jobs: JSON both ways, and every wrong field named."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import CompileJob, CompileOptions, JobError, Model, job_from_json, job_to_json
from core.job import (
    FILE_SETTINGS,
    GIB,
    MODES,
    STANCES,
    Conditions,
    DynamicDim,
    Packaging,
    fingerprint,
    validated,
)
from core.job.prepared import prepared

JOB = CompileJob(Model("sample", "mlp"))
ANY_TEXT = st.text(st.characters())
INTS = st.integers(-(2**63), 2**63 - 1)
OPTION_VALUES = st.none() | st.booleans() | INTS | st.floats(allow_nan=False, allow_infinity=False) | st.text()
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)
OPTIONS = st.builds(
    CompileOptions,
    fullgraph=st.booleans(),
    dynamic=st.none() | st.booleans(),
    backend=st.sampled_from(["inductor", "eager", "aot_eager"]),
    options=st.none() | st.dictionaries(NAMES, OPTION_VALUES, max_size=3),
) | st.builds(CompileOptions, mode=st.sampled_from(MODES))
JOBS = st.builds(
    CompileJob,
    model=st.builds(
        Model,
        st.sampled_from(["sample", "file", "code"]),
        st.text(min_size=1).filter(lambda text: text.strip() and "\0" not in text),
        NAMES,
    ),
    calls=st.lists(st.sampled_from(["f32[8, 64]", "i64[3] < 10, flag=True", ""]), max_size=3).map(tuple),
    training=st.none() | st.booleans(),
    compile=OPTIONS,
    dtype=st.sampled_from([None, "bfloat16", "float32"]),
    device=st.sampled_from(["cpu", "cuda", "cuda:1"]),
    seed=st.integers(0, 2**63 - 1),
    conditions=st.builds(
        Conditions,
        threads=st.none() | st.integers(1, 64),
        stance=st.sampled_from(STANCES),
        primed=st.booleans(),
        dynamo=st.none() | st.dictionaries(NAMES, OPTION_VALUES, max_size=3),
        caches=st.sampled_from(["objects", "cold", "warm"]),
    ),
    sizes=st.dictionaries(st.sampled_from(["batch", "0.1", "mask.0"]), st.integers(0, 2**40), max_size=2),
    marks=st.lists(st.sampled_from(["batch", "0.1"]), max_size=2).map(tuple),
    rival=st.none() | OPTIONS,
    memory=st.booleans(),
    numerics=st.sampled_from(["", "results", "nodes"]),
    aoti=st.none()
    | st.builds(
        lambda at, least: Packaging((DynamicDim(at, least, least + 1),)),
        st.sampled_from(["batch", "0.1", "0.0+mask.0"]),
        st.integers(0, 2**40 - 1),
    ),
    measure=st.booleans(),
    time_limit_s=st.floats(1, 86_400),
    memory_limit_bytes=st.integers(GIB // 2, 2**50),
)


@given(JOBS)
def test_job_survives_json(job: CompileJob) -> None:
    assert job_from_json(job_to_json(job)) == job


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("schema", {"schema": 2}),
        ("conditions.threads", {"conditions": Conditions(threads=0)}),
        ("conditions.stance", {"conditions": Conditions(stance="relaxed")}),
        ("conditions.force_backend", {"conditions": Conditions(stance="force_eager", force_backend="eager")}),
        ("conditions.dynamo.recompile_limit", {"conditions": Conditions(dynamo={"recompile_limit": [8]})}),  # type: ignore[dict-item]
        ("conditions.caches", {"conditions": Conditions(caches="warm"), "target": "h100"}),
        ("sizes", {"sizes": {"first": 8}}),
        ("sizes.batch", {"sizes": {"batch": -1}}),
        ("marks", {"marks": ("x",)}),
        ("rival.mode", {"rival": CompileOptions(mode="fastest")}),
        ("rival", {"rival": CompileOptions(), "target": "h100"}),
        ("rival_code", {"rival_code": "model = None", "target": "h100"}),
        ("rival_code", {"rival_code": "a\0b"}),
        ("aoti", {"aoti": Packaging(), "target": "h100"}),
        ("aoti.dims", {"aoti": Packaging((DynamicDim("x"),))}),
        ("aoti.dims", {"aoti": Packaging((DynamicDim("batch", 8, 8),))}),
        ("aoti.dims", {"aoti": Packaging((DynamicDim("0.0", -1),))}),
        ("aoti.dims", {"aoti": Packaging((DynamicDim("0.0"), DynamicDim("1.0+0.0")))}),
        ("sweep", {"sweep": "../x"}),
        ("model.value", {"model": Model("code", "  ")}),
        ("model.value", {"model": Model("code", "x" * 1_000_001)}),
        ("model.value", {"model": Model("file", "a\0b")}),
        ("model.name", {"model": Model("sample", "mlp", "no name")}),
        ("calls", {"calls": ("f32[1]",) * 65}),
        ("calls[1]", {"calls": ("f32[1]", "f33[1]")}),
        ("compile.mode", {"compile": CompileOptions(mode="fast")}),
        ("compile.options", {"compile": CompileOptions(mode="default", options={})}),
        ("compile.backend", {"compile": CompileOptions(backend="")}),
        ("compile.backend", {"compile": CompileOptions(backend="a b")}),
        ("compile.backend_code", {"compile": CompileOptions(backend="backend", backend_code="x" * 1_000_001)}),
        ("compile.backend_code", {"compile": CompileOptions(backend="backend", backend_code="a\0b")}),
        ("compile.backend_code", {"compile": CompileOptions(backend_code="x = 1"), "target": "h100"}),
        ("compile.backend_code", {"compile": CompileOptions(backend="backend", backend_code="'\ud800'")}),
        ("rival.backend_code", {"rival": CompileOptions(backend="backend", backend_code="a\0b")}),
        ("model", {"model": Model("code", "x = '\ud800'")}),
        ("compile.options", {"compile": CompileOptions(options={"x": "\ud800"})}),
        ("compile.options.x", {"compile": CompileOptions(options={"x": []})}),  # type: ignore[dict-item]
        ("dtype", {"dtype": "int64"}),
        ("device", {"device": "CPU; rm"}),
        ("seed", {"seed": -1}),
        ("seed", {"seed": 2**63}),
        ("time_limit_s", {"time_limit_s": 0.5}),
        ("time_limit_s", {"time_limit_s": float("nan")}),
        ("time_limit_s", {"time_limit_s": float("inf")}),
        ("memory_limit_bytes", {"memory_limit_bytes": 1000}),
    ],
)
def test_wrong_value_is_an_error_that_names_the_field(field: str, changes: dict[str, Any]) -> None:
    with pytest.raises(JobError) as error:
        validated(replace(JOB, **changes))
    assert error.value.field == field


@pytest.mark.parametrize(
    ("field", "data"),
    [
        ("job", b""),
        ("job", b"[" * 100_000),
        ("job", b"\xff\xfe"),
        ("job", b"[]"),
        ("job", b"{}"),
        ("model", b'{"model": 3}'),
        ("model.kind", b'{"model": {"kind": "url", "value": "x"}}'),
        ("seed", b'{"model": {"kind": "sample", "value": "x"}, "seed": "one"}'),
        ("compile.mode", b'{"model": {"kind": "sample", "value": "x"}, "compile": {"mode": 1}}'),
        ("calls[0]", b'{"model": {"kind": "sample", "value": "x"}, "calls": [1]}'),
        ("seed", b'{"model": {"kind": "sample", "value": "x"}, "seed": 1' + b"0" * 400 + b"}"),
    ],
)
def test_wrong_json_is_an_error_that_names_the_field(field: str, data: bytes) -> None:
    with pytest.raises(JobError) as error:
        job_from_json(data)
    assert error.value.field == field


@given(st.binary() | st.recursive(OPTION_VALUES, lambda inner: st.dictionaries(st.text(), inner)).map(json.dumps))
def test_any_json_is_a_job_or_a_job_error(data: bytes | str) -> None:
    with pytest.raises(JobError):
        job_from_json(data)


def test_same_job_has_the_same_fingerprint_whatever_its_limits() -> None:
    longer = replace(JOB, time_limit_s=3.0, memory_limit_bytes=GIB)
    assert fingerprint(JOB, "code", "2.13") == fingerprint(longer, "code", "2.13")
    other = {
        fingerprint(JOB, "other", "2.13"),
        fingerprint(JOB, "code", "2.12"),
        fingerprint(replace(JOB, seed=1), "code", "2.13"),
    }
    assert len(other | {fingerprint(JOB, "code", "2.13")}) == 4


def test_call_of_torch_compile_shows_what_differs() -> None:
    options = CompileOptions(fullgraph=True, dynamic=False, options={"max_autotune": True})
    assert options.as_call() == "torch.compile(model, fullgraph=True, dynamic=False, options={'max_autotune': True})"
    assert CompileOptions().as_call() == "torch.compile(model)"


A_MODEL = "model = abs\ninputs = (1,)\n"
OF_THE_FILE = f"{A_MODEL}training: bool = True\ntorch_compile = {{'mode': 'max-autotune', 'dynamic': True}}\n"


@pytest.mark.parametrize(
    ("settings", "training", "options"),
    [
        ({}, True, CompileOptions(mode="max-autotune", dynamic=True)),
        ({"training": False}, False, CompileOptions(mode="max-autotune", dynamic=True)),
        ({"mode": None, "dynamic": None}, True, CompileOptions()),
        ({"options": {"max_autotune": True}}, True, CompileOptions(dynamic=True, options={"max_autotune": True})),
        ({"backend": "eager"}, True, CompileOptions(dynamic=True, backend="eager")),
        ({"fullgraph": False}, True, CompileOptions(mode="max-autotune", dynamic=True)),
    ],
)
def test_each_setting_is_the_jobs_or_as_the_file_says(
    settings: dict[str, object], training: bool, options: CompileOptions
) -> None:
    asked = CompileJob(Model("code", OF_THE_FILE)).with_settings(**settings)
    found, code = prepared(asked)
    assert (found.training, found.compile) == (training, options)
    left = tuple(name for name in FILE_SETTINGS if name not in settings)
    assert (asked.as_file_says(), found.as_file_says()) == (left, left)
    assert prepared(found) == (found, code)
    assert job_from_json(job_to_json(found)) == found


def test_a_setting_that_was_the_files_follows_the_file_when_it_is_run_again() -> None:
    found, _ = prepared(CompileJob(Model("code", OF_THE_FILE)))
    later = replace(found, model=Model("code", f"{A_MODEL}torch_compile = {{'dynamic': False}}\n"))
    again, _ = prepared(later)
    assert (again.training, again.compile) == (False, CompileOptions(dynamic=False))


def test_a_run_is_the_same_whether_the_file_or_the_job_said_it() -> None:
    left, code = prepared(CompileJob(Model("code", OF_THE_FILE)))
    said = {"training": True, "mode": "max-autotune", "dynamic": True, "fullgraph": False, "backend": "inductor"}
    given, _ = prepared(CompileJob(Model("code", OF_THE_FILE)).with_settings(**said, options=None))
    assert given != left
    assert fingerprint(given, code, "2.13.0") == fingerprint(left, code, "2.13.0")
