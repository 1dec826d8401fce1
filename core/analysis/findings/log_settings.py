"""Conversion of `TORCH_LOGS` to the call of `torch._logging.set_logs` with the same effect once torch is loaded."""

from __future__ import annotations

import ast

from core.base.syntax import NOT_READ, module

# Names of `TORCH_LOGS` that stand for loggers, which take a level; all others are artifacts, which take True.
LOGGERS = frozenset(
    {
        "all",
        "aot",
        "async_compile",
        "autograd",
        "c10d",
        "cache",
        "ddp",
        "distributed",
        "dtensor",
        "dynamic",
        "dynamo",
        "export",
        "fake_tensor",
        "fsdp",
        "inductor",
        "native_dsl",
        "onnx",
        "pp",
        "torch",
    }
)
# Artifacts without an argument of `set_logs`, which takes them as entries of `modules`.
WITHOUT_ARGUMENT = frozenset(
    {
        "aot_graphs_effects",
        "annotation",
        "async_compile",
        "auto_chunker",
        "cache",
        "fake_tensor",
        "loop_ordering",
        "loop_tiling",
        "native_dsl",
        "node_runtime_estimation",
        "not_implemented",
        "overlap_scheduling",
        "pp",
        "torch",
        "trace_shape_events",
        "verbose_guards",
    }
)
LEVELS = {"+": "logging.DEBUG", "-": "logging.ERROR"}
EXAMPLE = "torch._logging.set_logs(graph_breaks=True, recompiles=True)"
MOST_NAMES = 12


def set_logs_call(line: str) -> str:
    """Return the call for a line that sets `TORCH_LOGS`; empty if the line does not have the value as one string."""
    names = [name for part in _value(line).split(",") if (name := part.strip())]
    if not names or len(names) > MOST_NAMES or not all(_is_name(name.lstrip("+-")) for name in names):
        return ""
    settings = {name.lstrip("+-"): _setting(name) for name in names}
    arguments = [f"{name}={value}" for name, value in settings.items() if _is_argument(name)]
    modules = ", ".join(f"'{name}': {value}" for name, value in settings.items() if not _is_argument(name))
    return f"torch._logging.set_logs({', '.join([*arguments, *([f'modules={{{modules}}}'] if modules else [])])})"


def _value(line: str) -> str:
    """Return the string after `TORCH_LOGS` in `os.environ["TORCH_LOGS"] = "…"`, `setdefault`, `putenv` or `update`."""
    try:
        tree = module(line)
    except NOT_READ:
        return ""
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    values = [text for text in texts if text != "TORCH_LOGS"]
    return values[0] if len(values) == 1 else ""


def _is_name(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _is_argument(name: str) -> bool:
    return "." not in name and name not in WITHOUT_ARGUMENT


def _setting(name: str) -> str:
    is_logger = "." in name or name in LOGGERS
    return LEVELS.get(name[0]) or ("logging.INFO" if is_logger else "True")
