"""Inductor's plan of memory, read off wrappers as torch 2.13 writes them."""

from core.code.memory_plan import MemoryPlan, PlannedMemory, PlanStep, memory_plan
from core.report import Buffer

HEAD = """
cpp_fused_add_0 = async_compile.cpp_pybinding(['float*'], r'''
''')

class Runner:
    def call(self, args):
"""
FORWARD = (
    HEAD
    + """\
        arg0_1, arg1_1, arg2_1 = args
        args.clear()
        s33 = arg2_1
        buf0 = empty_strided_cpu((s33, 8), (8, 1), torch.float32)
        buf1 = empty_strided_cpu((s33, 1), (1, s33), torch.float32)
        cpp_fused_add_0(arg0_1, buf0, buf1, s33)
        del arg0_1
        buf2 = extern_kernels.convolution(buf0, arg1_1, stride=(1, 1))
        assert_size_stride(buf2, (4, 8), (8, 1), 'torch.ops.aten.convolution.default')
        del buf0
        buf3 = reinterpret_tensor(buf2, (8, 4), (4, 1), 0); del buf2  # reuse
        cpp_fused_add_0(buf3, s33)
        del buf1
        return (buf3, )
"""
)
BACKWARD = (
    HEAD
    + """\
        primals_3, relu, tangents_1 = args
        args.clear()
        buf0 = torch.ops.aten.max_pool.default(tangents_1)
        buf1 = buf0[0]
        buf2 = buf0[1]
        del buf0
        buf3 = relu; del relu  # reuse
        cpp_fused_add_0(buf3, buf1, primals_3)
        del buf1
        if buf2.item():
            buf4 = empty_strided((), (), device='xpu', dtype=torch.bool)
            cpp_fused_add_0(buf4)
        return (buf3, None, )
"""
)
POOLED = (
    HEAD
    + """\
        arg0_1, = args
        pool0 = empty_strided_cpu((64, ), (1, ), torch.uint8)
        buf0 = alloc_from_pool(pool0, 0, torch.float32, (8, ), (1, ))
        buf1 = alloc_from_pool(pool0, 32, torch.float32, (8, ), (1, ))
        cpp_fused_add_0(arg0_1, buf0, buf1)
        del buf0, pool0
        cpp_fused_add_0(buf1)
        del buf1
        buf2 = empty_strided_cpu((2, ), (1, ), torch.int64)
        cpp_fused_add_0(buf2)
        return (buf2, )
"""
)


def buffer(name: str, *shape: int) -> Buffer:
    return Buffer(name, "float32", tuple(map(str, shape)), ("1",) * len(shape), False, False)


def test_memory_is_there_from_the_line_that_makes_it_to_the_end_of_its_last_name() -> None:
    sizes = {"buf2": Buffer("buf2", "float32", ("s33", "8"), ("8", "1"), False, False)}
    assert memory_plan(FORWARD, sizes, {}, {"s33": 4}) == MemoryPlan(
        steps=(
            PlanStep(12, "cpp_fused_add_0", 144),
            PlanStep(14, "extern_kernels.convolution", 272),
            PlanStep(18, "cpp_fused_add_0", 144),
        ),
        memories=(
            PlannedMemory(("buf0",), 128, "allocated", 10, 0, 1),
            PlannedMemory(("buf1",), 16, "allocated", 11, 0, 2),
            PlannedMemory(("buf2", "buf3"), 128, "library", 14, 1, 2, returned=True),
        ),
        reused=1,
        reused_bytes=128,
    )


def test_a_backward_begins_with_what_was_saved_for_it_and_a_library_may_return_several() -> None:
    plan = memory_plan(BACKWARD, {"buf1": buffer("buf1", 10), "buf2": buffer("buf2", 3)}, {"relu": 100}, {})
    assert plan == MemoryPlan(
        steps=(
            PlanStep(9, "torch.ops.aten.max_pool.default", 152),
            PlanStep(14, "cpp_fused_add_0", 152),
            PlanStep(18, "cpp_fused_add_0", 113),
        ),
        memories=(
            PlannedMemory(("relu", "buf3"), 100, "saved", 7, 0, 2, returned=True),
            PlannedMemory(("buf1",), 40, "library", 10, 0, 1),
            PlannedMemory(("buf2",), 12, "library", 11, 0, 2),
            PlannedMemory(("buf4",), 1, "allocated", 17, 2, 2),
        ),
        reused=1,
        reused_bytes=100,
        branches=True,
    )
    assert [memory.names for memory in plan.there(1)] == [("relu", "buf3"), ("buf1",), ("buf2",)]
    assert (plan.peak, len(plan.made("allocated", "library"))) == (0, 3)


def test_a_pool_is_one_piece_until_none_of_its_parts_is_needed() -> None:
    plan = memory_plan(POOLED, {}, {}, {})
    assert [step.live_bytes for step in plan.steps] == [64, 64, 16]
    assert plan.memories == (
        PlannedMemory(("pool0", "buf0", "buf1"), 64, "allocated", 8, 0, 1),
        PlannedMemory(("buf2",), 16, "allocated", 15, 2, 2, returned=True),
    )


def test_a_size_that_is_not_known_is_none_and_counts_nothing() -> None:
    plan = memory_plan(FORWARD, {}, {}, {})
    assert [memory.bytes for memory in plan.memories] == [None, None, None]
    assert [step.live_bytes for step in plan.steps] == [0, 0, 0]


def test_a_size_that_no_machine_has_is_not_known() -> None:
    found = memory_plan(FORWARD, {}, {}, {"s33": 10**15})
    assert [memory.bytes for memory in found.memories] == [None, None, None]


def test_a_text_without_a_wrapper_has_no_plan() -> None:
    assert memory_plan("def helper(args):\n    return ()", {}, {}, {}) == MemoryPlan((), ())


def test_an_empty_tensor_takes_no_memory() -> None:
    empty = FORWARD.replace("(s33, 8), (8, 1)", "(0, 8), (8, 1)").replace("(s33, 1), (1, s33)", "(4, 1), (1, 4)")
    assert [(memory.names, memory.bytes) for memory in memory_plan(empty, {}, {}, {}).memories] == [
        (("buf1",), 16),
        (("buf2", "buf3"), None),
    ]
