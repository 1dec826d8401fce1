"""Forms of a kernel: what two differ in, what one takes of a device, and which line of the source a line comes from."""

import pytest

from core.analysis import diff_texts
from core.analysis.cpp_loops import Loop, Region, loops, regions, remarks
from core.analysis.locations import comment_lines, llvm_lines, loc_lines, mlir_lines, sass_lines, without_places
from core.analysis.rungs import Resources, amd_resources, ptxas_resources, too_large
from core.targets import TARGETS

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
MLIR = """#loc = loc("/x/k.py":17:0)
#loc1 = loc(unknown)
#loc5 = loc("/x/k.py":33:41)
#loc6 = loc("/lib/standard.py":263:15)
module {
    %a = arith.constant 1 : i32 loc(#loc1)
    %b = tt.load %a : f32 loc(#loc7)
    %c = tt.load %a : f32 loc(#loc8)
    %d = tt.load %a : f32 loc("/x/k.py":40:1)
    %e = arith.addf %a : f32 loc(#loc9)
}
#loc7 = loc("tmp0"(#loc5))
#loc8 = loc(callsite(#loc6 at #loc7))
#loc9 = loc(callsite(#loc9 at #loc9))
"""
LLVM = """define void @k() !dbg !4 {
  %1 = load i32, ptr %0, !dbg !12
  %2 = load i32, ptr %0, !dbg !13
  ret void
}
!1 = !DIFile(filename: "k.py", directory: "/x")
!2 = !DIFile(filename: "standard.py", directory: "/lib")
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 17)
!5 = distinct !DILexicalBlockFile(scope: !4, file: !2, discriminator: 0)
!12 = !DILocation(line: 23, column: 28, scope: !4)
!13 = !DILocation(line: 263, column: 15, scope: !5, inlinedAt: !12)
"""
PTX = """.visible .entry k(
	.loc	1 33 41                         // k.py:33:41
	shl.b32 	%r1, %r2, 8;
$L__tmp1:
	.loc	2 263 15                        // standard.py:263:15 @[ standard.py:293:36 @[ k.py:38:24 ] ]
	add.f32 	%r4, %r5, %r6;
	.loc	2 263 15                        // standard.py:263:15 @[ standard.py:293:36 @[ k.py:38:24 ] ]
	.loc	2 99 1                          // standard.py:99:1
	add.f32 	%r4, %r5, %r6;
"""
SASS = """.text.k:
	//## File "/x/k.py", line 33
        /*0000*/                   LDC R1, c[0x0][0x28] ;
	//## File "/lib/standard.py", line 263
        /*0010*/                   FADD R1, R1, R2 ;
	//## File "/lib/standard.py", line 999
        /*0020*/                   EXIT ;
"""


def test_the_figures_of_a_kernel_are_read_from_the_words_of_ptxas() -> None:
    assert ptxas_resources(PTXAS, "mine", 1024) == Resources(255, 1152, 16, 32, stack_bytes=24)
    assert ptxas_resources(PTXAS, "other", 0) == Resources(8, 0, 0, 0, stack_bytes=0)
    assert ptxas_resources("ptxas fatal   : no", "mine", 0) is None


def test_the_figures_of_an_amd_kernel_are_read_from_its_metadata() -> None:
    assert amd_resources(AMD, 512) == Resources(8, 512, 3, None, 21, 16)
    assert amd_resources("", 512) is None


def test_a_kernel_that_wants_more_shared_memory_than_the_target_has_is_told() -> None:
    needs = Resources(64, 128 * 1024)
    assert too_large(needs, TARGETS["l4"].architecture) == (
        "it needs 131,072 bytes of shared memory a block; the target allows 101,376"
    )
    assert too_large(needs, TARGETS["h100"].architecture) == ""
    assert too_large(needs, None) == ""


def test_lines_of_mlir_belong_to_the_line_of_the_source_that_called_them() -> None:
    assert mlir_lines(MLIR, "k.py") == {7: 33, 8: 33, 9: 40}


def test_lines_of_llvm_ir_belong_to_the_line_of_the_source_that_called_them() -> None:
    assert llvm_lines(LLVM, "k.py") == {2: 23, 3: 23, 1: 17}


def test_lines_of_ptx_belong_to_the_line_of_the_source_that_called_them() -> None:
    assert comment_lines(PTX, "k.py") == {3: 33, 6: 38}


def test_lines_of_sass_that_were_inlined_are_found_through_the_ptx() -> None:
    assert sass_lines(SASS, "k.py", PTX) == {3: 33, 5: 38}


def test_lines_of_assembly_from_a_header_belong_to_the_line_before_them() -> None:
    rows = ['\t.file 1 "/x/k.cpp"', '\t.file 2 "/h/vec.h"', "k:", "\t.loc 1 7 3 view .LVU1", "\tpushq %rbp"]
    rows += ["\t.loc 2 90 1", "\tvaddps %zmm0, %zmm1, %zmm2", "\t.cfi_endproc"]
    assert loc_lines(rows, "k.cpp") == {5: 7, 7: 7}


@pytest.mark.parametrize("read", [mlir_lines, llvm_lines, comment_lines])
@pytest.mark.parametrize(
    "text", ["", "\x00\n!dbg !x", "#loc = loc(#loc)\n%a loc(#loc)", "!1 = !DILocation(line: 9)\n!dbg !1"]
)
def test_damaged_text_gives_no_lines(read: object, text: str) -> None:
    assert callable(read)
    assert read(text, "k.py") == {}


def test_a_diff_says_what_changed_and_counts_it() -> None:
    diff = diff_texts("a\nb\nc\n", "a\nB\nc\nd\n", "one", "other")
    assert diff.text.split("\n") == ["--- one", "+++ other", "@@ -1,3 +1,4 @@", " a", "-b", "+B", " c", "+d"]
    assert (diff.added, diff.removed, diff.left_out) == (2, 1, 0)


def test_the_same_text_has_no_diff() -> None:
    assert diff_texts("a\nb", "a\nb", "one", "other").text == ""


def test_a_diff_counts_its_lines_from_the_start_of_the_text() -> None:
    one = [str(number) for number in range(100)]
    other = [*one[:50], "new", *one[50:]]
    assert "@@ -48,6 +48,7 @@" in diff_texts("\n".join(one), "\n".join(other), "one", "other").text


@pytest.mark.parametrize("lines", [10_000, 60_000])
def test_a_diff_of_very_long_texts_is_bounded(lines: int) -> None:
    one = "\n".join(f"%{number} = add %{number}" for number in range(lines))
    other = "\n".join(f"%{number} = mul %{number}" for number in range(lines))
    diff = diff_texts(one, other, "one", "other", limit=1_000)
    assert diff.text.count("\n") < 1_000
    assert (diff.added, diff.removed) == (lines, lines)


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


def test_a_loop_that_the_compiler_was_told_to_leave_says_so_and_what_it_would_have_said() -> None:
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


def test_sass_is_told_without_the_comments_that_name_files() -> None:
    text = '.text.k:\n//## File "/k.py", line 3\n/*0000*/ MOV R1, R2 ;\n//## File "/k.py", line 4\n/*0010*/ EXIT ;'

    assert without_places(text, {3: 3, 5: 4}) == (".text.k:\n/*0000*/ MOV R1, R2 ;\n/*0010*/ EXIT ;", {2: 3, 3: 4})
