"""Follows advice with torch alone: `python -m tests.support.follow` takes {name: [code, advice, options]} as JSON, and
says how often a backend that counts was called for each, or what was raised.

Advice is Python; its names are the parameters of the model, and `inputs` for the positional arguments.
"""

import inspect
import json
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch


def names_of(model: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    called = model.forward if isinstance(model, torch.nn.Module) else model
    try:
        bound = inspect.signature(called).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        bound = {}
    return {**bound, **kwargs, "inputs": args, "model": model, "torch": torch}


def followed(code: str, advice: list[str], options: dict[str, Any]) -> object:
    torch._dynamo.reset()
    settings = torch._dynamo.config.save_config()
    made = 0

    def counting(graph: torch.fx.GraphModule, examples: list[torch.Tensor]) -> Callable[..., Any]:
        nonlocal made
        made += 1
        forward: Callable[..., Any] = graph.forward
        return forward

    # Dynamo imports the module of a function that it resumes.
    sys.modules["followed"] = ModuleType("followed")
    names: dict[str, Any] = vars(sys.modules["followed"])
    exec(code, names)
    compiled = torch.compile(names["model"], backend=counting, **options)
    calls = names["calls"]
    try:
        with torch.no_grad():
            for index, item in enumerate(calls() if callable(calls) else calls):
                args, kwargs = ((), item) if isinstance(item, dict) else (item, {})
                for line in advice if index == 0 else ():
                    exec(line, names_of(names["model"], args, kwargs))
                compiled(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    finally:
        torch._dynamo.config.load_config(settings)
    return made


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    print(json.dumps({name: followed(*case) for name, case in asked.items()}))
