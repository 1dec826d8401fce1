"""Repairs of a user's file by edits and by Dynamo's settings, and proposals, which change a job.

Edits keep the rest of the text. A repair has its edits in words and as a diff, and an id from which it can be
recreated. The settings of `torch._dynamo.config` let Dynamo trace code that breaks the graph by default. Each
setting is listed with its cost.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import CO_VARARGS
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from core.base.decoder import toml_as
from core.base.syntax import NOT_READ, module
from core.job import CompileJob
from core.report import GraphBreak

Node = TypeVar("Node", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef
LONGEST_LINE = 120  #: a repaired line that keeps its comments
# Effect on the model's results: they should stay the same, may change, or change.
Risk = Literal["", "may change", "changes"]
# A rule's name and its arguments: lines, names and dtypes, never code.
REPAIR_ID = re.compile(r"[a-z_]{1,40}(?::\w{1,80}){1,32}", re.ASCII)
# Parameters of rules that take a number.
NUMBERS = ("line", "index", "call")


class Edit(NamedTuple):
    """An edit: replaces characters `start` to `end` of a text with `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class UserCode:
    """A parsed file; offsets count characters."""

    text: str
    tree: ast.Module

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Parent of each node."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self._lines:
            starts.append(starts[-1] + len(line))
        return starts

    @cached_property
    def _lines(self) -> list[str]:
        # Not `splitlines`, which also splits at characters that end no line for Python.
        return [f"{line}\n" for line in self.text.split("\n")]

    def offset(self, line: int, column: int) -> int:
        """Return the offset in characters of a position in `ast`, whose columns count UTF-8 bytes."""
        row = self._lines[line - 1]
        inside = column if row.isascii() else len(row.encode()[:column].decode())
        return self._starts[line - 1] + inside

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset of a node's first character."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset behind a node's last character."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def line_start(self, line: int) -> int:
        """Return the offset of a line's first character."""
        return self._starts[line - 1]

    def line_end(self, node: ast.stmt) -> int:
        """Return the offset behind the last line of a statement."""
        return min(self._starts[node.end_lineno or node.lineno], len(self.text))

    def says(self, node: ast.expr | ast.stmt) -> str:
        """Return a node's text."""
        return self.text[self.start(node) : self.end(node)]

    def indent(self, node: ast.stmt) -> str:
        """Return the text before a statement on its line."""
        return self.text[self.line_start(node.lineno) : self.start(node)]

    def on_line(self, line: int, kind: type[Node]) -> list[Node]:
        """Return the nodes of a kind that begin on a line, otherwise the nodes that span the line.

        Nodes that begin last come first; on the same line, the order is that of `ast.walk`.
        """
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, kind) and _spans_line(node, line)]
        first = [node for node in nodes if getattr(node, "lineno", 0) == line]
        return sorted(first or nodes, key=lambda node: -getattr(node, "lineno", 0))

    def around(self, node: ast.AST, *kinds: type[Node]) -> Iterator[Node]:
        """Yield the nodes of these kinds around a node, innermost first."""
        while (above := self.parents.get(node)) is not None:
            if isinstance(above, kinds):
                yield above
            node = above

    def statement(self, line: int) -> ast.stmt | None:
        """Return the statement that begins on a line, otherwise the innermost statement around it, or None."""
        return next(iter(self.on_line(line, ast.stmt)), None)

    def top(self, node: ast.AST) -> ast.stmt:
        """Return the top-level statement that contains a node."""
        while not isinstance(self.parents[node], ast.Module):
            node = self.parents[node]
        assert isinstance(node, ast.stmt)
        return node

    def before(self, statement: ast.stmt) -> int:
        """Return the offset for a new line before a statement, above its decorators."""
        decorators = getattr(statement, "decorator_list", [])
        return self.line_start(min([statement.lineno, *(decorator.lineno for decorator in decorators)]))

    def comments(self, start: int, end: int) -> list[str]:
        """Return the comments between two offsets."""
        words = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
                at = self._starts[token.start[0] - 1] + token.start[1]
                if token.type == tokenize.COMMENT and start <= at < end:
                    words.append(token.string)
        except (tokenize.TokenError, IndentationError):
            return []
        return words

    @cached_property
    def _rows_of_texts(self) -> frozenset[int]:
        texts = (node for node in ast.walk(self.tree) if isinstance(node, (ast.Constant, ast.JoinedStr)))
        return frozenset(row for node in texts for row in range(node.lineno + 1, (node.end_lineno or 0) + 1))

    def in_text(self, line: int) -> bool:
        """Return True if a line begins inside a literal, which an indent would change."""
        return line in self._rows_of_texts

    @cached_property
    def torch(self) -> str:
        """Name of torch in the file; empty if it is not imported at the top level."""
        for node in self.tree.body:
            for name in node.names if isinstance(node, ast.Import) else ():
                if name.name == "torch":
                    return name.asname or "torch"
                if name.name.startswith("torch.") and name.asname is None:
                    return "torch"
        return ""

    def with_torch(self) -> tuple[str, list[Edit]]:
        """Return the name of torch in the file, and the edit that imports it if needed."""
        return (self.torch, []) if self.torch else ("torch", [self.below_imports("import torch")])

    def setting(self, line: str) -> list[Edit]:
        """Return the edit that adds a line below the imports; `{torch}` in the line stands for torch's name."""
        if not self.torch:
            return [self.below_imports(f"import torch\n{line.format(torch='torch')}")]
        return [self.below_imports(line.format(torch=self.torch))]

    def below_imports(self, line: str) -> Edit:
        """Return the edit that adds a line below the imports at the top of the file, after a blank line."""
        last = None
        for index, node in enumerate(self.tree.body):
            doc = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not (doc or isinstance(node, (ast.Import, ast.ImportFrom))):
                break
            last = node
        if last is None:
            return Edit(0, 0, f"{line}\n")
        at = self.line_start((last.end_lineno or last.lineno) + 1)
        lead = "" if self.text[:at].endswith("\n") else "\n"
        return Edit(min(at, len(self.text)), min(at, len(self.text)), f"{lead}\n{line}\n")


def _spans_line(node: ast.AST, line: int) -> bool:
    first = getattr(node, "lineno", None)
    return first is not None and first <= line <= (getattr(node, "end_lineno", None) or first)


def shares(code: UserCode, statement: ast.stmt) -> bool:
    """Return True if another statement is on the same line."""
    return bool(code.indent(statement).strip()) or code.text[code.end(statement) :].lstrip(" \t").startswith(";")


def read_code(text: str) -> UserCode | None:
    """Return a parsed file; None if it is not valid Python."""
    try:
        return UserCode(text, module(text))
    except NOT_READ:
        return None


def dotted(node: ast.expr) -> str:
    """Return `a.b.c` as written; empty for anything but names."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """Return the names that a node uses."""
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def fresh_name(code: UserCode, wanted: str) -> str:
    """Return a name that the file does not use."""
    used = set(re.findall(r"\w+", code.text))
    names = (f"{wanted}{number or ''}" for number in range(len(used) + 1))
    return next(name for name in names if name not in used)


def edited(text: str, edits: Sequence[Edit]) -> str | None:
    """Return the text after all edits, equal edits once; None for overlapping edits or invalid Python."""
    ordered = sorted(set(edits))
    if any(left.end > right.start for left, right in pairwise(ordered)):
        return None
    for edit in reversed(ordered):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text if read_code(text) is not None else None


@dataclass(frozen=True, slots=True)
class CodeFix:
    """A rule's fix of a file: its description with code in backticks, the reason, and the edits.

    `risk` is the risk of changed results, `doubt` a caveat. `settings` are names of `torch._dynamo.config` to
    set.
    """

    words: str
    why: str
    edits: tuple[Edit, ...]
    risk: Risk = ""
    doubt: str = ""
    settings: tuple[str, ...] = ()


# Arguments only select a part of the file; the text that a rule writes comes from the file or the rule.
Rule = Callable[..., CodeFix | None]


@dataclass(frozen=True, slots=True)
class Repair:
    """A fix of one file: `id` is its rule with arguments, `diff` a unified diff of the file."""

    id: str
    fix: CodeFix
    diff: str

    @property
    def stacks(self) -> bool:
        """True if the repair can be combined with others.

        A repair with the risk `changes`, and a repair that leaves a graph break, can't be combined.
        """
        return self.fix.risk != "changes" and not self.id.startswith("disable:")


def fix_of(rules: dict[str, Rule], code: UserCode, repair: str) -> CodeFix | None:
    """Return the fix of a file by the repair's id; None if the id does not fit this file."""
    if not REPAIR_ID.fullmatch(repair):
        return None
    name, *arguments = repair.split(":")
    rule = rules.get(name)
    if rule is not None and rule.__code__.co_flags & CO_VARARGS:
        return rule(code, *arguments)
    wanted = rule.__code__.co_varnames[1 : rule.__code__.co_argcount] if rule else ()
    numbers = all(value.isdecimal() for name, value in zip(wanted, arguments, strict=False) if name in NUMBERS)
    return rule(code, *arguments) if rule is not None and len(wanted) == len(arguments) and numbers else None


@dataclass(frozen=True, slots=True)
class DynamoSetting:
    """A setting of `torch._dynamo.config`: its value, the kinds of graph break that it avoids, its cost."""

    name: str
    value: bool
    registry_ids: tuple[str, ...]
    why: str
    cost: str

    @property
    def line(self) -> str:
        """Setting as a line of code."""
        return f"torch._dynamo.config.{self.name} = {self.value}"


_settings = toml_as(Path(__file__).with_name("settings.toml"), dict[str, tuple[DynamoSetting, ...]])["settings"]
SETTINGS = {setting.name: setting for setting in _settings}
# Name of Dynamo's without which sizes that follow those of a parameter may be symbols.
SIZES_OF_PARAMETERS = "force_parameter_static_shapes"
# The same for layers of torch.nn, too.
SIZES_OF_MODULES = (SIZES_OF_PARAMETERS, "force_nn_module_property_static_shapes")
NAMED = re.compile(r"_dynamo\.config\.(\w+)")


def setting(_: UserCode, name: str) -> CodeFix | None:
    """Set a name of `torch._dynamo.config` for the run; the file stays as it is."""
    return setting_fix(name)


def setting_fix(name: str) -> CodeFix | None:
    """Return the fix that sets a name of `torch._dynamo.config`; None for an unknown name."""
    entry = SETTINGS.get(name)
    if entry is None:
        return None
    return CodeFix(f"Set `{entry.line}`.", entry.why, (), doubt=entry.cost, settings=(name,))


# Kind of break of an op that returns a tensor's values, and its op whose numbers a setting captures.
OF_VALUES, LISTED = "GB0033", re.compile(r"\.tolist\(")
# Kind of break of an op whose result has a size that depends on data, and torch's own ops with a symbol for this size.
OF_SIZES = "GB0036"
WITH_SYMBOLS = re.compile(
    r"aten\.(?:nonzero|nonzero_numpy|_unique2?|unique_dim|unique_consecutive|repeat_interleave|masked_select|bincount"
    r"|_to_dense|_spdiags|_padded_dense_to_jagged_forward)\."
)


def settings_of_break(graph_break: GraphBreak) -> list[str]:
    """Return the names of settings for a graph break: those of its kind, otherwise those in torch's hints."""
    ids = [name for name, entry in SETTINGS.items() if graph_break.registry_id in entry.registry_ids]
    if graph_break.registry_id == OF_VALUES and LISTED.search(graph_break.code):
        return [*ids, "capture_scalar_outputs"]
    op = graph_break.context
    if graph_break.registry_id == OF_SIZES and op.startswith("aten.") and not WITH_SYMBOLS.match(op):
        return []
    named = [name for hint in graph_break.hints for name in NAMED.findall(hint) if name in SETTINGS]
    return ids or list(dict.fromkeys(named))


def dynamo_settings(names: tuple[str, ...]) -> dict[str, bool]:
    """Return names of settings with their values, as in a job."""
    return {name: SETTINGS[name].value for name in names}


@dataclass(frozen=True, slots=True)
class Proposal:
    """The same job with changed options, or with repairs of its code.

    `job` has fields of `CompileJob`, `compile` fields of its `CompileOptions`, `dynamo` names of
    `torch._dynamo.config`, added to those of the job. `repairs` are ids, applied in one step. `words` is the change as
    handwritten code.
    """

    words: str
    job: Mapping[str, Any] = field(default_factory=dict)
    compile: Mapping[str, Any] = field(default_factory=dict)
    dynamo: Mapping[str, bool] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Text that is equal for equal changes, no matter which page proposes them."""
        parts = (("job", self.job), ("compile", self.compile), ("dynamo", self.dynamo))
        changes = (f"{name}.{key}={value!r}" for name, values in parts for key, value in sorted(values.items()))
        return " ".join([*sorted(self.repairs), *changes])

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the repairs, also of those that only set a name of Dynamo's."""
        return (*self.repairs, *(f"setting:{name}" for name in self.dynamo if name in SETTINGS))

    @property
    def is_dynamic(self) -> bool:
        """True for `dynamic=True`."""
        return self.compile.get("dynamic") is True

    def applied(self, job: CompileJob) -> CompileJob:
        """Return the job with this change."""
        dynamo = {**(job.conditions.dynamo or {}), **self.dynamo} or None
        settled = job.with_settings(**self.compile) if self.compile else job
        changed = replace(settled, conditions=replace(job.conditions, dynamo=dynamo), **self.job)
        return replace(changed, repairs=(*job.repairs, self.repairs)) if self.repairs else changed


def with_options(options: Mapping[str, Any]) -> Proposal:
    """Return options of Inductor as a proposal; torch.compile takes no mode beside them."""
    return Proposal(f"torch.compile(model, options={dict(options)!r})", compile={"options": {**options}, "mode": None})


DYNAMIC_SIZES = Proposal("torch.compile(model, dynamic=True)", compile={"dynamic": True})


def proposal_of(repairs: Sequence[Repair]) -> Proposal:
    """Return repairs of one file as a proposal: edits are one step, settings of Dynamo are in `dynamo`."""
    names = tuple(name for repair in repairs for name in repair.fix.settings)
    edits = tuple(repair.id for repair in repairs if repair.fix.edits)
    return Proposal("; ".join(repair.fix.words for repair in repairs), dynamo=dynamo_settings(names), repairs=edits)


def joined(changes: Sequence[Proposal]) -> Proposal:
    """Return several changes as one."""
    return Proposal(
        "; ".join(change.words for change in changes),
        {name: value for change in changes for name, value in change.job.items()},
        {name: value for change in changes for name, value in change.compile.items()},
        {name: value for change in changes for name, value in change.dynamo.items()},
        tuple(each for change in changes for each in change.repairs),
    )
