"""Triton's first example: add two vectors, a block of elements for each program."""

# mypy: disable-error-code="no-untyped-def"
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


x, y = torch.randn(1000), torch.randn(1000)
result = torch.empty_like(x)
add_kernel[(triton.cdiv(x.numel(), 256),)](x, y, result, x.numel(), BLOCK=256)
expected = x + y
