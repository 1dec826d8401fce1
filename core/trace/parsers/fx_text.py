"""Parsers of an FX graph's text into nodes: Python code, or a listing of nodes.

`GraphModule.print_readable()` writes Python, so `ast` parses it: parameters are placeholders with their meta as an
annotation, each statement is a node, `x = None` only ends a lifetime, and the comment above a statement names the
user's line:

    def forward(self, L_x_: "f32[8, 64][64, 1]cpu"):
        l_x_ = L_x_
        # File: /m.py:7 in forward, code: y = x.relu()
        relu: "f32[8, 64][64, 1]cpu" = l_x_.relu();  l_x_ = None
        return (relu,)

`str(graph)`, `graph.print_tabular()` and the program of `torch.export` are listings:

    graph():
        %x : [num_users=1] = placeholder[target=x]
        %sum_1 : [num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%x, [0]), kwargs = {})
        return (sum_1,)

    opcode         name    target                args        kwargs
    -------------  ------  --------------------  ----------  --------
    call_function  sum_1   aten.sum.dim_IntList  (x_1, [0])  {}

`with_stacks` adds stacks to nodes.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast, get_args

from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.base.syntax import module
from core.report.nodes import CastWeights, FxNode, Op, TensorMeta, tensor_size
from core.report.places import Module, Place
from core.report.records.compilation import StacksRecord

MOST_DEEP = 200  #: frames of a node's stack
SOURCE = re.compile(r"^# (?:.*? )?File: (.*?):(\d{1,9})(?: in (\S+?))?(?:, code: (.*))?$")
META = re.compile(r"^([a-z][a-z0-9]*)\[([^\]]*)\](?:\[([^\]]*)\])?([a-z]+(?::\d+)?)?")
LAMBDA_CLASS = re.compile(r"^(\s*class )<lambda>", re.MULTILINE)
OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
    ast.Eq: "eq", ast.NotEq: "ne", ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not_",
    ast.Is: "is_", ast.IsNot: "is_not",
}  # fmt: skip
GRAPH = re.compile(r"\s*graph\([^\n]{0,10000}?\)(?: -> [^\n]{0,1000})?:\n", re.ASCII)
TABLE = re.compile(r"\s*(opcode +name +target +args +kwargs *)\n(-+(?: +-+){4})\n", re.ASCII)
PROGRAM = "ExportedProgram:\n"
READABLE = re.compile(
    r"(?:\s*#[^\n]*\n)*\s*(?:class [\w<>.]+\([\w.]*Module\):|def forward\(\s*self\b)", re.ASCII
)  # fmt: skip
NODE = re.compile(
    r"%(?P<name>\w+) : .{0,2000}?\[(?:num_|#)users=\d+\] = (?P<op>[a-z_]+)\[target=(?P<target>.*?)\]"
    r"(?P<call>\((?:args = |default=).*)?$",
    re.ASCII,
)
CALL = re.compile(r"\(args = \((?P<args>.*)\), kwargs = \{(?P<kwargs>.*)\}\)$")
REFERENCE = re.compile(r"%(\w+)")
WORD = re.compile(r"[A-Za-z_]\w*")
OPS = frozenset(get_args(Op))
MAX_LINES = 200_000  #: limit: lines of a graph that is printed as a listing
# The start of a text in which its form can be seen.
HEAD_BYTES = 4_096


def parse_graph(
    text: str, modules: Mapping[str, Module] | None = None, external: Collection[str] = ()
) -> tuple[FxNode, ...]:
    """Return the nodes of the outermost graph in a text, which is Python code or a listing.

    A `get_attr` node of a nested graph has the nodes of that graph.
    Raises SyntaxError for other texts. A text with only some statements may use nodes that it does not define:
    `external` has their names.
    """
    if is_listing(text):
        return _with_modules(parse_listing(text), modules)
    text = LAMBDA_CLASS.sub(r"\1GraphModule", program_code(text))
    return _with_modules(_scope_nodes(_outermost(module(text)), text.split("\n"), external), modules)


def _scope_nodes(scope: Sequence[ast.stmt], lines: list[str], external: Collection[str] = ()) -> tuple[FxNode, ...]:
    """Return the nodes of a class's graph, with those of the graphs in it."""
    forward = _forward(scope)
    nodes = _nodes(forward, lines, external) if forward else ()
    bodies = {statement.name: statement.body for statement in scope if isinstance(statement, ast.ClassDef)}
    if not bodies:
        return nodes
    nested = {name: _scope_nodes(body, lines) for name, body in bodies.items()}
    return tuple(
        replace(node, graph=nested[node.target]) if node.op == "get_attr" and node.target in nested else node
        for node in nodes
    )


