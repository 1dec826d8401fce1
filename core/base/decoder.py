"""Decoder of all JSON: logs, uploads, stored files and messages. Only safe values are returned.

Python and msgspec accept values that other readers reject, so these rules apply. Text that is too large, too
deep or has too many values is rejected. An integer beyond 64 bits becomes text, and half a surrogate pair
becomes U+FFFD. An infinity becomes the largest float, and NaN becomes None. If an object has a key twice, the
last value is used.
"""

import json
import math
import re
import tomllib
from itertools import accumulate
from pathlib import Path
from threading import Lock
from types import UnionType
from typing import Any, TypeVar, overload

import msgspec

from core.base.errors import DecodeError
from core.base.words import number

T = TypeVar("T")

MOST_BYTES = 512 * 1024**2  #: a text that is read as JSON
MOST_DEPTH = 100  #: nested lists and objects of a JSON text
MOST_VALUES = 10_000_000  #: values of a JSON text
LARGEST = 1.7976931348623157e308  #: largest number; infinity becomes this number
LEAST_INTEGER, MOST_INTEGER = -(2**63), 2**63 - 1
# Marks of unusual numbers, in text whose digits are all replaced by zeros: an integer of many digits, a long exponent.
# They matter only at the start of a number, since a fraction may have any length.
LONG = b"0" * 19
LONG_NUMBERS = (LONG, b"e000", b"e+000", b"E000", b"E+000")
LOOKED_AT = 100_000
NUMBER_BYTES = 400
STARTS = b' \t\n\r:,["'
AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
BUT_BRACKETS = bytes(sorted(set(range(256)) - set(b'"[]{}')))
SURROGATE = re.compile("[\ud800-\udfff]")
_making = Lock()
_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}
_unpackers: dict[Any, msgspec.msgpack.Decoder[Any]] = {}
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def decoded(data: str | bytes) -> Any:
    """Return the value of a JSON text; raises DecodeError."""
    data = _check_bounds(data)
    odd = _is_odd(data)
    try:
        value = json.loads(data.decode("utf-8", "surrogatepass"), parse_int=_integer if odd else None)
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"it is not JSON: {error}") from None
    return _storable(value) if odd else value


def decoded_object(data: str | bytes) -> dict[str, Any]:
    """Return the object in a JSON text; an empty dict if the text is invalid or another value."""
    try:
        value = decoded(data)
    except DecodeError:
        return {}
    return value if isinstance(value, dict) else {}


@overload
def decoded_as(data: str | bytes, kind: type[T]) -> T: ...
@overload
def decoded_as(data: str | bytes, kind: UnionType) -> Any: ...
def decoded_as(data: str | bytes, kind: Any) -> Any:
    """Return the value of a JSON text as a type; raises DecodeError with the path of a mismatch."""
    decoder = _decoder(kind)
    try:
        if _is_odd(_check_bounds(data)):
            return msgspec.convert(decoded(data), kind, str_keys=True)
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(str(error)) from None


def unpacked_as(data: bytes, kind: Any, most_bytes: int) -> Any:
    """Return the value of a MessagePack message as a type; raises DecodeError, also if it is too large."""
    if len(data) > most_bytes:
        raise DecodeError(f"the message has more than {number(most_bytes)} bytes")
    with _making:
        if kind not in _unpackers:
            _unpackers[kind] = msgspec.msgpack.Decoder(kind)
    try:
        return _unpackers[kind].decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(str(error)) from None


def converted(value: Any, kind: type[T]) -> T:
    """Return the output of `decoded` as a value of a type; raises DecodeError with the path of a mismatch."""
    _decoder(kind)
    try:
        return msgspec.convert(value, kind, str_keys=True)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DecodeError(str(error)) from None


def toml_as(path: Path, kind: type[T]) -> T:
    """Return a table of the product's own, a TOML file, as a type."""
    return converted(tomllib.loads(path.read_text(encoding="utf-8")), kind)


def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return the decoder of a type; two threads that ask msgspec at once would crash the process."""
    with _making:
        if kind not in _decoders:
            _decoders[kind] = msgspec.json.Decoder(kind)
        return _decoders[kind]


def whole(value: Any) -> int:
    """Return a number or a text as a 64-bit integer; raises ValueError, TypeError."""
    integer = int(value)
    if not LEAST_INTEGER <= integer <= MOST_INTEGER:
        raise ValueError("an integer beyond 64 bits")
    return integer


def counted(value: Any) -> int | None:
    """Return a count, from 0 to less than 2**31; None for anything else."""
    return value if type(value) is int and 0 <= value < 2**31 else None


def _check_bounds(data: str | bytes) -> bytes:
    """Return the text as bytes, if its size, values and depth are within bounds; raises DecodeError."""
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    opened = data.count(b"[") + data.count(b"{")
    if len(data) > MOST_BYTES:
        raise DecodeError(f"it has more than {MOST_BYTES // 1024**2} MiB")
    if opened + data.count(b",") > MOST_VALUES:
        raise DecodeError(f"it has more than {number(MOST_VALUES)} values")
    if opened > MOST_DEPTH and _depth(data) > MOST_DEPTH:
        raise DecodeError(f"it is nested more than {MOST_DEPTH} deep")
    return data


def _depth(data: bytes) -> int:
    """Return the nesting depth of lists and objects, without decoding anything."""
    unescaped = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    brackets = b"".join(unescaped.translate(None, BUT_BRACKETS).split(b'"')[::2])
    return max(accumulate(map(STEPS.__getitem__, brackets)), default=0)


def _is_odd(data: bytes) -> bool:
    """Return True if the text may contain a value that needs checking; True if in doubt."""
    zeros = data.translate(AS_ZEROS)
    # A search for one byte is much faster than one for several; most texts of a log are short, so loops cost more.
    if b"\\" in zeros and (b"\\ud" in zeros or b"\\uD" in zeros):
        return True
    if (b"N" in zeros and b"NaN" in zeros) or (b"I" in zeros and b"Infinity" in zeros) or b"\xed" in zeros:
        return True
    return any(_in_number(zeros, mark) for mark in LONG_NUMBERS if mark in zeros)


def _in_number(zeros: bytes, mark: bytes) -> bool:
    """Return True if a mark is at the start of a number; True if in doubt."""
    at = zeros.find(mark)
    for _ in range(LOOKED_AT):
        if at < 0:
            return False
        before = zeros[max(0, at - NUMBER_BYTES) : at]
        start = before.rstrip(b"-" if mark == LONG else b"0.-")
        if (mark == LONG or before.endswith(b"0")) and (not start or start[-1] in STARTS):
            return True
        at = zeros.find(mark, at + len(mark))
    return True


def _integer(digits: str) -> int | str:
    integer = int(digits)
    return integer if LEAST_INTEGER <= integer <= MOST_INTEGER else digits


def _storable(value: Any) -> Any:
    """Return the value without parts that JSON or UTF-8 can't store: unpaired surrogates, infinities, NaN."""
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_storable(element) for element in value]
    if isinstance(value, dict):
        return {_storable(name): _storable(element) for name, element in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else math.copysign(LARGEST, value)
    return value
