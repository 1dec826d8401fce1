"""Loops, vectors and threads of a C++ kernel, by its text and by what compilers say of it."""

import pytest

from core import load_text
from core.code.cpp import Loop, Region, cpp_facts, loops, regions, remarks
from core.code.output_code import lines_of
from tests.support.logs import recorded_report
from tests.support.places import TRACES

CPP = """void kernel(float* out)
{
    #pragma omp parallel
    {
        #pragma omp for
        for(int64_t x0=0; x0<64; x0+=1)
        {
            for(int64_t x1=0; x1<64; x1+=16)
            {
                auto tmp = at::vec::Vectorized<float>::loadu(out);
            }
            for (int64_t x1_tail = 0; x1_tail<3; x1_tail++)
            {
                out[x1_tail] = 1;
            }
        }
    }
    for (int i = 0; i < 9; i++)
        out[i] = i;
}
"""
SAID = """kernel.cpp:18:5: optimized: loop vectorized using 32 byte vectors
/h/vec.h:18:5: missed: couldn't vectorize loop
kernel.cpp:12:9: missed: couldn't vectorize loop
kernel.cpp:14:9: missed: not vectorized: control flow in loop.
kernel.cpp:12:9: missed: statement clobbers memory: foo ();
"""
OFF = "g++ -D CPU_CAPABILITY_AVX512 -fno-tree-loop-vectorize"


def test_loops_are_marked_with_the_width_or_with_the_compilers_reason() -> None:
    found = loops(CPP, remarks(SAID, "kernel.cpp"), {}, "g++ -O3 -D CPU_CAPABILITY_AVX2")
    reason = "couldn't vectorize loop; not vectorized: control flow in loop."
    assert found == (
        Loop(6, 16, "scalar", 0, False, "around other loops"),
        Loop(8, 11, "explicit", 32, False, "at::vec::Vectorized<float>"),
        Loop(12, 15, "scalar", 0, True, reason),
        Loop(18, 19, "vectorised", 32, False, "loop vectorized using 32 byte vectors"),
    )


def test_a_loop_with_vectorisation_off_names_the_option_and_the_compilers_remark() -> None:
    found = loops(CPP, {}, remarks(SAID, "kernel.cpp"), OFF)
    assert [loop.kind for loop in found] == ["scalar", "explicit", "scalar", "scalar"]
    assert found[3].words == (
        "compiled with -fno-tree-loop-vectorize; asked to vectorise, the compiler says: "
        "loop vectorized using 32 byte vectors"
    )


def test_clangs_remarks_are_read_too() -> None:
    said = (
        "kernel.cpp:18:5: remark: vectorized loop (vectorization width: 8, interleaved count: 4) "
        "[-Rpass=loop-vectorize]"
    )
    assert loops(CPP, remarks(said, "kernel.cpp"), {}, "clang++")[3].kind == "vectorised"


def test_openmp_regions_are_found() -> None:
    assert regions(CPP) == (Region(3, "omp parallel"), Region(5, "omp for"))


VECTORISED = """
    #pragma omp parallel num_threads(4)
    {
        #pragma omp for
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(64L); x0+=static_cast<int64_t>(1L))
        {
            for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(130L); x1+=static_cast<int64_t>(16L))
            {
                if(C10_LIKELY(x1 < static_cast<int64_t>(128L)))
                {
                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + x1, static_cast<int64_t>(16));
                    auto tmp1 = at::vec::VectorizedN<int64_t,2>::loadu(in_ptr1 + x1, static_cast<int64_t>(16));
                }
                if(C10_UNLIKELY(x1 >= static_cast<int64_t>(128L)))
                {
                    for (int64_t x1_tail = 128L; x1_tail < 130L; x1_tail++)
                    {
                    }
                }
            }
        }
    }
"""
SCALAR = "for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(4L); x0+=static_cast<int64_t>(1L)) {}"


def test_source_of_a_vectorised_kernel_shows_lanes_bits_threads_and_tails() -> None:
    found = cpp_facts(VECTORISED)
    assert (found.loops, found.vector_loops, found.lanes, found.bits) == (3, 1, 16, 512)
    assert (found.parallel, found.parallel_loops, found.threads) == (True, 1, 4)
    assert (found.scalar_tails, found.masked_tails, found.vectorised) == (1, 0, True)


def test_one_register_of_a_pair_is_no_wider_register() -> None:
    pair = (
        "at::vec::VectorizedN<int64_t,2>::loadu(out); f<int64_t, 2>([](at::vec::Vectorized<int64_t>& x) { return x; })"
    )
    found = cpp_facts(CPP.replace("at::vec::Vectorized<float>::loadu(out)", pair))
    assert (found.lanes, found.bits) == (16, 512)


def test_source_of_a_scalar_kernel_shows_that_it_is_one() -> None:
    found = cpp_facts(SCALAR)
    assert (found.loops, found.vectorised, found.lanes, found.bits, found.parallel) == (1, False, None, None, False)


SUMS = """
for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(8L); x0+=static_cast<int64_t>(1L))
{
    at::vec::Vectorized<float> total = at::vec::Vectorized<float>(0);
    for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(64L); x1+=static_cast<int64_t>(16L))
    {
        total = total + at::vec::Vectorized<float>::loadu(in_ptr0 + x1, static_cast<int64_t>(16));
    }
}
for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(32L); x0+=static_cast<int64_t>(16L))
{
    for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(8L); x1+=static_cast<int64_t>(1L))
    {
        total = total + at::vec::Vectorized<float>::loadu(in_ptr0 + x0, static_cast<int64_t>(16));
    }
}
"""


def test_a_loop_by_one_uses_vectors_only_inside_of_one_that_takes_more() -> None:
    found = loops(SUMS, {}, {}, "g++ -D CPU_CAPABILITY_AVX512")
    assert [(loop.line, loop.kind) for loop in found] == [
        (2, "scalar"),
        (5, "explicit"),
        (10, "scalar"),
        (12, "explicit"),
    ]


def test_vectors_of_a_template_that_says_no_step_are_vectors() -> None:
    found = cpp_facts("for (int k = 0; k < K; ++k) {\n  auto b = at::vec::Vectorized<float>::loadu(B);\n}")
    assert (found.loops, found.vector_loops, found.lanes, found.words) == (1, 1, None, "vectors")


@pytest.mark.parametrize("scenario", ["control_flow", "dynamic_batch", "training_step", "transformer_block"])
def test_the_ledger_and_the_assembly_count_the_same_loops(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    kernels = [kernel for compilation in recorded_report(log).compilations for kernel in compilation.kernels]
    sources = [lines_of(load_text(log, item.output_code), *item.lines) for item in kernels if item.language == "cpp"]
    assert sources
    for source in sources:
        facts, found = cpp_facts(source), loops(source, {}, {}, "")
        vectors = [loop for loop in found if loop.kind == "explicit"]
        assert (facts.loops, facts.vector_loops) == (len(found), len(vectors))