def _with_modules(nodes: tuple[FxNode, ...], modules: Mapping[str, Module] | None) -> tuple[FxNode, ...]:
    if not modules:
        return nodes
    return tuple(_with_module(node, modules) for node in nodes)


def parse_graphs(text: str) -> tuple[tuple[FxNode, ...], ...]:
    """Return the nodes of each graph in a text, the outermost graph first.

    The inner graphs are branches, loop bodies and other graphs that are called.
    """
    if is_listing(text):
        return (parse_listing(text),)
    text = LAMBDA_CLASS.sub(r"\1GraphModule", program_code(text))
    tree, lines = module(text), text.split("\n")
    outer = _forward(_outermost(tree))
    inner = [forward for scope in _classes(tree) if (forward := _forward(scope)) is not None and forward is not outer]
    return tuple(_nodes(forward, lines) for forward in ([outer, *inner] if outer else inner))


def _nodes(forward: ast.FunctionDef, lines: list[str], external: Collection[str] = ()) -> tuple[FxNode, ...]:
    parsed = _Graph(lines, external)
    for argument in forward.args.args[1:]:
        parsed.placeholder(argument)
    for statement in forward.body:
        parsed.statement(statement)
    return tuple(parsed.nodes.values())


def _with_module(node: FxNode, modules: Mapping[str, Module]) -> FxNode:
    path, kind = modules.get(node.name, Module("", ""))
    return replace(node, module=path, module_class=kind) if path or kind else node


def _outermost(tree: ast.Module) -> list[ast.stmt]:
    classes = [statement for statement in tree.body if isinstance(statement, ast.ClassDef)]
    return classes[-1].body if classes else tree.body


