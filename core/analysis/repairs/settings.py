"""Rules that write settings into a file: arguments of torch.compile, and lines for torch.

They are the steps from a proven recipe to the user's file. `own_call` comes first in a file that leaves its model to
Compileboard: it makes the call of torch.compile that the other rules edit.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from core.analysis.repairs.source import REPAIR_ID, CodeFix, Edit, Risk, UserCode, dotted, names_in, read_code, shares
from core.job import MODES, CompileJob, CompileOptions

LITERAL, MODE, OPTIONS, THREADS = "torch_compile", "mode", "options", "threads"
OF_OPTIONS, OF_DYNAMO, OF_REPAIRS = "options.", "dynamo.", "repair."
CONFIGS = {"dynamo": "torch._dynamo.config", "functorch": "torch._functorch.config"}
# Parameters of torch.compile that a job may have and a rule can write.
WRITTEN = ("fullgraph", "dynamic", MODE, "recompile_limit")
LAYERS = """\
for layer_class in {{type(layer) for group in {model}.modules() if isinstance(group, {torch}.nn.ModuleList) for layer \
in group if any(layer.children())}}:
    layer_class.forward = {torch}.compiler.nested_compile_region(layer_class.forward)"""


def own_call(code: UserCode, model: str) -> CodeFix | None:
    """Compile the model below its last use in the file; the literal `torch_compile` goes."""
    at = _below(code, model)
    literals = [node for node in code.tree.body if isinstance(node, ast.Assign) and _targets(node) == [LITERAL]]
    if at is None or compiling(code, model) is not None or any(shares(code, node) for node in literals):
        return None
    torch, more = code.with_torch()
    drops = [Edit(code.start(node), code.line_end(node), "") for node in literals]
    call = _line_at(code, at, f"{model} = {torch}.compile({model})")
    return CodeFix(f"`torch.compile({model})`", "", (*drops, call, *more))


def compile_with(code: UserCode, *arguments: str) -> CodeFix | None:
    """Pass a parameter to the call of torch.compile.

    `model:options:cpp:min_chunk_size:4096` is an option of Inductor.
    """
    if len(arguments) < 3:
        return None
    model, name, *inner, value = arguments
    path = (name, ".".join(inner)) if inner else (name,)
    text = mode_text(value) if name == MODE else value_text(value)
    place = compiling(code, model)
    if not text or place is None or (name == OPTIONS) != bool(inner):
        return None
    new = f"{name}={_nested(path[1:], text)}"
    if isinstance(place, ast.Call):
        edits = _entry(code, place, path, text)
    else:
        edits = [Edit(code.end(place), code.end(place), f"({new})")]
    return CodeFix(f"`torch.compile(…, {new})`", "", tuple(edits)) if edits is not None else None


def set_config(code: UserCode, module: str, name: str, value: str) -> CodeFix | None:
    """Set a name of a config below the imports; the value `0_5` is the number 0.5."""
    path, text = CONFIGS.get(module), value_text(value)
    if path is None or not text:
        return None
    torch = code.torch or "torch"
    line = f"{path}.{name} = {text}".replace("torch", torch, 1)
    # `import torch` does not import it.
    imports = f"import {path}\n\n" if module == "functorch" and f"import {path}" not in code.text else ""
    return _line_fix(code, f"{imports}{line}")


def set_threads(code: UserCode, count: str) -> CodeFix | None:
    """Set the number of threads below the imports."""
    return _line_fix(code, f"{{torch}}.set_num_threads({count})") if count.isdecimal() else None


def matmul_precision(code: UserCode, precision: str) -> CodeFix | None:
    """Let float32 matrix products use fewer bits, below the imports."""
    return _line_fix(code, f'{{torch}}.set_float32_matmul_precision("{precision}")', "changes")


def _line_fix(code: UserCode, line: str, risk: Risk = "") -> CodeFix | None:
    """Return the fix that adds a line below the imports of a file that has code."""
    words = f"`{line.format(torch='torch')}`"
    return CodeFix(words, "", tuple(code.setting(line)), risk) if code.tree.body else None


def channels_last(code: UserCode, model: str) -> CodeFix | None:
    """Store the model's images channels last."""
    return _above_the_call(code, model, "{model} = {model}.to(memory_format={torch}.channels_last)")


