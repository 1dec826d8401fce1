"""The dimensions of a call, by the names that a job's sizes have."""

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from core import CompileJob, CompileOptions, Conditions, JobError, Model
from core.base.syntax import MAX_CHARS, expression, module
from core.job import compile_options_from_text, dims_from_text, options_from_text, sizes_from_text, validated
from core.job.arguments import MAX_CALL_CHARS, parse_call, tensor_sizes
from core.job.text import MAX_CALLS_CHARS, MAX_OPTIONS_CHARS, MAX_SIZE_CHARS
from core.sweep.model import MAX_AXIS_CHARS, changed, parse_axes, parse_axis

JOB = CompileJob(Model("sample", "mlp"))


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("f32[8, 64], i64[8] < 1000, 2.5", {"0.0": 8, "0.1": 64, "1.0": 8}),
        ("2, [f32[16], (f32[3],)], mask=b8[4, 5]", {"1.0.0": 16, "1.1.0.0": 3, "mask.0": 4, "mask.1": 5}),
        ("2.5, {'x': f32[2]}, flag=True", {}),
        ("inputs(batch=16)", {}),
        ("calls(batch=16)", {}),
        ("", {}),
    ],
)
def test_each_dimension_of_a_call_has_its_name_and_size(text: str, sizes: dict[str, int]) -> None:
    assert tensor_sizes(text) == sizes


def test_a_text_that_is_no_call_is_refused() -> None:
    with pytest.raises(JobError):
        tensor_sizes("f32[]")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the texts that reached Python's parser."""
    lengths: list[int] = []
    parse = ast.parse

    def counted(text: str, *arguments: Any, **named: Any) -> Any:
        lengths.append(len(text))
        return parse(text, *arguments, **named)

    monkeypatch.setattr(ast, "parse", counted)
    return lengths


@pytest.mark.promise("messages")
@pytest.mark.parametrize(
    ("read", "most"),
    [
        (lambda text: parse_call(text), MAX_CALL_CHARS),
        (lambda text: tensor_sizes(text), MAX_CALL_CHARS),
        (lambda text: validated(replace(JOB, calls=(text,))), MAX_CALL_CHARS),
        (lambda text: validated(replace(JOB, calls=tuple([text[:MAX_CALL_CHARS]] * 5))), MAX_CALLS_CHARS // 5),
        (lambda text: options_from_text(text), MAX_OPTIONS_CHARS),
        (lambda text: compile_options_from_text(text, "rival"), MAX_OPTIONS_CHARS),
        (lambda text: validated(replace(JOB, compile=CompileOptions(options={"x": text}))), MAX_OPTIONS_CHARS),
        (lambda text: validated(replace(JOB, compile=CompileOptions(options={text: 1}))), MAX_OPTIONS_CHARS),
        (lambda text: validated(replace(JOB, conditions=Conditions(dynamo={"x": text}))), MAX_OPTIONS_CHARS),
        (lambda text: sizes_from_text([text]), MAX_SIZE_CHARS),
        (lambda text: dims_from_text([text]), MAX_SIZE_CHARS),
        (lambda text: parse_axis(text), MAX_AXIS_CHARS),
        (lambda text: parse_axis("calls=" + text), MAX_AXIS_CHARS),
        (lambda text: parse_axis("seed=1,2,…," + text), MAX_AXIS_CHARS),
        (lambda text: parse_axes(["seed=1"] * len(text)), 8),
        (lambda text: changed(JOB, ["calls=" + text]), MAX_AXIS_CHARS),
    ],
)
@pytest.mark.parametrize("of", ["<1", "[", "(", ",", "a=", "1,…,", "9", "1_0", "\n", "\u0663", "9**"])
def test_a_text_is_read_only_if_it_is_short(
    read: Callable[[str], object], most: int, of: str, parsed: list[int]
) -> None:
    """The length of typed text is checked before anything parses it.

    Python's parser holds the interpreter as long as it reads, so that all sessions of a server wait for it.
    """
    with pytest.raises(JobError):
        read("f32[1]" + of * (8_000_000 // len(of)))
    assert max(parsed, default=0) <= most + len("f()")


@pytest.mark.parametrize("parse", [module, expression])
def test_what_a_log_calls_code_is_parsed_only_up_to_a_length(parse: Callable[[str], object], parsed: list[int]) -> None:
    with pytest.raises(ValueError, match="more than"):
        parse("1" * (MAX_CHARS + 1))
    assert parsed == []


@pytest.mark.parametrize(
    "text",
    [
        f"f32[0x{'f' * 9_000}]",
        f"inputs(batch=0x{'f' * 9_000})",
        f"inputs({{'0.1': {'9' * 4_000}}})",
        f"i64[1] < 0x{'f' * 9_000}",
        f"0x{'f' * 9_000}",
        "9**9**9",
        "inputs(batch=9**9**9)",
        f"x=0x{'f' * 9_000}j",
        f"f32[{'[' * 150}1{']' * 150}]",
        f"{'[' * 150}{']' * 150}",
        f"{'-' * 5_000}1",
        f"{'{1:' * 90}1{'}' * 90}",
        f"inputs({{{'-' * 5_000}1: 2}})",
    ],
)
def test_a_short_text_that_stands_for_much_is_a_call_or_refused_in_words(text: str) -> None:
    try:
        call = parse_call(text)
    except JobError:
        return
    assert call.args  # type: ignore[union-attr]


@pytest.mark.parametrize("size", ["9" * 19, "9" * 900, "-1", "1_0", "1.5", ""])
def test_a_size_is_a_number_of_few_digits(size: str) -> None:
    with pytest.raises(JobError, match="write batch=64"):
        sizes_from_text([f"batch={size}"])


def test_ellipses_make_no_more_values_than_an_axis_has() -> None:
    with pytest.raises(JobError, match="more than 500 values"):
        parse_axis(f"seed={','.join(['1,2,…,499'] * 1_000)}")