def _classes(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Yield the bodies of all classes, outer classes first, without a visit of each expression."""
    scopes = [tree.body]
    while scopes:
        scopes = [found.body for scope in scopes for found in scope if isinstance(found, ast.ClassDef)]
        yield from scopes


def _forward(scope: Sequence[ast.stmt]) -> ast.FunctionDef | None:
    functions = [statement for statement in scope if isinstance(statement, ast.FunctionDef)]
    return functions[-1] if functions else None


def parse_meta(text: str) -> TensorMeta | None:
    """Parse `f32[8, 64][64, 1]cpu` as torch prints it; None for anything else."""
    match = META.match(text)
    if not match:
        return None
    dtype, shape, stride, device = match.groups()
    return TensorMeta(dtype, _items(shape), _items(stride or ""), device or "")


def _items(text: str) -> tuple[str, ...]:
    return tuple(size.strip() for size in text.split(",")) if text.strip() else ()


class _Graph:
    """The nodes of a graph while its statements are parsed, with the source line of the last comment."""

    def __init__(self, lines: list[str], external: Collection[str]) -> None:
        self.nodes: dict[str, FxNode] = {}
        self._known = frozenset(external)
        self._lines = lines
        self._ascii = [line.isascii() for line in lines]
        self._read_to = 0
        self._source: Place | None = None
        self._code = ""
        self._declared: dict[str, ast.expr] = {}
        self._in_place: tuple[str, str, tuple[str, ...]] | None = None

    def placeholder(self, argument: ast.arg) -> None:
        meta = argument.annotation.value if isinstance(argument.annotation, ast.Constant) else ""
        self._add(argument.arg, "placeholder", argument.arg, "", (), parse_meta(str(meta)), argument.lineno)

    def statement(self, statement: ast.stmt) -> None:
        self._comments(statement.lineno)
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and not statement.value:
            self._declared[statement.target.id] = statement.annotation
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple):
            self._flatten(statement.targets[0], statement.value)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            meta = statement.annotation.value if isinstance(statement.annotation, ast.Constant) else ""
            self._assign(statement.target.id, statement.value, str(meta), statement.lineno)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            if not (isinstance(statement.value, ast.Constant) and statement.value.value is None):
                self._assign(statement.targets[0].id, statement.value, "", statement.lineno)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            self._subscript(statement.targets[0], statement.value)
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            target = "i" + OPERATORS.get(type(statement.op), "op").rstrip("_")
            inputs = (statement.target.id, *self._names(statement.value))
            self._in_place = (statement.target.id, f"operator.{target}", inputs)
        elif isinstance(statement, ast.Return) and statement.value is not None:
            text = self._text(statement.value)
            self._add("output", "output", "output", text, self._names(statement.value), None, statement.lineno)

    def _flatten(self, targets: ast.Tuple, value: ast.expr) -> None:
        """Replace the two tuples of a joint graph, `primals` and `tangents`, by their elements.

        The elements are declared in earlier statements.
        """
        for tree in self._names(value):
            self.nodes.pop(tree)
        for target in targets.elts:
            if isinstance(target, ast.Name):
                self.placeholder(ast.arg(target.id, self._declared.get(target.id), lineno=target.lineno))

    def _subscript(self, target: ast.Subscript, value: ast.expr) -> None:
        """Parse `x[0] = y`; the next statement, such as `setitem = x`, has the name of the node."""
        inputs = (*self._names(target), *self._names(value))
        self._in_place = (self._text(target.value), "operator.setitem", tuple(dict.fromkeys(inputs)))

    def _assign(self, name: str, value: ast.expr, meta: str, line: int) -> None:
        if isinstance(value, ast.Name):
            self._alias(name, value.id, parse_meta(meta), line)
            return
        op, target, arguments = self._describe(value)
        self._add(name, op, target, arguments, self._names(value), parse_meta(meta), line)

    def _alias(self, name: str, original: str, meta: TensorMeta | None, line: int) -> None:
        """Parse `l_x_ = L_x_`, which renames a placeholder, or `add = x`, which names the result of `x += y`."""
        if self._in_place is not None and self._in_place[0] == original:
            _, target, inputs = self._in_place
            self._in_place = None
            self._add(name, "call_function", target, ", ".join(inputs), inputs, meta, line)
        elif original in self.nodes and self.nodes[original].op == "placeholder":
            node = self.nodes.pop(original)
            self.nodes[name] = replace(node, name=name)

    def _describe(self, value: ast.expr) -> tuple[Op, str, str]:
        if attribute := _attribute(value):
            return "get_attr", attribute, ""
        if isinstance(value, ast.Call):
            return self._call(value)
        if isinstance(value, (ast.BinOp, ast.UnaryOp)):
            return "call_function", f"operator.{OPERATORS.get(type(value.op), 'op')}", self._text(value)
        if isinstance(value, ast.Compare):
            return "call_function", f"operator.{OPERATORS.get(type(value.ops[0]), 'op')}", self._text(value)
        if isinstance(value, ast.Subscript):
            return "call_function", "operator.getitem", self._text(value)
        if isinstance(value, ast.Attribute) and _root(value) != "self":
            return "call_function", "builtins.getattr", self._text(value)
        return "get_attr", self._text(value).removeprefix("self."), ""

    def _call(self, call: ast.Call) -> tuple[Op, str, str]:
        target = _attribute(call.func) or self._text(call.func)
        arguments = self._between(call.func, call)
        base = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(call.func, ast.Attribute) and isinstance(base, ast.Name) and self._is_node(base.id):
            return "call_method", call.func.attr, f"{base.id}, {arguments}" if arguments else base.id
        if _attribute(call.func) or _root(call.func) == "self":
            return "call_module", target.removeprefix("self."), arguments
        return "call_function", target, arguments

    def _is_node(self, name: str) -> bool:
        return name in self.nodes or name in self._known

    def _names(self, value: ast.expr) -> tuple[str, ...]:
        names: dict[str, None] = {}
        self._find_names(value, names)
        return tuple(names)

    def _find_names(self, node: ast.AST, names: dict[str, None]) -> None:
        """Collect names depth-first and in order.

        Hand-written, since `ast.walk` took a third of a log's reading time.
        """
        if isinstance(node, ast.Name):
            if self._is_node(node.id):
                names[node.id] = None
        elif isinstance(node, ast.Attribute):
            self._find_names(node.value, names)
        elif isinstance(node, ast.Call):
            for child in (node.func, *node.args, *node.keywords):
                self._find_names(child, names)
        elif not isinstance(node, ast.Constant):
            for child in ast.iter_child_nodes(node):
                self._find_names(child, names)

    def _add(
        self, name: str, op: Op, target: str, args: str, inputs: tuple[str, ...], meta: TensorMeta | None, line: int
    ) -> None:
        source = None if op in ("placeholder", "output") else self._source
        self.nodes[name] = FxNode(name, op, target, args, inputs, meta, line, source, self._code if source else "")

    def _comments(self, line: int) -> None:
        for text in self._lines[self._read_to : line - 1]:
            stripped = text.strip()
            match = SOURCE.match(stripped)
            if match:
                self._source = Place(match.group(1), int(match.group(2)), match.group(3) or "")
                self._code = match.group(4) or ""
            elif stripped.startswith("# ") and ("No stacktrace found" in stripped or "File: " in stripped):
                self._source, self._code = None, ""
        self._read_to = line - 1

    def _text(self, node: ast.expr) -> str:
        """Return the source of an expression; one on an ASCII line, as almost always, is its slice."""
        if node.lineno == node.end_lineno and self._ascii[node.lineno - 1]:
            return self._lines[node.lineno - 1][node.col_offset : node.end_col_offset]
        return ast.unparse(node)

    def _between(self, function: ast.expr, call: ast.Call) -> str:
        if call.lineno == call.end_lineno and self._ascii[call.lineno - 1] and function.end_col_offset is not None:
            assert call.end_col_offset is not None
            return self._lines[call.lineno - 1][function.end_col_offset + 1 : call.end_col_offset - 1].strip()
        arguments = [
            *map(ast.unparse, call.args),
            *(f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in call.keywords),
        ]
        return ", ".join(arguments)


def _attribute(node: ast.expr) -> str:
    """Return the path of an attribute of `self`, such as `layers.0` by `getattr`; empty for others."""
    path: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            path.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call) and (numbered := _numbered(node)):
            path.append(numbered[1])
            node = numbered[0]
        else:
            return ""
    return ".".join(reversed(path)) if node.id == "self" else ""


def _numbered(call: ast.Call) -> tuple[ast.expr, str] | None:
    """Return the arguments of `getattr(module, "0")`, for a module named by a number, or None."""
    match call:
        case ast.Call(func=ast.Name(id="getattr"), args=[module, ast.Constant(value=str(name))]):
            return module, name
    return None


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_printed_graph(text: str) -> bool:
    """Return True if a text begins like a graph that torch printed."""
    return bool(text.startswith(PROGRAM) or READABLE.match(text) or GRAPH.match(text) or TABLE.match(text))


def is_listing(text: str) -> bool:
    """Return True if a text lists a graph's nodes, rather than printing its Python code."""
    return bool(GRAPH.match(text) or TABLE.match(text))


def parse_listing(text: str) -> tuple[FxNode, ...]:
    """Return the nodes of a listing; lines that are no nodes are left out."""
    table = TABLE.match(text)
    nodes = _rows(text, table) if table else _listed_nodes(text)
    return tuple(nodes)


def program_code(text: str) -> str:
    """Return the Python code of an exported program, with the same line numbers; other texts unchanged."""
    if not text.startswith(PROGRAM):
        return text
    lines = text.split("\n")[1:]
    end = next((number for number, line in enumerate(lines) if line and not line.startswith("    ")), len(lines))
    return "\n".join(["", *(line[4:] for line in lines[:end])])


def _listed_nodes(text: str) -> Iterator[FxNode]:
    known: set[str] = set()
    for number, line in enumerate(text.split("\n")[:MAX_LINES], 1):
        stripped = line.strip()
        match = NODE.match(stripped)
        if match and match["op"] in OPS:
            name = match["name"]
            yield _node(match, number)
            known.add(name)
        elif stripped.startswith("return "):
            result = stripped.removeprefix("return ")
            yield FxNode("output", "output", "output", result, _named(result, known), None, number)


def _node(match: re.Match[str], line: int) -> FxNode:
    call = CALL.match(match["call"] or "")
    positional, keywords = (call["args"], call["kwargs"]) if call else ("", "")
    arguments = ", ".join(filter(None, (positional.removesuffix(","), keywords)))
    inputs = tuple(dict.fromkeys(REFERENCE.findall(arguments)))
    text = REFERENCE.sub(r"\1", arguments)
    return FxNode(match["name"], cast(Op, match["op"]), match["target"], text, inputs, None, line)


def _rows(text: str, table: re.Match[str]) -> Iterator[FxNode]:
    starts = [rule.start() for rule in re.finditer("-+", table[2])]
    above = text.count("\n", 0, table.end())
    known: set[str] = set()
    for number, line in enumerate(text[table.end() :].split("\n")[:MAX_LINES], above + 1):
        ends = [*starts[1:], len(line)]
        op, name, target, args, kwargs = (line[start:end].strip() for start, end in zip(starts, ends, strict=True))
        if op not in OPS:
            continue
        inside = args.removeprefix("(").removesuffix(")").removesuffix(",")
        arguments = ", ".join(filter(None, (inside, kwargs.removeprefix("{").removesuffix("}"))))
        yield FxNode(name, cast(Op, op), target, arguments, _named(arguments, known), None, number)
        known.add(name)


def _named(text: str, known: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in WORD.findall(text) if name in known))


