"""Options of a run: conditions of its calls, measurements, and limits.

Each option is one row of `RUN`.
"""

import re
from functools import partial
from typing import get_args

from core.base.words import number
from core.job.gallery import exercise_problem
from core.job.model import GIB, STANCES, Caches, OptionValue
from core.job.options.call import (
    INPUTS,
    ChoiceField,
    Flag,
    FormField,
    NumberField,
    Option,
    SwitchField,
    TextField,
    WhatIf,
    compiled_option,
    compiled_switch,
    one_of,
    within,
)
from core.job.text import (
    bits_from_text,
    code_of,
    compile_options_as_text,
    compile_options_from_text,
    options_as_text,
    options_from_text,
    several,
    sizes_as_text,
    sizes_from_text,
    whole_or_none,
    word,
)

LOG_NAME = r"[+-]?[\w.]{1,200}"
MOST_LOGS = 64  #: limit: names of TORCH_LOGS in a job
MAX_THREADS = 1_024  #: limit: threads of a job
CONDITIONS = "the conditions"
MEASURED = "what is measured"
SET_STANCE = "[set_stance](https://docs.pytorch.org/docs/stable/generated/torch.compiler.set_stance.html)"


def _parts(typed: str) -> list[str]:
    return [part.strip() for part in typed.split(",") if part.strip()]


def _check_logs(names: tuple[str, ...]) -> str:
    wrong = next((name for name in names if not re.fullmatch(LOG_NAME, name)), None)
    if wrong is not None:
        return f"`{wrong[:60]}` is no name of TORCH_LOGS"
    return f"at most {number(MOST_LOGS)} names" if len(names) > MOST_LOGS else ""


def _dynamo(typed: str) -> dict[str, OptionValue] | None:
    return options_from_text(typed, "conditions.dynamo")


# A record that a run makes besides its calls: it leaves them, and so every comparison, as they are.
_extra = partial(Option, visitors=True, compared=False, eager=False)

