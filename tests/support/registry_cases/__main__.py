"""Compile cases one after another with torch alone, and print the ids of the breaks that each raised, as JSON.

`python -m tests.support.registry_cases DIRECTORY GB0001 GB0025+`; with `+` the case follows torch's hint.
"""

import json
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch._dynamo.utils import counters, same

from tests.support.registry_cases import CASES, FOLLOWED

LINK = re.compile(r"gb/gb(\d{4})\.html")


def loaded(path: Path) -> ModuleType:
    """Execute a file as a module, in torch's usual state; torch needs the module to be importable."""
    torch._dynamo.reset()
    torch.set_grad_enabled(True)
    torch.manual_seed(0)
    counters.clear()
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(compile(path.read_text(), path, "exec"), vars(module))
    return module


def results(module: ModuleType, model: Any) -> tuple[list[Any], BaseException | None]:
    """Call a model with the calls of its file, up to the first error."""
    outputs: list[Any] = []
    try:
        for call in getattr(module, "calls", [module.inputs]):
            outputs.append(model(*call))
    except Exception as error:
        return outputs, error
    return outputs, None


def texts(error: BaseException | None) -> Iterator[str]:
    """Yield the texts in which torch names breaks: its counters, and an error with its causes."""
    yield from counters["graph_break"]
    yield from counters["unimplemented"]
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


def told(case: str, home: Path) -> dict[str, Any]:
    """Return the ids that a case raised, and whether it ended without an error and with eager's results."""
    registry_id, followed, _ = case.partition("+")
    code = CASES[registry_id]
    for old, new in FOLLOWED[registry_id] if followed else ():
        code = code.replace(old, new, 1)
    path = home / f"{registry_id}{'_followed' if followed else ''}.py"
    path.write_text(code)
    before = torch._dynamo.config.save_config()
    try:
        module = loaded(path)
        compiled, error = results(module, torch.compile(module.model, backend="eager"))
        raised = sorted({f"GB{number}" for text in texts(error) for number in LINK.findall(text)})
        if followed:
            module = loaded(path)
            expected, _ = results(module, module.model)
        equal = not followed or bool(same(expected, compiled))
    finally:
        torch._dynamo.config.load_config(before)
    return {"raised": raised, "error": repr(error) if error else "", "equal": equal}


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    sys.stdout, out = sys.stderr, sys.stdout
    print(json.dumps({case: told(case, Path(sys.argv[1])) for case in sys.argv[2:]}), file=out)
