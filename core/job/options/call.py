"""Options of the torch.compile call, and of the inputs: one row each."""

from __future__ import annotations

import shlex

from core.job.arguments import DTYPES
from core.job.model import MODES
from core.job.options.row import (
    ChoiceField,
    Flag,
    FormField,
    NumberField,
    Option,
    SwitchField,
    TextField,
    WhatIf,
    one_of,
    within,
)
from core.job.targets import TARGETS
from core.job.text import (
    DYNAMIC,
    arguments_from_text,
    arguments_problem,
    dynamic,
    flag,
    flag_or_none,
    options_from_text,
    several,
    whole,
    whole_or_none,
    word,
    word_or_none,
)

COMPILE = "the call of torch.compile"
INPUTS = "the inputs"
TORCH_COMPILE = "[torch.compile](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)"
LONGEST_REGION_NAME = 200
MOST_RECOMPILES = 2**31 - 1
FLOATING = ("float32", "bfloat16", "float16", "float64")


def _lines(typed: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in typed.splitlines() if line.strip())


def _variable(value: str | None) -> str:
    return "" if value is None or value.isidentifier() else f"`{value[:60]}` is no name of a variable"


def _region_name(value: str | None) -> str:
    return "" if value is None or len(value) <= LONGEST_REGION_NAME else f"at most {LONGEST_REGION_NAME} characters"