RUN: tuple[Option, ...] = (
    Option(
        "conditions.threads",
        "torch's intra-op threads",
        read=whole_or_none,
        axis=True,
        check=within(1, MAX_THREADS),
        flag=Flag(CONDITIONS, metavar="N", type=int),
        form=NumberField(
            at=("conditions", 0, 0),
            least=1,
            most=MAX_THREADS,
            example="torch's own",
            help="`torch.set_num_threads`, for eager and compiled.",
        ),
        what_if=WhatIf("threads", {str(number): number for number in (1, 2, 4, 8, 16, 32)}),
        visitors=True,
    ),
    Option(
        "sizes",
        "another size for a dimension: batch=64, or 0.1=128 for dimension 1 of argument 0; repeat",
        flag=Flag(INPUTS, name="--size", kind="several", metavar="WHERE=N", parse=sizes_from_text),
        form=TextField(
            at=("conditions", 2, 0),
            write=sizes_as_text,
            parse=lambda typed: sizes_from_text(_parts(typed)),
            example="batch=64, 0.1=128",
            help="New sizes for input dimensions: `batch`, `0.1` for dimension 1 of argument 0, `mask.0` for keyword "
            "argument `mask`. New tensors have random values in the range of the old ones.",
        ),
        what_if=WhatIf("batch", {str(size): size for size in (1, 2, 8, 32, 128, 512)}, field="batch"),
        visitors=True,
    ),
    compiled_option(
        "marks",
        "mark a dimension dynamic, such as 0.0; repeat",
        read=several,
        flag=Flag(INPUTS, name="--mark", kind="several", metavar="WHERE", parse=tuple),
        form=TextField(
            at=("conditions", 2, 1),
            write=", ".join,
            parse=lambda typed: tuple(_parts(typed)),
            label="marked dynamic",
            example="0.0, mask.1",
            help="Dimensions to mark with `torch._dynamo.mark_dynamic` before each compiled call.",
        ),
    ),
    compiled_option(
        "conditions.stance",
        "that of torch.compiler.set_stance for compiled calls",
        check=one_of(*STANCES),
        flag=Flag(CONDITIONS, choices=STANCES),
        form=ChoiceField(
            at=("conditions", 0, 1),
            values={name: name for name in STANCES},
            help="What Dynamo does when a compiled call would compile. A call that raises under `fail_on_recompile` "
            f"is recorded, and the run continues. {SET_STANCE}",
        ),
        what_if=WhatIf("stance"),
    ),
    compiled_option(
        "conditions.force_backend",
        "of torch.compiler.set_stance, in the default stance",
        read=word,
        flag=Flag(CONDITIONS, metavar="NAME"),
        form=FormField(
            at=("conditions", 0, 2),
            key="force",
            label="force backend",
            help=f"`force_backend` of {SET_STANCE}: replaces the job's backend; only in the default stance.",
        ),
    ),
    compiled_switch(
        "conditions.primed",
        "make the first compiled call in the default stance",
        flag=Flag(CONDITIONS, kind="on"),
        form=SwitchField(
            at=("conditions", 1, 0),
            help="Make the first compiled call in the default stance, so that compiled code exists.",
        ),
    ),
    Option(
        "conditions.dynamo",
        "names of torch._dynamo.config",
        flag=Flag(CONDITIONS, metavar="NAME=VALUE,…", parse=_dynamo),
        form=TextField(
            at=("conditions", 3, 0),
            write=lambda value: options_as_text(value or {}),
            parse=_dynamo,
            label="torch._dynamo.config",
            example="recompile_limit=2, verbose=True",
            help="Names of `torch._dynamo.config` and their values, set after the file was loaded.",
        ),
        visitors=True,
        eager=False,
    ),
    compiled_option(
        "conditions.caches",
        "share only compiled objects; start with empty caches; with caches that another process has filled; or with "
        "its bundle of torch.compiler.save_cache_artifacts alone",
        flag=Flag(CONDITIONS, choices=get_args(Caches)),
        form=ChoiceField(
            at=("conditions", 0, 3),
            values={name: name for name in get_args(Caches)},
            shown={"objects": "objects alone"},
            help="Objects: runs share compiled C++ and Triton code; torch compiles everything else and logs it. Cold: "
            "empty caches, as on a new machine. Warm: another process fills the FX graph and AOTAutograd caches first. "
            "Bundle: the caches have only what that process saved by `torch.compiler.save_cache_artifacts`.",
        ),
    ),
    compiled_switch(
        "measure",
        "do not time eager against compiled",
        flag=Flag(MEASURED, name="--no-measure", kind="off"),
        form=SwitchField(at=("call", 4, 2), help="Time eager and compiled, interleaved, for about 1.5 s."),
        what_if=WhatIf("measured"),
    ),
    Option(
        "rival",
        "another torch.compile configuration, timed interleaved: mode=max-autotune, options.max_autotune=True",
        flag=Flag(MEASURED, metavar="NAME=VALUE,…", parse=lambda typed: compile_options_from_text(typed, "rival")),
        form=TextField(
            at=("conditions", 3, 1),
            write=lambda value: compile_options_as_text(value) if value else "",
            parse=lambda typed: compile_options_from_text(typed, "rival") if typed.strip() else None,
            label="timed against",
            example="mode=max-autotune, options.max_autotune=True",
            help="Another `torch.compile` configuration, timed interleaved with this one in one process.",
        ),
        visitors=True,
        eager=False,
    ),
    Option(
        "rival_code",
        "a baseline's file, whose compiled call is timed interleaved",
        flag=Flag(MEASURED, name="--rival-model", metavar="FILE.py", parse=lambda typed: code_of(typed, "rival_code")),
        eager=False,
    ),
    compiled_switch(
        "memory",
        "measure the memory of an eager and a compiled call",
        flag=Flag(MEASURED, kind="on"),
        form=SwitchField(
            at=("conditions", 1, 1),
            key="peak",
            label="measure memory",
            help="Measure the memory of an eager and a compiled call.",
        ),
    ),
    compiled_option(
        "numerics",
        "compare with float64",
        read=word,
        flag=Flag(MEASURED, choices=("results", "nodes")),
        form=ChoiceField(
            at=("conditions", 1, 2),
            values={name: name for name in ("", "results", "nodes")},
            shown={"": "no", "nodes": "every node"},
            label="compare with float64",
            help="Compare eager and compiled with float64: all results, or also every node of the FX graphs.",
        ),
    ),
    _extra(
        "neighbours",
        "run the model on other compilers and runtimes that are installed, such as ONNX Runtime",
        flag=Flag(MEASURED, kind="on"),
        form=SwitchField(
            at=("conditions", 5, 2),
            help="Convert and run the model with TorchScript, ONNX Runtime, OpenVINO and others that are installed. "
            "Compare each with eager, and time it interleaved with eager and compiled. Takes up to a minute each.",
        ),
    ),
    _extra(
        "profile",
        "record a profile of the compiled calls by torch.profiler, beside the log",
        flag=Flag(MEASURED, kind="on"),
        form=SwitchField(
            at=("conditions", 5, 3),
            label="profile",
            help="Repeat the compiled calls under `torch.profiler`, after all measurements, for *Timeline*.",
        ),
    ),
    _extra(
        "bisect",
        "if the run fails or differs from eager, look for the cause with torch's CompilerBisector",
        flag=Flag(MEASURED, kind="on"),
        form=SwitchField(
            at=("conditions", 1, 3),
            label="find the cause",
            help="If the compiled model fails or differs from eager, torch's CompilerBisector compiles it "
            "several times, each time without a part of torch.compile.",
        ),
    ),
    _extra(
        "logs",
        "record torch's log messages, named as in TORCH_LOGS: graph_breaks,+dynamo,guards",
        check=_check_logs,
        flag=Flag(MEASURED, metavar="NAME,…", parse=lambda typed: tuple(_parts(typed))),
        form=TextField(
            at=("conditions", 6, 1),
            write=", ".join,
            parse=lambda typed: tuple(_parts(typed)),
            label="torch's logs",
            example="graph_breaks, +dynamo",
            help="Messages of `TORCH_LOGS` to record, by torch's names: an artifact, a log (`+` for more, `-` for "
            "errors alone), or a module. `python -m core logs` lists them.",
        ),
    ),
    _extra(
        "capture",
        "capture the model by torch.fx.symbolic_trace, torch.export and core ATen, too",
        flag=Flag(MEASURED, kind="on"),
        form=SwitchField(
            at=("conditions", 6, 2),
            label="other captures",
            help="Capture the model also by `torch.fx.symbolic_trace`, `torch.export` and core ATen, and ask "
            "`torch._dynamo.explain`.",
        ),
    ),
    _extra(
        "bits",
        "compare the first call bit by bit with another configuration: batch=1, eval=true, options.NAME=VALUE",
        flag=Flag(MEASURED, metavar="NAME=VALUE,…", parse=bits_from_text),
        form=TextField(
            at=("conditions", 6, 0),
            write=options_as_text,
            parse=bits_from_text,
            label="bit by bit against",
            example="batch=1",
            help="Compare every value that a kernel writes, bit by bit, in this configuration and another: "
            "`batch`, `eval`, `training`, `threads`, `mode`, `dynamic`, or `options.NAME` for Inductor's own.",
        ),
    ),
    _extra(
        "debug_files",
        "record the files of TORCH_COMPILE_DEBUG=1, such as Inductor's IR before and after fusion",
        flag=Flag(MEASURED, kind="on"),
        form=SwitchField(
            at=("conditions", 4, 3),
            label="debug files",
            help="Record the texts that `TORCH_COMPILE_DEBUG=1` writes, such as Inductor's IR before and after fusion. "
            "Compiling takes longer.",
        ),
    ),
    Option(
        "exercise",
        "the exercise that the code is a solution of",
        check=exercise_problem,
        compared=False,
    ),
    Option(
        "time_limit_s",
        "end the run after this many seconds",
        check=within(1, 86_400, "from 1 to 86,400 seconds"),
        flag=Flag("", name="--time-limit", metavar="S", type=float),
        form=FormField(at=("call", 4, 0), key="time", label="time limit (s)"),
        visitors=True,
        compared=False,
    ),
    Option(
        "memory_limit_bytes",
        "end the run if its processes take more memory",
        check=within(GIB // 2, float("inf"), "at least half a gigabyte: torch itself needs that"),
        form=FormField(at=("call", 4, 1), key="memory", label="memory limit (GiB)"),
        visitors=True,
        compared=False,
    ),
)
