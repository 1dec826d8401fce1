"""What compilers say that a kernel takes of a device."""

from core.code.stages import Resources, amd_resources, cubin_usage, ptxas_resources, too_large
from core.job.targets import TARGETS

PTXAS = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'other' for 'sm_90a'
ptxas info    : Function properties for other
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Compiling entry function 'mine' for 'sm_90a'
ptxas info    : Function properties for mine
    24 bytes stack frame, 16 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 128 bytes smem
"""
AMD = """    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 16
    .sgpr_count:     21
    .sgpr_spill_count: 0
    .vgpr_count:     8
    .vgpr_spill_count: 3
"""
CUOBJDUMP = """Resource usage:
 Common:
  GLOBAL:0
 Function mine:
  REG:22 STACK:8 SHARED:0 LOCAL:0 CONSTANT[0]:400 TEXTURE:0 SURFACE:0 SAMPLER:0
"""


def test_the_figures_of_a_kernel_are_read_from_the_words_of_ptxas() -> None:
    assert ptxas_resources(PTXAS, "mine", 1024) == Resources(255, 1152, 16, 32, local_bytes=24)
    assert ptxas_resources(PTXAS, "other", 0) == Resources(8, 0, 0, 0, local_bytes=0)
    assert ptxas_resources("ptxas fatal   : no", "mine", 0) is None


def test_the_figures_of_an_amd_kernel_are_read_from_its_metadata() -> None:
    assert amd_resources(AMD, 512) == Resources(8, 512, 12, None, 21, 16)
    assert amd_resources("", 512) is None


def test_a_kernel_that_wants_more_shared_memory_than_the_target_has_is_reported() -> None:
    assert too_large(128 * 1024, TARGETS["l4"].architecture) == (
        "it needs 131,072 bytes of shared memory a block; the target allows 101,376"
    )
    assert too_large(128 * 1024, TARGETS["h100"].architecture) == ""
    assert too_large(128 * 1024, None) == ""


def test_registers_and_stack_of_a_cubin_are_read_from_the_words_of_cuobjdump() -> None:
    assert cubin_usage(CUOBJDUMP) == (22, 8)
    assert cubin_usage("cuobjdump fatal   : no") is None
