"""A file of tensors, as `main.cpp` beside it reads and writes it.

`CBTENS01`, then int64 numbers, little-endian: how many tensors there are, and for each its `c10::ScalarType`, rank,
sizes, strides and bytes, then so many bytes of its elements, from first to last as they lie, gaps and all.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import torch

from core.base.errors import ProgramError
from core.base.files import open_regular

MAGIC = b"CBTENS01"
MOST_TENSORS = 4_096
MOST_RANK = 64
MOST_TENSOR_BYTES = 4 * 1024**3
# As c10/core/ScalarType.h numbers them.
SCALAR_TYPES = {
    torch.uint8: 0,
    torch.int8: 1,
    torch.int16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.float16: 5,
    torch.float32: 6,
    torch.float64: 7,
    torch.complex64: 9,
    torch.complex128: 10,
    torch.bool: 11,
    torch.bfloat16: 15,
}
DTYPES = {number: dtype for dtype, number in SCALAR_TYPES.items()}


def write_tensors(path: Path, tensors: Sequence[torch.Tensor]) -> None:
    """Write dense tensors from any device; raises ProgramError for another layout or dtype."""
    with path.open("wb") as file:
        file.write(MAGIC + _numbers(len(tensors)))
        for tensor in tensors:
            file.write(_header(tensor))
            file.write(_elements(tensor))


def read_tensors(path: Path) -> list[torch.Tensor]:
    """The tensors of a file, on the CPU; raises ProgramError where it is no such file."""
    try:
        with open_regular(path) as file:
            return _read(file)
    except (OSError, struct.error) as error:
        raise ProgramError(f"{path.name} is no file of tensors: {error}") from None


def _header(tensor: torch.Tensor) -> bytes:
    number = SCALAR_TYPES.get(tensor.dtype)
    if tensor.layout != torch.strided or number is None:
        what = f"{str(tensor.dtype).removeprefix('torch.')}, {str(tensor.layout).removeprefix('torch.')}"
        raise ProgramError(f"a tensor of {what} cannot be written into a file for C++")
    size = _span(tensor.shape, tensor.stride()) * tensor.element_size()
    return _numbers(number, tensor.dim(), *tensor.shape, *tensor.stride(), size)


def _elements(tensor: torch.Tensor) -> bytes:
    count = _span(tensor.shape, tensor.stride())
    flat = tensor.detach().resolve_conj().resolve_neg().as_strided((count,), (1,), tensor.storage_offset())
    return bytes(flat.cpu().contiguous().view(torch.uint8).numpy().tobytes())


def _span(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last."""
    if math.prod(sizes) == 0:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


def _numbers(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "little", signed=True) for value in values)


def _read(file: BinaryIO) -> list[torch.Tensor]:
    if file.read(len(MAGIC)) != MAGIC:
        raise ProgramError("a file of tensors begins with CBTENS01")
    (count,) = _read_numbers(file, 1)
    if not 0 <= count <= MOST_TENSORS:
        raise ProgramError(f"a file of tensors holds at most {MOST_TENSORS}")
    return [_tensor(file) for _ in range(count)]


def _tensor(file: BinaryIO) -> torch.Tensor:
    number, rank = _read_numbers(file, 2)
    if number not in DTYPES or not 0 <= rank <= MOST_RANK:
        raise ProgramError(f"there is no tensor of scalar type {number} with {rank} dimensions")
    sizes, strides = _read_numbers(file, rank), _read_numbers(file, rank)
    (size,) = _read_numbers(file, 1)
    dtype = DTYPES[number]
    if min((0, *sizes, *strides)) < 0 or size != dtype.itemsize * _span(sizes, strides) or size > MOST_TENSOR_BYTES:
        raise ProgramError("a tensor has another number of bytes than its sizes say")
    data = file.read(size)
    if len(data) != size:
        raise ProgramError("the file of tensors ends early")
    flat = torch.frombuffer(bytearray(data), dtype=dtype) if size else torch.empty(0, dtype=dtype)
    return flat.as_strided(sizes, strides)


def _read_numbers(file: BinaryIO, count: int) -> tuple[int, ...]:
    return struct.unpack(f"<{count}q", file.read(8 * count))
