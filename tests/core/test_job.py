"""Jobs: JSON both ways, and every wrong field named."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import CompileJob, CompileOptions, JobError, Model, job_from_json, job_to_json
from core.arguments import DTYPES, CallSpec, TensorSpec, parse_call
from core.job import (
    GIB,
    MODES,
    STANCES,
    Conditions,
    DynamicDim,
    Packaging,
    fingerprint,
    options_from_text,
    validated,
)

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", CallSpec((), {})),
        ("f32[8, 64]", CallSpec((TensorSpec("float32", (8, 64)),), {})),
        ("f32[()]", CallSpec((TensorSpec("float32", ()),), {})),
        ("bf16[4,]", CallSpec((TensorSpec("bfloat16", (4,)),), {})),
        ("i64[8] < 1000, 2.5", CallSpec((TensorSpec("int64", (8,), 1000), 2.5), {})),
        (f"i64[8] < {2**63 - 1}", CallSpec((TensorSpec("int64", (8,), 2**63 - 1),), {})),
        ("flag=True, name='x'", CallSpec((), {"flag": True, "name": "x"})),
        ("[f32[1], (b8[0], None)]", CallSpec(([TensorSpec("float32", (1,)), (TensorSpec("bool", (0,)), None)],), {})),
        ("{'a': f32[2]}, -1", CallSpec(({"a": TensorSpec("float32", (2,))}, -1), {})),
    ],
)
def test_call_text_is_read(text: str, expected: CallSpec) -> None:
    assert parse_call(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "f32[8",
        "f32",
        "f33[8]",
        "f32[-1]",
        "f32[1.5]",
        "f32[True]",
        "f32[n]",
        "f32[8] < 3",
        "i64[8] < 0",
        "i64[8] > 3",
        f"i64[8] < {2**63}",
        "i64[8] < x",
        "1 < 2",
        "**kwargs",
        "*args",
        "open('x')",
        "f(1)",
        ")(1",
        "1) + f(2",
        "a=1, a=2",
        "lambda: 0",
        "f32[" + "1, " * 17 + "]",
        "f32[1000000, 1000000]",
        "{[1]: 2}",
        "{**{}}",
        "[" * 5000,
        "(" * 50 + ")" * 50 + "x",
        "f32[0x" + "f" * 5000 + "]",
        "i64[1] < 0x" + "f" * 5000,
        "\0",
        "\ud800",
        "x[1][2]",
        "-" * 100_000 + "1",
    ],
)
def test_wrong_call_text_is_an_error_of_its_field(text: str) -> None:
    with pytest.raises(JobError) as error:
        parse_call(text, "calls[3]")
    assert error.value.field == "calls[3]"


CALL_LIKE = st.lists(
    st.sampled_from(
        [*DTYPES, "[", "]", "(", ")", "{", "}", ",", "<", "=", "*", ":", "-", "8", "1.5", "'x'", "x", "None", " "]
    ),
    max_size=30,
).map("".join)


@given(ANY_TEXT | CALL_LIKE)
def test_any_call_text_is_read_or_a_job_error(text: str) -> None:
    try:
        parse_call(text)
    except JobError as error:
        assert error.field == "calls"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  ", None),
        ("max_autotune=True", {"max_autotune": True}),
        ("a=1, b=2.5 ,c='x',d=y", {"a": 1, "b": 2.5, "c": "x", "d": "y"}),
        ("a=null", {"a": None}),
        ("a=b=c", {"a": "b=c"}),
        ("a=\ud800", {"a": "\ud800"}),
    ],
)
def test_options_are_read_from_text(text: str, expected: dict[str, Any] | None) -> None:
    assert options_from_text(text) == expected


@given(ANY_TEXT)
def test_any_options_text_is_read_or_a_job_error(text: str) -> None:
    try:
        options_from_text(text)
    except JobError as error:
        assert error.field == "compile.options"
