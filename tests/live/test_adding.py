"""An op is added to the accelerator as `docs/adding-an-op.md` says: the runtime is built with it, and a model runs."""

import re
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from tests.support.copy import Copy
from tests.support.documents import blocks
from tests.support.places import ROOT

pytestmark = pytest.mark.torch
GUIDE = "docs/adding-an-op.md"
UNITS = sorted(path.stem for path in (ROOT / "core" / "runtime").glob("*.cpp") if not path.stem.startswith("cb_"))
DEFINED = re.compile(r"^(?:constexpr )?[\w:]+ [*&]?(\w+)(?:\(| =)", re.M)


def whole(runtime: Path) -> str:
    """All units of the runtime as one, which is compiled in a third of the time; names that two have are told apart."""
    texts = {unit: (runtime / f"{unit}.cpp").read_text(encoding="utf-8") for unit in UNITS}
    found = Counter(name for text in texts.values() for name in set(DEFINED.findall(text)))
    twice = [name for name, count in found.items() if count > 1]
    return "\n".join(
        "\n".join(
            [
                *(f"#define {name} {name}_of_{unit}" for name in twice),
                f'#include "{unit}.cpp"',
                *(f"#undef {name}" for name in twice),
            ]
        )
        for unit in UNITS
    )


RUN = """
import os
from pathlib import Path
import torch
from torch.nn.functional import softplus
from core.worker.accelerator import build
from core.worker.accelerator.register import accelerating

os.environ["COMPILEBOARD_CACHE"] = str(Path("cache").absolute())
build.LIBRARY, build.ONCE = ("whole",), ("-O0",)
records, x = [], torch.linspace(-30, 30, 601)
with accelerating(records.append, Path("programs")):
    print(torch.equal(torch.compile(softplus, backend="accelerator")(x).round(decimals=6), softplus(x).round(decimals=6)))
((segment,),) = (record.segments for record in records[:1])
print([refusal.op for refusal in records[0].refusals], "log1p(" in segment.passes[0].text)
"""


def test_an_op_that_is_added_in_four_places_is_built_and_runs_equal_to_eager(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    number, op = blocks(GUIDE, "python")
    copy.put("core/program/opcodes.py", textwrap.indent(number, " " * 4), before="\n\nclass StorageKind")
    copy.add("core/runtime/steps.def", *blocks(GUIDE, "c"))
    (kernel,) = blocks(GUIDE, "cpp")
    copy.put("core/runtime/elementwise.cpp", textwrap.indent(kernel, " " * 4), before="    case WHERE:")
    copy.put("core/worker/accelerator/elementwise.py", textwrap.indent(op, " " * 4), before="    aten.sqrt.default")
    copy.write("core/runtime/whole.cpp", whole(tmp_path / "core" / "runtime"))
    assert copy.run(RUN).splitlines() == ["True", "[] True"]
