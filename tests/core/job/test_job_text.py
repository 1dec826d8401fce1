"""What is typed of a job, and read: calls and options."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import JobError
from core.job import options_from_text
from core.job.arguments import DTYPES, CallSpec, TensorSpec, parse_call

ANY_TEXT = st.text(st.characters())


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
        ("a=1, b=2, ", {"a": 1, "b": 2}),
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