def compile_layers_once(code: UserCode, model: str) -> CodeFix | None:
    """Compile equal layers once, by `nested_compile_region`."""
    return _above_the_call(code, model, LAYERS)


def _above_the_call(code: UserCode, model: str, line: str) -> CodeFix | None:
    """Return the fix that adds a line below the model, above its compilation; None for a function."""
    if any(isinstance(node, ast.FunctionDef) and node.name == model for node in code.tree.body):
        return None
    place = compiling(code, model)
    takes_model = isinstance(place, ast.Call) and model in names_in(place)
    at = code.line_start(place.lineno) if place is not None else _below(code, model)
    if at is None or (place is not None and not takes_model):
        return None
    torch, more = code.with_torch()
    written = line.format(model=model, torch=torch)
    return CodeFix(f"`{written}`", "", (_line_at(code, at, written), *more))


def value_text(value: str) -> str:
    """Return a value of an id as Python source, `0_5` as 0.5; empty if it is none."""
    number = value.replace("_", ".", 1)
    is_number = value.isascii() and value.replace("_", "", 1).isdecimal() and value[0] != "_" and value[-1] != "_"
    return number if is_number else value if value in ("True", "False", "None") else ""


def mode_text(value: str) -> str:
    """Return a mode of an id as Python source; empty if there is none."""
    modes = {mode.replace("-", "_"): repr(mode) for mode in MODES} | {"None": "None"}
    return modes.get(value, "")


def named_setting(repair: str) -> tuple[str, str, Any]:
    """Return the place, the name and the value that a repair's id sets; empty for any other repair.

    Places are `options`, `compile` for its other parameters, the configs, and `threads`.
    """
    rule, *arguments = repair.split(":")
    last = arguments.pop() if arguments else ""
    if rule == "compile_with" and len(arguments) > 1:
        name = arguments[1]
        text = mode_text(last) if name == MODE else value_text(last)
        inner = ".".join(arguments[2:])
        return (OPTIONS, inner, _literal(text)) if name == OPTIONS else ("compile", name, _literal(text))
    if rule == "set_config" and len(arguments) > 1:
        return arguments[0], arguments[1], _literal(value_text(last))
    return (THREADS, THREADS, _literal(value_text(last))) if rule == "set_threads" else ("", "", "")


def _literal(text: str) -> Any:
    return ast.literal_eval(text) if text else text


def compiling(code: UserCode, model: str) -> ast.expr | None:
    """Return the call of torch.compile that compiles a file's model, or a decorator without a call."""
    place: ast.expr | None = None
    for node in code.tree.body:
        if isinstance(node, ast.Assign) and _targets(node) == [model]:
            place = node.value if _is_compile(code, node.value) else None
        elif isinstance(node, ast.FunctionDef) and node.name == model:
            place = next((each for each in node.decorator_list if _is_compile(code, each)), None)
    return place


def compiles_itself(text: str, model: str) -> bool:
    """Return True if a file compiles its model by a call that the rules can edit."""
    code = read_code(text)
    return code is not None and compiling(code, model) is not None


def _is_compile(code: UserCode, node: ast.expr) -> bool:
    return bool(code.torch) and dotted(node.func if isinstance(node, ast.Call) else node) == f"{code.torch}.compile"


def _targets(node: ast.Assign) -> list[str]:
    return [dotted(target) for target in node.targets]


def _nested(keys: tuple[str, ...], text: str) -> str:
    return f"{{{keys[0]!r}: {text}}}" if keys else text