CALL: tuple[Option, ...] = (
    Option(
        "compile.mode",
        "one of torch's sets of Inductor options",
        read=word_or_none,
        axis=True,
        check=one_of(None, *MODES),
        flag=Flag(COMPILE, choices=MODES),
        form=ChoiceField(
            at=("call", 0, 1),
            values={mode: None if mode == MODES[0] else mode for mode in MODES},
            help="`reduce-overhead` replays CUDA graphs; `max-autotune` times several kernels for matmul and "
            f"convolution and keeps the best. {TORCH_COMPILE}",
        ),
        what_if=WhatIf("mode"),
        visitors=True,
        eager=False,
    ),
    Option(
        "compile.dynamic",
        "dynamic shapes from the start, or never",
        read=dynamic,
        axis=True,
        flag=Flag(COMPILE, kind="pair"),
        form=ChoiceField(
            at=("call", 0, 2),
            values=DYNAMIC,
            help="Automatic: sizes are fixed at first, and a size that changed becomes a symbol in the recompile. "
            "Always: symbols from the start.",
        ),
        what_if=WhatIf("dynamic"),
        visitors=True,
        eager=False,
    ),
    Option(
        "compile.backend",
        "a name that torch lists, a built-in backend, or a callable of the model's file or of another file",
        axis=True,
        flag=Flag(COMPILE, metavar="NAME|FILE.py[:NAME]"),
        form=FormField(at=("call", 0, 0)),
        what_if=WhatIf("backend"),
        visitors=True,
        eager=False,
    ),
    Option(
        "compile.fullgraph",
        "fail at the first graph break",
        read=flag,
        axis=True,
        flag=Flag(COMPILE, kind="pair"),
        form=SwitchField(at=("call", 1, 2), help="Raise an error at the first graph break instead of running eagerly."),
        what_if=WhatIf("fullgraph"),
        visitors=True,
        eager=False,
    ),
    Option(
        "compile.options",
        "Inductor options",
        flag=Flag(COMPILE, metavar="NAME=VALUE,…", parse=options_from_text),
        form=FormField(
            at=("call", 2, 0),
            key="inductor",
            help="Inductor options as `torch.compile(options={…})` takes them: name=value, separated by commas. Not "
            "together with a mode. Empty: as the file says; `none`: none of them, whatever it says.",
        ),
        visitors=True,
        eager=False,
    ),
    Option(
        "compile.disable",
        "make torch.compile a no-op",
        read=flag,
        axis=True,
        flag=Flag(COMPILE, kind="pair"),
        form=SwitchField(at=("conditions", 4, 0), help="`torch.compile(disable=True)`: the model runs eagerly."),
        visitors=True,
        eager=False,
    ),
    Option(
        "compile.recompile_limit",
        "compilations of a frame in this call of torch.compile before it runs eagerly (torch 2.13)",
        read=whole_or_none,
        axis=True,
        check=within(0, MOST_RECOMPILES, "a whole number from 0 up"),
        flag=Flag(COMPILE, type=int),
        form=NumberField(
            at=("conditions", 4, 2),
            least=0,
            most=MOST_RECOMPILES,
            label="recompile limit",
            help="Compilations of a frame before it runs eagerly. Empty: `torch._dynamo.config.recompile_limit` "
            "(torch 2.13).",
        ),
        visitors=True,
        eager=False,
    ),
    Option(
        "compile.isolate_recompiles",
        "count the recompiles of this call of torch.compile by themselves (torch 2.13)",
        read=flag,
        axis=True,
        flag=Flag(COMPILE, kind="pair"),
        form=SwitchField(
            at=("conditions", 4, 1),
            label="isolate recompiles",
            help="Do not count recompiles of other calls of torch.compile on the same function (torch 2.13).",
        ),
        visitors=True,
        eager=False,
    ),
    Option(
        "compile.shapes_spec",
        "a variable of the model's file with a torch.fx.experimental.dynamic_spec.ShapesSpec (torch 2.13)",
        read=word_or_none,
        axis=True,
        check=_variable,
        flag=Flag(COMPILE, metavar="VARIABLE"),
        form=TextField(
            at=("conditions", 5, 0),
            write=lambda name: name or "",
            parse=word_or_none,
            label="shapes spec",
            example="SPEC",
            help="A variable of the model's file with a `ShapesSpec`: the dynamic dimensions of its arguments (2.13).",
        ),
        eager=False,
    ),
    Option(
        "compile.name",
        "the name of the compiled region in torch's debug metadata (torch 2.13)",
        read=word_or_none,
        check=_region_name,
        flag=Flag(COMPILE, name="--region-name", metavar="NAME"),
        form=TextField(
            at=("conditions", 5, 1),
            key="region",
            write=lambda name: name or "",
            parse=word_or_none,
            label="region name",
            help="`torch.compile(name=…)`: the name of the compiled region in torch's debug metadata (torch 2.13).",
        ),
        visitors=True,
        eager=False,
    ),
    Option(
        "dtype",
        "cast model and inputs, such as bfloat16",
        read=word_or_none,
        axis=True,
        check=one_of(None, *(name for name in DTYPES.values() if "float" in name)),
        flag=Flag(INPUTS),
        form=ChoiceField(
            at=("call", 0, 3),
            values={"as it is": None, **{name: name for name in FLOATING}},
            help="Casts the model and its floating inputs first.",
        ),
        what_if=WhatIf("dtype"),
        visitors=True,
    ),
    Option(
        "training",
        "compile and run the backward too",
        read=flag_or_none,
        axis=True,
        flag=Flag(COMPILE, kind="pair"),
        form=SwitchField(
            at=("call", 1, 3),
            help="Also run the backward: AOTAutograd traces a joint graph and partitions it.",
        ),
        what_if=WhatIf("training", {"training": True, "inference": False}),
        visitors=True,
    ),
    Option(
        "device",
        "the device that the model runs on",
        axis=True,
        flag=Flag(COMPILE),
        form=FormField(
            at=("call", 1, 0),
            label="generate for",
            help="A device of this machine runs the compiled model. For any other device, code is generated and "
            "compiled to machine code, but not run.",
        ),
        visitors=True,
        compared=False,
    ),
    Option(
        "target",
        "generate code for an accelerator that need not be present",
        read=word,
        axis=True,
        check=one_of("", *TARGETS),
        flag=Flag(COMPILE, choices=tuple(TARGETS)),
        what_if=WhatIf("generated for"),
        visitors=True,
        compared=False,
    ),
    Option(
        "calls",
        "inputs, such as 'f32[8, 64], 2.0'; repeat",
        read=several,
        axis=True,
        flag=Flag(INPUTS, name="--call", kind="several", metavar="ARGS", parse=tuple),
        form=TextField(
            at=("call", 3, 0),
            write="\n".join,
            parse=_lines,
            lines=True,
            example="f32[8, 64]\nf32[16, 64], 2.0, flag=True\ni64[8, 128] < 1000",
            help="One call per line, in torch's notation. Empty: the inputs of the code. Two calls with different "
            "shapes show a recompile.",
        ),
        visitors=True,
    ),
    Option(
        "arguments",
        "arguments of a script",
        read=several,
        check=arguments_problem,
        form=TextField(
            at=("call", 3, 1),
            label="arguments of a script",
            write=shlex.join,
            parse=arguments_from_text,
            example="--epochs 2",
            help="`sys.argv` of code that defines no `model`: such code is run as a script, unchanged.",
        ),
    ),
    Option(
        "seed",
        "the seed of the random inputs",
        read=whole,
        axis=True,
        check=within(0, 2**63 - 1, "a whole number from 0 up"),
        flag=Flag(INPUTS, type=int),
        form=NumberField(at=("call", 1, 1), least=0, most=2**31),
        visitors=True,
    ),
)
