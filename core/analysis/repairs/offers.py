"""Repairs for graph breaks and recompiles, and files after repairs.

To add a rule, write a function in one of the neighbouring modules. Add it to `RULES`, and its name to
`OF_BREAKS` or `OF_RECOMPILES`. `attribute_use` says what the code does with a number that a guard compares, `key_of`
finds a subscript with it, `scheduler_steps` finds the steps of learning-rate schedulers, and `stale_cache` a cached
function that reads what changes.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.analysis.dynamo.varied_sizes import InputDimension, is_of_size, number_is_symbolic, size_advice
from core.analysis.repairs import calls, choices, recompiles, settings, source
from core.analysis.repairs.choices import TESTS, number_at
from core.analysis.repairs.source import (
    CodeFix,
    Repair,
    Rule,
    UserCode,
    dotted,
    edited,
    fix_of,
    read_code,
    settings_of_break,
)
from core.base.errors import JobError
from core.code.diff import diff_texts
from core.report import GraphBreak, Recompile, Report

RULES: dict[str, Rule] = {
    "reorder": calls.reorder,
    "print_op": calls.print_op,
    "log_op": calls.log_op,
    "eager_only": calls.eager_only,
    "where": choices.where,
    "cond": choices.cond,
    "check": choices.check,
    "keep_tensor": choices.keep_tensor,
    "torch_math": choices.torch_math,
    "clone": choices.clone,
    "remove_break": calls.remove_break,
    "undisable": calls.undisable,
    "hoist": calls.hoist,
    "hoist_tensor": calls.hoist_tensor,
    "constant": calls.constant,
    "allow_in_graph": calls.allow_in_graph,
    "disable": calls.disable,
    "setting": source.setting,
    "mark_dynamic": recompiles.mark_dynamic,
    "tensor_argument": recompiles.tensor_argument,
    "tensor_global": recompiles.tensor_global,
    "flag_attribute": recompiles.flag_attribute,
    "buffer_attribute": recompiles.buffer_attribute,
    "pad_list": recompiles.pad_list,
    "one_dtype": recompiles.one_dtype,
    "one_grad": recompiles.one_grad,
    "store_after": recompiles.store_after,
    "own_call": settings.own_call,
    "compile_with": settings.compile_with,
    "set_config": settings.set_config,
    "set_threads": settings.set_threads,
    "matmul_precision": settings.matmul_precision,
    "channels_last": settings.channels_last,
    "compile_layers_once": settings.compile_layers_once,
}

# Id in torch's registry of graph breaks → its rules, best first; LOG stands for the rules of a print or log call, which
# depend on its arguments.
LOG = "log"
OF_A_CALL = (LOG, "hoist", "constant", "allow_in_graph")
# Of an object's method; a function whose result is no tensor cannot be in the graph.
OF_A_METHOD = OF_A_CALL[:-1]
OF_A_CHOICE = ("check", "where", "cond")
OF_BREAKS: dict[str, tuple[str, ...]] = {
    "GB0007": OF_A_CALL,
    "GB0008": OF_A_CALL,
    "GB0009": OF_A_CALL,
    "GB0025": ("remove_break",),
    "GB0033": ("log_op", *OF_A_CHOICE, "torch_math", "keep_tensor"),
    "GB0034": ("check",),
    "GB0035": OF_A_CHOICE,
    "GB0059": OF_A_CALL,
    "GB0098": ("undisable",),
    "GB0099": ("undisable",),
    "GB0109": ("log_op", *OF_A_CHOICE, "store_after", "keep_tensor"),
    "GB0124": ("log_op", *OF_A_CHOICE, "store_after", "keep_tensor"),
    "GB0147": OF_A_CALL,
    "GB0148": OF_A_CALL,
    "GB0156": OF_A_METHOD,
    "GB0170": OF_A_CHOICE,
    "GB0179": ("clone",),
    "GB0213": OF_A_CALL,
    "GB0225": ("hoist_tensor",),
    "GB0264": ("hoist_tensor",),
    "GB0291": ("log_op", "eager_only"),
    "GB0296": (LOG,),
    "GB4198": ("clone",),
    "GB4818": OF_A_METHOD,
}
# Kinds of graph break that may be in a library, so that the line of the file that calls it is edited.
OF_CALLERS = frozenset(
    {"GB0007", "GB0008", "GB0009", "GB0147", "GB0148", "GB0156", "GB0179", "GB0291", "GB4198", "GB4818"}
)
# Rule that runs a helper eagerly, for a line without another fix.
LAST_RESORT = "disable"

# Module as named by a guard: the model or a submodule.
MODULE = r"[a-zA-Z_]\w*(?:\._modules\['[^']+'\]|\.\w+)*"
# Input as named by a guard: a parameter or a keyword argument.
ARGUMENT = r"(?:\w+\[')?(?P<name>\w+)(?:'\])?"
# Input as above, or a positional argument of torch's own wrapper.
ARGUMENTS = re.compile(r"(?:kwargs\['(?P<keyword>\w+)'\]|args\[(?P<place>\d{1,3})\]|(?P<name>[A-Za-z_]\w*))")
# Rules that edit the file's calls; they have no effect if the job has its own inputs.
OF_CALLS = frozenset({"mark_dynamic", "tensor_argument", "pad_list", "one_dtype", "one_grad"})
# Reason of a recompile → rule, and its arguments: groups of the reason, the call, the line, and a dtype by DTYPES. For
# a varying size, the report decides which dimensions are marked together.
OF_RECOMPILES: tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...] = (
    (re.compile(rf"tensor '{ARGUMENT}' dtype mismatch\. expected (?P<dtype>\w+),"), "one_dtype",
     ("name", "call", "dtype")),
    (re.compile(rf"tensor '{ARGUMENT}' requires_grad mismatch\. expected requires_grad=0"), "one_grad",
     ("name", "call")),
    (re.compile(r"len\((?P<name>\w+)\) == \d+"), "pad_list", ("name",)),
    (re.compile(r"___check_obj_id\(\w+, "), "store_after", ("line",)),
    (re.compile(r"G\['(?P<name>\w+)'\] == -?[\d.]+"), "tensor_global", ("name",)),
    (re.compile(r"(?P<name>[a-zA-Z_]\w*) == -?[\d.]+(?:e-?\d+)?$"), "tensor_argument", ("name",)),
    (re.compile(rf"{MODULE}\.(?P<name>\w+) == -?[\d.]+(?:e-?\d+)?$"), "buffer_attribute", ("name",)),
    (re.compile(rf"{MODULE}\.(?P<name>\w+) == "), "flag_attribute", ("name",)),
)  # fmt: skip
# Integer attribute of a module: a constant for torch unless a setting changes that.
OF_MODULE = re.compile(r"self\.|\w+\._modules\[")
INTEGERS = "allow_unspec_int_on_nn_module"
INTEGER_ATTRIBUTE = re.compile(rf"{MODULE}\.\w+ == -?\d+$")
DTYPES = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16"}


def repairs_of_break(text: str, graph_break: GraphBreak, path: str) -> tuple[Repair, ...]:
    """Return the repairs of a graph break, by file edits and by settings, best first."""
    line = line_of(graph_break, path)
    names = OF_BREAKS.get(graph_break.registry_id, ()) if line is not None else ()
    edits = [*_rule_ids(text, graph_break, names, line)] if line is not None else []
    config = [f"setting:{name}" for name in settings_of_break(graph_break)]
    if line is not None and (decides(text, line) or _indexes(text) or repair_of(text, f"torch_math:{line}")):
        # With this setting, `if`, `math` and several indices would need the value of a data-dependent symbol.
        config = [repair_id for repair_id in config if repair_id != "setting:capture_scalar_outputs"]
    if line is not None and decides_by_size(text, line):
        # A symbol for the size would then raise.
        config = [repair_id for repair_id in config if repair_id != "setting:capture_dynamic_output_shape_ops"]
    last = [f"{LAST_RESORT}:{line}"] if line is not None and graph_break.place.file == path else []
    return tuple(_repairs(text, [*edits, *config, *last]))


def _rule_ids(text: str, graph_break: GraphBreak, names: Sequence[str], line: int) -> Iterator[str]:
    code = read_code(text)
    for name in names if code is not None else ():
        if name == LOG and code is not None:
            yield from calls.rules_for_log(graph_break, code, line)
        else:
            yield f"{name}:{line}"


def decides(text: str, line: int) -> bool:
    """Return True if the value that a line of a file reads decides a branch, or may be random."""
    code = read_code(text)
    return code is not None and choices.decides(code, line)


def decides_by_size(text: str, line: int) -> bool:
    """Return True if a condition needs the result of a line of a file, or what is computed from it."""
    code = read_code(text)
    return code is not None and choices.decides_by_size(code, line)


def _indexes(text: str) -> bool:
    code = read_code(text)
    return code is not None and choices.indexes(code)


def repairs_of_recompile(text: str, report: Report, recompile: Recompile, own_calls: bool = True) -> tuple[Repair, ...]:
    """Return the repairs of a failed guard; `own_calls` is True if the file itself makes the calls."""
    ids = [
        repair_id for repair_id in _ids(report, recompile) if own_calls or repair_id.partition(":")[0] not in OF_CALLS
    ]
    # Torch names the setting in its hint for attributes of modules; those of other objects it makes symbolic itself.
    of_module = INTEGERS in recompile.hint or (not recompile.hint and OF_MODULE.match(recompile.reason) is not None)
    integer = of_module and INTEGER_ATTRIBUTE.match(condition(recompile.reason))
    return tuple(_repairs(text, [*ids, *([f"setting:{INTEGERS}"] if integer else [])]))


def condition(reason: str) -> str:
    """Return the guard in a recompile reason, without the stack that may follow."""
    return reason.split("\n")[0].strip()


def dynamic_spares(report: Report, recompile: Recompile) -> bool:
    """Return True if `dynamic=True` avoids the recompile for a varying size or number argument."""
    return size_advice(report, recompile).dynamic if is_of_size(recompile) else number_is_symbolic(report, recompile)


def newest_reasons(recompiles: Sequence[Recompile]) -> tuple[Recompile, ...]:
    """Return the first reason of each recompile, which is about the newest code.

    Later reasons are about older code, whose guards failed in earlier recompiles.
    """
    return tuple({recompile.compilation: recompile for recompile in reversed(recompiles)}.values())[::-1]


def _ids(report: Report, recompile: Recompile) -> Iterator[str]:
    """Yield the repair ids of a recompile: for a varying size, or for each pattern that matches."""
    if is_of_size(recompile):
        yield from _marks(size_advice(report, recompile).marks)
        return
    for pattern, name, wanted in OF_RECOMPILES:
        match = pattern.match(condition(recompile.reason))
        line = str(recompile.location.line) if recompile.location else ""
        if match is None or ("call" in wanted and recompile.call is None) or ("line" in wanted and not line):
            continue
        arguments = {**match.groupdict(), "call": str(recompile.call), "line": line}
        arguments["dtype"] = DTYPES.get(arguments.get("dtype", ""), "")
        yield ":".join([name, *(arguments[argument] for argument in wanted)])


def _marks(dimensions: Sequence[InputDimension]) -> Iterator[str]:
    """Yield the id of a repair that marks all dimensions; nothing if an input is not an argument."""
    names = [ARGUMENTS.fullmatch(tensor) for tensor, _ in dimensions]
    if not dimensions or not all(names):
        return
    inputs = [match["keyword"] or match["name"] or match["place"] for match in names if match]
    yield ":".join(["mark_dynamic", *(f"{name}:{at}" for name, (_, at) in zip(inputs, dimensions, strict=True))])


def _repairs(text: str, ids: Iterable[str]) -> Iterator[Repair]:
    for repair_id in ids:
        repair = repair_of(text, repair_id)
        if repair is not None:
            yield repair


@lru_cache(maxsize=256)
def repair_of(text: str, repair: str) -> Repair | None:
    """Return a repair of a file by its id; None if the id does not fit this file."""
    fix = _fix_of_file(text, repair)
    after = edited(text, fix.edits) if fix else None
    if fix is None or after is None or (after == text and not fix.settings):
        return None
    return Repair(repair, fix, _diff(text, after) if fix.edits else "")


def _fix_of_file(text: str, repair: str) -> CodeFix | None:
    code = read_code(text)
    return fix_of(RULES, code, repair) if code else None


@lru_cache(maxsize=16)
def together(text: str, repairs: tuple[Repair, ...]) -> tuple[Repair, ...]:
    """Return the repairs that can be applied together: each repair that fits the accepted ones before."""
    combined: list[Repair] = []
    for repair in repairs:
        if edited(text, [edit for applied in (*combined, repair) for edit in applied.fix.edits]) is not None:
            combined.append(repair)
    return tuple(combined)


def together_diff(text: str, repairs: Sequence[Repair]) -> str:
    """Return the changes of compatible repairs as a unified diff."""
    after = edited(text, [edit for repair in repairs for edit in repair.fix.edits])
    return _diff(text, after) if after not in (None, text) else ""


def _diff(before: str, after: str) -> str:
    return diff_texts(before, after, "original", "fixed").text


def repaired(text: str, steps: Sequence[Sequence[str]]) -> str:
    """Return a file's text after repairs; raises JobError if a repair does not fit.

    `steps` are lists of repair ids. The steps are applied in order, the repairs of a step at once.
    """
    for step in steps:
        fixes = [_fix_of_file(text, repair) for repair in step]
        edits = [edit for fix in fixes if fix for edit in fix.edits]
        after = edited(text, edits)
        if not all(fixes) or after is None:
            raise JobError("repairs", f"{', '.join(step)[:200]} cannot be applied: the code has changed")
        text = after
    return text


def applied_diff(text: str, steps: Sequence[Sequence[str]]) -> str:
    """Return the changes of repairs in steps as a unified diff; empty if a repair does not fit the file."""
    try:
        after = repaired(text, steps)
    except JobError:
        return ""
    return _diff(text, after) if after != text else ""


def line_of(graph_break: GraphBreak, path: str) -> int | None:
    """Return the line of a file to edit for a graph break: its own or its caller's line.

    None if neither is in the file.
    """
    if not path:
        return None
    if graph_break.place.file == path:
        return graph_break.place.line
    callers = [frame.line for frame in reversed(graph_break.stack) if frame.file == path]
    return callers[0] if callers and graph_break.registry_id in OF_CALLERS else None


SETS_UP = ("__init__", "__post_init__", "__new__", "setup", "configure_model")
SCHEDULER = re.compile(r"(?:LR|WarmRestarts|Plateau|Scheduler)$")


@dataclass(frozen=True, slots=True)
class AttributeUse:
    """An attribute in a file.

    `changed` are the lines that set it outside of `__init__`; empty if it differs only between instances. `key` is a
    subscript with the attribute as key, such as `table[self.level]`; empty without one, or if the object may be a
    tensor. `condition` is a condition with it; `needed` is True if Python needs the number in any other way.
    """

    changed: tuple[int, ...]
    key: str
    condition: str
    needed: bool


def attribute_use(text: str, name: str) -> AttributeUse | None:
    """Return the uses of an attribute in a file; None if the file does not set it, or is not valid Python."""
    code = read_code(text)
    if code is None:
        return None
    nodes = [node for node in ast.walk(code.tree) if isinstance(node, ast.Attribute) and node.attr == name]
    stored = [node for node in nodes if isinstance(node.ctx, ast.Store)]
    if not stored or any(_sets_by_name(node, name) for node in ast.walk(code.tree)):
        return None
    loads = [node for node in nodes if isinstance(node.ctx, ast.Load)]
    return AttributeUse(
        changed=tuple(sorted(node.lineno for node in stored if not _sets_up(code, node))),
        key=next(_keys(code, loads), ""),
        condition=next(_conditions(code, loads), ""),
        needed=any(number_at(code, node) for node in loads),
    )


def _sets_up(code: UserCode, node: ast.AST) -> bool:
    function = next(code.around(node, ast.FunctionDef), None)
    return function is not None and function.name in SETS_UP


def _sets_by_name(node: ast.AST, name: str) -> bool:
    """Return True if a call gets the name as text, such as `setattr` or `register_buffer`."""
    arguments = node.args if isinstance(node, ast.Call) else []
    return any(isinstance(argument, ast.Constant) and argument.value == name for argument in arguments)


def key_of(line: str, name: str) -> str:
    """Return the subscript or the `in` of a line whose key has a name or an attribute; empty without one.

    The line may be the head of a block, such as `if x in table[n]:`.
    """
    head = re.match(r"\s*(?:el)?(?:if|while|for)\b.*:$", line)
    code = read_code(f"{line.strip().removeprefix('el')}\n    pass" if head else line.strip())
    if code is None:
        code = read_code(line.strip().removeprefix("return").strip())
    nodes = ast.walk(code.tree) if code else iter(())
    uses = [node for node in nodes if _named(node) == name and isinstance(getattr(node, "ctx", None), ast.Load)]
    return next(_keys(code, uses), "") if code else ""


def _named(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _keys(code: UserCode, uses: Iterable[ast.AST]) -> Iterator[str]:
    """Yield subscripts with these values as keys, and `key in table`, which a tensor as a key makes false.

    Subscripts of a local name are left out: it may be a tensor.
    """
    for use in uses:
        below = use
        for above in code.around(use, ast.Subscript, ast.Call, ast.Compare):
            if isinstance(above, ast.Compare) and isinstance(above.ops[0], (ast.In, ast.NotIn)) and use is above.left:
                yield code.says(above)
            if isinstance(above, ast.Subscript) and _is_key(code, above, use):
                yield code.says(above)
            if isinstance(above, ast.Call) and below is not above.func:
                break
            below = above


def _is_key(code: UserCode, subscript: ast.Subscript, use: ast.AST) -> bool:
    """Return True if a value is in the index of a subscript of no local name, and no bound of a slice."""
    bounds = {node for part in ast.walk(subscript.slice) if isinstance(part, ast.Slice) for node in ast.walk(part)}
    return use in set(ast.walk(subscript.slice)) - bounds and not _is_local(code, subscript)


def _is_local(code: UserCode, subscript: ast.Subscript) -> bool:
    """Return True if the object is a parameter or a local name of the function around it."""
    root = dotted(subscript.value).partition(".")[0]
    function = next(iter(code.around(subscript, ast.FunctionDef, ast.AsyncFunctionDef)), None)
    if function is None or root == "self":
        return not root
    stored = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    parameters = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    return not root or root in stored | parameters


def _conditions(code: UserCode, loads: Iterable[ast.AST]) -> Iterator[str]:
    for load in loads:
        for above in code.around(load, ast.If, ast.IfExp, ast.While, ast.Assert):
            if isinstance(above, TESTS) and load in set(ast.walk(above.test)):
                compared = next(iter(code.around(load, ast.Compare)), None)
                yield code.says(compared or above.test)
        yield from map(code.says, code.around(load, ast.Compare))


def scheduler_steps(text: str) -> Iterator[tuple[str, int]]:
    """Yield the class of each learning-rate scheduler, with the line of its first `step()`."""
    code = read_code(text)
    if code is None:
        return
    calls = [node for node in ast.walk(code.tree) if isinstance(node, ast.Call)]
    for node in ast.walk(code.tree):
        made = node.value if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else None
        kind = dotted(made.func).rpartition(".")[2] if made else ""
        if not SCHEDULER.search(kind) or not isinstance(node, ast.Assign):
            continue
        steps = {f"{dotted(target)}.step" for target in node.targets if dotted(target)}
        lines = sorted(call.lineno for call in calls if dotted(call.func) in steps)
        if lines:
            yield kind, lines[0]


CACHES = ("lru_cache", "cache")


def stale_cache(text: str, after: int = 0) -> tuple[str, str]:
    """Return a function with `lru_cache`, and a variable or attribute that it reads and the file changes.

    Only changes below the line `after`, and in functions, count. Both texts are empty without such a function.
    """
    code = read_code(text)
    changed = _changed_values(code, after) if code else set()
    for function in ast.walk(code.tree) if code and changed else ():
        if not isinstance(function, ast.FunctionDef) or not any(map(_is_cache, function.decorator_list)):
            continue
        own = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)} | _locals(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and f".{node.attr}" in changed:
                return function.name, dotted(node) or node.attr
            if isinstance(node, ast.Name) and node.id in changed - own:
                return function.name, node.id
    return "", ""


def _locals(function: ast.FunctionDef) -> set[str]:
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    shared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    return {node.id for node in names} - shared


def _is_cache(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return dotted(function).rpartition(".")[2] in CACHES


def _changed_values(code: UserCode, after: int) -> set[str]:
    """Return the global variables that a file changes, and the attributes, with a dot before the name."""
    nodes = list(ast.walk(code.tree))
    changed = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    stores = [node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Store)]
    for node in stores:
        inside = next(code.around(node, ast.FunctionDef), None) is not None
        if isinstance(node, ast.Attribute) and not _sets_up(code, node) and (inside or node.lineno > after):
            changed.add(f".{node.attr}")
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and (inside or node.lineno > after):
            changed.add(node.value.id)
    names = [node for node in stores if isinstance(node, ast.Name)]
    outside = [node for node in names if not any(code.around(node, ast.FunctionDef, ast.ClassDef, ast.comprehension))]
    first = {node.id: node.lineno for node in reversed(outside)}
    return changed | {node.id for node in outside if node.lineno > max(first[node.id], after)}