def _entry(code: UserCode, place: ast.Call | ast.Dict, path: tuple[str, ...], text: str) -> list[Edit] | None:
    """Return the edits that set an argument or an entry; None if the text hides some names."""
    values = _values(place)
    old = values.get(path[0]) if values is not None else None
    if values is None or (path[1:] and old is not None and not isinstance(old, ast.Dict)):
        return None
    if isinstance(old, ast.Dict) and path[1:]:
        return _entry(code, old, path[1:], text)
    new = _nested(path[1:], text)
    if old is not None:
        return [Edit(code.start(old), code.end(old), new)]
    parts = [*place.values] if isinstance(place, ast.Dict) else [*place.args, *values.values()]
    at = max(map(code.end, parts), default=code.end(place) - 1)
    named = f"{path[0]!r}: {new}" if isinstance(place, ast.Dict) else f"{path[0]}={new}"
    return [Edit(at, at, f", {named}" if parts else named)]


def _values(place: ast.Call | ast.Dict) -> dict[str, ast.expr] | None:
    """Return the named arguments, or the entries of a dict; None if the text hides some names."""
    if isinstance(place, ast.Call):
        named = {each.arg: each.value for each in place.keywords}
    else:
        keys = [key.value if isinstance(key, ast.Constant) else None for key in place.keys]
        named = {key if isinstance(key, str) else None: value for key, value in zip(keys, place.values, strict=True)}
    return None if None in named else {str(name): value for name, value in named.items()}


def _below(code: UserCode, model: str) -> int | None:
    """Return the offset below the last use of the model, outside a main block; None without any."""
    uses = [node for node in code.tree.body if model in _bound_or_used(node) and "__name__" not in names_in(node)]
    return code.line_end(uses[-1]) if uses else None


def _bound_or_used(node: ast.stmt) -> set[str]:
    imported = node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else []
    return {*names_in(node), getattr(node, "name", ""), *(each.asname or each.name for each in imported)}


def _line_at(code: UserCode, at: int, line: str) -> Edit:
    return Edit(at, at, f"{line}\n" if not at or code.text[:at].endswith("\n") else f"\n{line}\n")


def steps_of(job: CompileJob, fields: Mapping[str, Any], text: str) -> tuple[str, ...]:
    """Return the ids of repairs that write settings into a job's file; empty if a value has no id.

    Each is a step. `fields` are those of a sweep's variant, and `job` has them. A file that leaves its model to
    Compileboard gets its own call of torch.compile, with all parameters of the job.
    """
    code, model = read_code(text), job.model.name
    if code is None:
        return ()
    options: Mapping[str, Any] = {
        _after(OF_OPTIONS, name): value for name, value in fields.items() if OF_OPTIONS in name
    }
    parameters = {name: value for name, value in fields.items() if name in WRITTEN}
    own = [f"own_call:{model}"] if compiling(code, model) is None else []
    if own:
        options, default = job.compile.options or {}, CompileOptions()
        given = ((name, getattr(job.compile, name)) for name in WRITTEN)
        parameters = {name: value for name, value in given if value != getattr(default, name)}
    named = [*parameters.items(), *((f"{OPTIONS}:{name.replace('.', ':')}", value) for name, value in options.items())]
    ids = [*_lines(fields), *own, *(f"compile_with:{model}:{name}:{_id_text(value)}" for name, value in named)]
    return tuple(ids) if all(map(REPAIR_ID.fullmatch, ids)) else ()


def _lines(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of the lines that are no arguments of torch.compile."""
    for name, value in fields.items():
        if name.startswith(OF_REPAIRS):
            yield _after(OF_REPAIRS, name)
        elif name.startswith(OF_DYNAMO):
            yield f"set_config:dynamo:{_after(OF_DYNAMO, name)}:{_id_text(value)}"
        elif name == THREADS:
            yield f"set_threads:{value}"


def _id_text(value: object) -> str:
    """Return a value as an argument of an id, which has the letters of a name alone."""
    return str(value).replace("-" if isinstance(value, str) else ".", "_")


def _after(prefix: str, name: str) -> str:
    return name.removeprefix(prefix)
