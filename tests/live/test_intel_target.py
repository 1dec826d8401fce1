"""Why there is no target of Intel's: Triton's first stage needs a backend, and its IR names the vendor's functions."""

import pytest
import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend
from triton.language.extra import libdevice

pytestmark = pytest.mark.torch


@triton.jit
def kernel(source, target, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + index, libdevice.erf(tl.load(source + index)))


def triton_ir(target: GPUTarget) -> str:
    source = ASTSource(kernel, {"source": "*fp32", "target": "*fp32", "BLOCK": "constexpr"}, {(2,): 128})
    backend = make_backend(target)
    options, context = backend.parse_options({}), ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    code = backend.get_codegen_implementation(options), backend.get_module_map()
    return str(source.make_ir(target, options, *code, context))


@pytest.mark.parametrize(
    ("backend", "arch", "warp_size", "function"),
    [("cuda", 90, 32, "__nv_erff"), ("hip", "gfx942", 64, "__ocml_erf_f32")],
)
def test_triton_ir_names_the_vendors_function(backend: str, arch: int | str, warp_size: int, function: str) -> None:
    assert function in triton_ir(GPUTarget(backend, arch, warp_size))


def test_triton_has_no_backend_for_intels_gpus() -> None:
    with pytest.raises(RuntimeError, match="0 compatible backends for target \\(xpu\\)"):
        triton_ir(GPUTarget("xpu", {}, 32))
