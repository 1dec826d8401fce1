"""The one decoder: what JSON may not do to what comes after it."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.decoder import MOST_DEPTH, _is_odd, decoded, decoded_as, unpacked_as, whole
from core.base.errors import DecodeError
from core.runs.status import Status
from tests.support.places import ROOT

LARGEST = 1.7976931348623157e308
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
)  # fmt: skip


@given(JSON, st.booleans())
def test_plain_json_is_what_it_says(value: Any, ascii_alone: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_alone)
    assert decoded(text) == decoded(text.encode()) == value


@pytest.mark.promise("logs")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", "9223372036854775808"),
        ('{"id": -99999999999999999999}', {"id": "-99999999999999999999"}),
        ('"\\ud800x"', "\ufffdx"),
        ('"\\ud83d\\ude00"', "😀"),
        ('{"\\udfff": 1}', {"\ufffd": 1}),
        ('"\ud800"', "\ufffd"),
        ("[NaN, Infinity, -Infinity, 1e400, -1e999]", [None, LARGEST, -LARGEST, LARGEST, -LARGEST]),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ('"1234567890123456789012"', "1234567890123456789012"),
        ('"[[[[" ', "[[[["),
        ("[" * MOST_DEPTH + "]" * MOST_DEPTH, None),
    ],
)  # fmt: skip
def test_odd_values_become_harmless_ones(text: str, value: Any) -> None:
    """Unusual JSON values, such as huge numbers and invalid Unicode, become harmless ones."""
    found = decoded(text)
    assert found == (value if value is not None else json.loads(text))
    msgspec.json.encode(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("9" * 10_000, "it is not JSON"),
        ("\ufeff{}", "it is not JSON"),
        (b"\xff{}", "it is not JSON|it is not UTF-8"),
        ("[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1), "nested more than"),
        ('{"a":' * 200_000 + "1" + "}" * 200_000, "nested more than"),
        ('["\\"[", [' * 60 + "]]" * 60, "nested more than"),
        ("[" + "{}," * 6_000_000, "more than 10,000,000 values"),
    ],
    ids=range(9),
)
def test_what_is_no_json_or_too_much_is_refused_in_words(text: str | bytes, words: str) -> None:
    with pytest.raises(DecodeError, match=words):
        decoded(text)
    with pytest.raises(DecodeError):
        decoded_as(text, list[Any])


def test_the_page_of_the_schema_says_what_becomes_of_what_json_lacks() -> None:
    page = (ROOT / "docs" / "report-schema.md").read_text(encoding="utf-8")
    nothing, largest = decoded(b"[NaN, Infinity]")
    assert nothing is None
    assert "NaN is `null`" in page
    assert f"Infinity is the largest number there is, {largest!r}." in page


def test_a_value_of_the_greatest_depth_is_read() -> None:
    inner = MOST_DEPTH - 1
    assert decoded(f"[{'[' * inner}{']' * inner},[]]")[1] == []


def test_a_message_of_the_greatest_size_is_read() -> None:
    message = msgspec.msgpack.encode([1, 2])
    assert unpacked_as(message, list[int], len(message)) == [1, 2]
    with pytest.raises(DecodeError, match="more than 2 bytes"):
        unpacked_as(message, list[int], len(message) - 1)


def test_brackets_in_texts_do_not_count_as_depth() -> None:
    value = [["[" * 500, '"' + "{" * 500, "\\"] for _ in range(200)]
    assert decoded(json.dumps(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        b'{"state": "done", "created_s": 1, "peak_memory_bytes": 99999999999999999999}',
        b'{"state": "done", "created_s": NaN}',
        b"3",
    ],
)
def test_a_value_of_another_type_is_refused(text: bytes) -> None:
    with pytest.raises(DecodeError):
        decoded_as(text, Status)


def test_a_value_of_a_type_is_the_same_whether_its_text_is_odd_or_not() -> None:
    kind = dict[int, tuple[float, str]]
    assert decoded_as(b'{"1": [2, "x"]}', kind) == {1: (2.0, "x")}
    assert decoded_as(b'{"1": [1e999, "\\ud800"]}', kind) == {1: (LARGEST, "\ufffd")}


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("[0.00012345678901234567, 3.1415926535897932384626]", False),
        ('["3e1234", "e999", "ae123", "x12345678901234567890"]', True),
        ('["ae123", "e999", "x12345678901234567890"]', False),
        ("[-1.5e999]", True),
        ('{"12345678901234567890": 1}', True),
        ("12345678901234567890.5", True),
        ("[" + "0.1234567890123456789, " * 200_000 + "1e999]", True),
    ],
    ids=range(7),
)
def test_long_fractions_and_texts_are_not_odd(text: str, odd: bool) -> None:
    assert _is_odd(text.encode()) == odd


@pytest.mark.parametrize("value", [10**19, "9" * 30, float("inf"), float("nan"), "x", [], None, 1e300])
def test_a_number_beyond_64_bits_is_none(value: Any) -> None:
    with pytest.raises((ValueError, TypeError, OverflowError)):
        whole(value)
