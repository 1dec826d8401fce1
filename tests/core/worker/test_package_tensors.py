"""Files of tensors for C++: what is written is read again, and what is no such file is refused."""

from pathlib import Path

import pytest
import torch

from core.base.errors import ProgramError
from core.worker.aoti.running import bits_equal, flat_differences, read_tensors, write_tensors

pytestmark = pytest.mark.torch
TENSORS = [
    torch.arange(6, dtype=torch.float32).reshape(2, 3),
    torch.arange(6, dtype=torch.int64).reshape(2, 3).t(),
    torch.ones(4, dtype=torch.bfloat16).expand(3, 4),
    torch.arange(10, dtype=torch.float64)[2:8:2],
    torch.tensor(True),
    torch.empty(0, 4),
]


def test_tensors_are_read_as_they_were_written_strides_and_all(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t.bin", TENSORS)
    found = read_tensors(tmp_path / "t.bin")
    assert [(item.dtype, item.shape, item.stride()) for item in found] == [
        (item.dtype, item.shape, item.stride()) for item in TENSORS
    ]
    assert bits_equal(TENSORS, found)


def test_the_file_is_that_which_its_description_says(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t.bin", [torch.tensor([1, 2], dtype=torch.int16)])
    numbers = (1, 2, 1, 2, 1, 4)
    data = b"".join(value.to_bytes(8, "little") for value in numbers)
    assert (tmp_path / "t.bin").read_bytes() == b"CBTENS01" + data + b"\x01\x00\x02\x00"


def test_what_is_cut_off_or_says_other_sizes_is_no_file_of_tensors(tmp_path: Path) -> None:
    path = tmp_path / "t.bin"
    write_tensors(path, TENSORS[:2])
    data = path.read_bytes()
    for wrong in (b"", data[:7], data[:20], data[:-1], data[:40] + b"\xff" * 8 + data[48:], b"CBTENS02" + data[8:]):
        path.write_bytes(wrong)
        with pytest.raises(ProgramError):
            read_tensors(path)


def test_a_sparse_tensor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="float32, sparse_coo cannot be written"):
        write_tensors(tmp_path / "t.bin", [torch.eye(2).to_sparse()])


def test_what_cpp_returned_is_held_against_the_tensors_of_eager_by_name() -> None:
    expected = {"logits": torch.ones(2), "steps": 3}
    (same,) = flat_differences(expected, [torch.ones(2)])
    assert (same.what, same.same) == ("output['logits']", True)
    (wrong,) = flat_differences(expected, [torch.zeros(2)])
    assert (wrong.same, wrong.actual) == (False, "all zeros")
    both = flat_differences(expected, [torch.ones(2), torch.tensor(4)])
    assert [(item.what, item.same) for item in both] == [("output['logits']", True), ("output['steps']", False)]
    (fewer,) = flat_differences(expected, [])
    assert (fewer.kind, fewer.expected, fewer.actual) == ("tree", "2 tensors", "0 tensors")
