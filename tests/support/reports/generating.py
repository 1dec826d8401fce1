"""A report of 28 compilations, as `generate` of a language model makes them: two of its methods hold the ops, one is
compiled again, and helpers, resume functions and frames without a graph are around them.
"""

from dataclasses import replace

from core.report import Compilation, Frame, GraphBreak, Guard, Phase, Place, Recompile, Report, Setting

USER, LIB, UTILS = "/home/me/generate.py", "/lib/modeling.py", "/lib/utils.py"
MODEL = Frame(USER, 6, "model")
GENERATE = Frame(UTILS, 2845, "generate")


def self_is(kind: str) -> tuple[Guard, ...]:
    text = f"___check_type_id(L['self'], 94), type=<class 'lib.modeling.{kind}'>"
    return (Guard("TYPE_MATCH", "L['self']", text, 2),)


def made(
    number: str,
    name: str,
    file: str,
    line: int,
    ops: int | None = None,
    kind: str = "",
    callers: tuple[Frame, ...] = (),
) -> Compilation:
    frame = Frame(file, line, name)
    return Compilation(
        id=number,
        frame=frame,
        stack=(*callers, frame),
        attempts=1,
        status="ok" if ops else "empty",
        error="",
        graphs=(),
        guards=self_is(kind) if kind else (),
        guard_latency_us=None,
        symbols=(),
        schedules=(),
        kernels=(),
        graph_op_count=ops,
    )


def helper(number: int, ops: int | None = None) -> Compilation:
    return made(f"{number}/0", f"helper_{number}", UTILS, 10 * number, ops, callers=(MODEL, GENERATE))


RESUME = "torch_dynamo_resume_in_generate_at_2845"
SAMPLE = Frame(UTILS, 3235, "_sample")
MODELS = (
    made("0/0", "model", USER, 5, 0),
    made("1/0", "generate", UTILS, 2581, 0, "GPT"),
    made("2/0", RESUME, UTILS, 2845, 20, callers=(MODEL,)),
    made("3/0", "_sample", UTILS, 3122, 106, "GPT", callers=(MODEL, GENERATE)),
    made("4/0", "wrapper", LIB, 937, 98, "GPT", callers=(MODEL, GENERATE, SAMPLE)),
    made("4/1", "wrapper", LIB, 937, 102, callers=(MODEL, GENERATE, SAMPLE)),
    replace(made("5/0", "_processor", UTILS, 1410), status="failed", error="no", error_type="Unsupported"),
)
HELPERS = (*(helper(number, 4) for number in range(6, 14)), *(helper(number) for number in range(14, 27)))
BROKEN = GraphBreak("no", "", (), "", "", Place(UTILS, 2845), "", (MODEL, GENERATE), ("0/0", "1/0"))

GENERATING = Report(
    Setting(job={}),
    compilations=(*MODELS, *HELPERS),
    graph_breaks=(BROKEN, replace(BROKEN, reason="never", compilations=("5/0",))),
    recompiles=(Recompile("4/1", "4/0", "tensor 'x' size mismatch at index 2. expected 8, actual 9"),),
    phases=(Phase("entire_frame_compile", "4/0", 0.0, 7.5e6, 0), Phase("entire_frame_compile", "4/1", 8e6, 13e6, 0)),
)
