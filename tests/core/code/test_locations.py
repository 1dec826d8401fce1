"""Which line of the source a line of a kernel's form comes from."""

import pytest

from core.code.stages import comment_lines, llvm_lines, loc_lines, mlir_lines, sass_lines, without_places

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


def test_sass_is_reported_without_the_comments_that_name_files() -> None:
    text = '.text.k:\n//## File "/k.py", line 3\n/*0000*/ MOV R1, R2 ;\n//## File "/k.py", line 4\n/*0010*/ EXIT ;'

    assert without_places(text, {3: 3, 5: 4}) == (".text.k:\n/*0000*/ MOV R1, R2 ;\n/*0010*/ EXIT ;", {2: 3, 3: 4})
