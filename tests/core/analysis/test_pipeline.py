"""What the accelerator made of a run, in words."""

from dataclasses import replace

from core.analysis.pipeline import pipeline_figures
from core.report import (
    Call,
    Compilation,
    Crossing,
    Difference,
    Frame,
    Load,
    Pipeline,
    PipelineSegment,
    ProgramEntry,
    ProgramPass,
    RefusedNode,
    Report,
    Setting,
)
from core.views.accelerator.program import memory_words, pipeline_lines, pipeline_sentence

ENTRIES = (
    ProgramEntry("argument", ("x",), (), (), ("x: f32[2, 4]",)),
    ProgramEntry("product", ("mm", "relu"), ("relu = relu(product)",), ("x", "w"), ("relu: f32[2, 3]",)),
    ProgramEntry("result", ("result",), (), ("relu",), ()),
)
SEGMENT = PipelineSegment(
    "segment_0",
    ("mm", "relu"),
    80,
    24,
    file="0_0-inference-segment_0.cbp",
    file_bytes=1216,
    arena_bytes=128,
    temporary_bytes=256,
    entries=ENTRIES,
    passes=(ProgramPass("as it was read", 4, ""), ProgramPass("fuse-products", 3, "")),
    times_s={"lower": 0.001},
    written_bytes=24,
)
PIPELINE = Pipeline(
    "inference",
    3,
    ("segment_0", "cumsum"),
    (RefusedNode("cumsum", "aten.cumsum.default", "no kernel for aten.cumsum.default", 8),),
    (SEGMENT,),
    times_s={"capture": 0.25},
)
COMPILATION = Compilation(
    "0/0", Frame("m.py", 1, "f"), (), 1, "ok", "", (), (), None, (), (), (), pipelines=(PIPELINE,)
)
CROSSING = Crossing("0/0", "inference", "segment_0", 4, 0.004, 0.005, 128, 2, fallbacks={"too many sizes": 1})
CALL = Call(0, "f32[2, 4]", 1.0, 1.0, (Difference("output", True),))
REPORT = Report(Setting(), (COMPILATION,), calls=(CALL,), crossings=(CROSSING,))


def test_a_run_is_reported_in_a_sentence() -> None:
    sentence = "2 of 3 ops in 1 segment on the accelerator: 3 program entries, 1.22 kB"
    assert pipeline_sentence(REPORT) == f"{sentence}, equal to eager."
    assert pipeline_sentence(replace(REPORT, calls=())) == f"{sentence}."
    assert pipeline_sentence(replace(REPORT, compilations=())) == "The accelerator received no graph."


def test_the_sentence_of_a_run_says_how_its_results_compare_with_eagers() -> None:
    undecided, restrided, wrong = (
        Difference("output", None, reason="too large"),
        Difference("output", False, "strides"),
        Difference("output", False),
    )
    ends = [
        pipeline_sentence(replace(REPORT, calls=(replace(CALL, differences=(difference,)),))).partition(" kB")[2]
        for difference in (undecided, restrided, wrong)
    ]
    assert ends == [
        ", which could not be compared with eager.",
        ", equal to eager but for strides.",
        ", and the results differ from eager's.",
    ]


def test_every_stage_has_its_line() -> None:
    assert list(pipeline_lines(REPORT)) == [
        "[0/0] inference: 3 ops; capture 250 ms",
        "  1 op stays with torch: no kernel for aten.cumsum.default (cumsum)",
        "  segment_0: 2 ops; 1 input, 1 instruction and 1 result; 80 B in, 24 B out",
        "    file 0_0-inference-segment_0.cbp: 1.22 kB, 0 B of constants",
        "    temporaries of 256 B in an arena of 128 B",
        "    lower 1.00 ms",
        "    program entries after each pass: as it was read 4, fuse-products 3",
        "      0  x: f32[2, 4] = argument()",
        "      1  relu: f32[2, 3] = product(x, w) { relu = relu(product) }",
        "      2  result(relu)",
        "    4 calls across the ABI: 1.00 ms each in the runtime and 250 µs beside it, nothing copied",
        "    torch ran it 1 time: too many sizes",
    ]


def test_a_segment_without_a_program_says_why() -> None:
    segment = PipelineSegment("segment_0", ("mm",), 80, 24, problem="a size that no input tells")
    found = replace(
        REPORT, crossings=(), compilations=(replace(COMPILATION, pipelines=(replace(PIPELINE, segments=(segment,)),)),)
    )
    assert list(pipeline_lines(found))[-1] == (
        "  segment_0: 1 op, 80 B in, 24 B out; runs in torch: a size that no input tells"
    )


def test_memory_is_reported_with_and_without_an_arena() -> None:
    assert memory_words(replace(SEGMENT, arena_bytes=0)) == "temporaries of 256 B, each with memory of its own"
    assert memory_words(replace(SEGMENT, temporary_bytes=0)) == "no temporaries"


def test_shares_are_of_all_graphs_and_a_segment_without_a_program_is_torchs() -> None:
    lost = PipelineSegment("segment_1", ("mm",), 80, 24, problem="a size that no input tells", written_bytes=16)
    backward = replace(PIPELINE, direction="backward", segments=(SEGMENT, lost), calls=4)
    found = pipeline_figures(replace(REPORT, compilations=(replace(COMPILATION, pipelines=(PIPELINE, backward)),)))
    assert (found.taken, found.ops, found.segments) == (4, 7, 2)
    assert (found.written_bytes, found.all_written_bytes) == (48, 80)
    assert (found.calls, found.fallbacks) == (4, {"too many sizes": 1})
    assert (found.ops_share, found.bytes_share) == (4 / 7, 0.6)
    assert pipeline_figures(replace(REPORT, compilations=())).ops_share == 0.0


def test_seconds_across_the_abi_say_that_the_machine_was_busy() -> None:
    (crossing,) = REPORT.crossings[:1]
    quiet, loud = (replace(crossing, load=Load(others, 0.0)) for others in (0.01, 0.5))
    assert next(pipeline_lines(REPORT)).startswith("[0/0] inference")
    assert next(pipeline_lines(replace(REPORT, crossings=(quiet,)))).startswith("[0/0] inference")
    told = next(pipeline_lines(replace(REPORT, crossings=(quiet, loud))))
    assert told == "the machine was busy during these calls: times are not reliable"