def with_stacks(nodes: Sequence[FxNode], text: str) -> tuple[FxNode, ...]:
    """Return the nodes with their stacks, or unchanged if the record cannot be read."""
    try:
        record = decoded_as(text.encode(), StacksRecord)
    except DecodeError:
        return tuple(nodes)
    stacks: dict[int, tuple[Place, ...]] = {-1: ()}
    for number, (around, frame) in enumerate(record.stacks):
        outer = stacks.get(around)
        if outer is not None and 0 <= frame < len(record.frames) and len(outer) < MOST_DEEP:
            stacks[number] = (*outer, Place(*record.frames[frame]))
    return tuple(replace(node, stack=stacks.get(record.nodes.get(node.name, -1), ())) for node in nodes)


WEIGHT = re.compile(r"_(?:parameters|buffers)_", re.IGNORECASE)
CASTS = ("to", "float", "half", "bfloat16", "double", "type_as", "type")


def cast_weights(nodes: Sequence[FxNode]) -> CastWeights | None:
    """Return the parameters and buffers that Dynamo's graph converts to another dtype; None without any."""
    weights = {node.name: node for node in nodes if node.op == "placeholder" and WEIGHT.search(node.target)}
    sizes = {name: _bytes(node.meta) for name, node in weights.items()}
    casts = {node.inputs[0]: node for node in nodes if node.target in CASTS and node.inputs and node.source}
    changed = {name: node for name, node in casts.items() if name in weights and _dtype(node) != _dtype(weights[name])}
    largest = max(changed, key=lambda name: sizes[name], default="")
    place = changed[largest].source if largest else None
    if place is None:
        return None
    dtypes = f"{_dtype(weights[largest])} to {_dtype(changed[largest])}"
    return CastWeights(place, dtypes, sum(sizes[name] for name in changed) / (sum(sizes.values()) or 1))


def _bytes(meta: TensorMeta | None) -> int:
    return (tensor_size(meta.dtype, meta.shape) or 0) if meta else 0


def _dtype(node: FxNode) -> str:
    return node.meta.dtype if node.meta else ""
