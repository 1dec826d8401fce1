"""Sentences are made in core/views: pages make widgets, analysis values, and commands prints.

`LEFT` has what core/analysis and core/commands still make. It may only shrink: a number that is too high fails, too.
"""

import ast
import re
from collections.abc import Iterator
from textwrap import dedent

from pages.menu import PAGES
from tests.support.imports import FILES, offending, tree_of

PARTS = [name for name in FILES if name.startswith("pages/parts/")]
SCRIPTS = [f"pages/{page.script}" for page in PAGES.values()]
# What is no prose in a text: tags and styles of HTML, code, icons, and words that a hyphen or a dot joins to a value.
NO_PROSE = re.compile(r"<[^>]*>|`[^`]*`|:material/\w+:|[\w-]+:[\w.%#\0-]+;?")
WORD = re.compile(r"[(“\"'*]*[A-Za-z][a-z’']*[)”\"'*.,;:…?!]*")
VALUE = "\0"
# Functions that make words agree with a number.
PLURALS = {"count", "agree", "fmt.count", "fmt.agree"}
FEW_WORDS = 5
# What writes a text on the page. The first argument of any other call, and its `label`, is the label of a widget.
WRITERS = {"caption", "error", "info", "markdown", "success", "text", "title", "toast", "warning", "write"}
MOST_LABEL_WORDS = 7


def words(text: str) -> int:
    """Return the number of words of prose in a text."""
    return sum(WORD.fullmatch(each) is not None for each in NO_PROSE.sub(" ", text).split())


def is_sentence(text: str) -> bool:
    """Return True for five words or more after a capital letter, and for words with a full stop."""
    text = text.strip()
    count = words(text)
    return (count >= FEW_WORDS and text[0].isupper()) or (count >= 2 and text.endswith("."))


def composed(node: ast.AST) -> str:
    """Return the text that an f-string, a sum or a format makes, each value as VALUE; empty for any other node."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return VALUE.join(map(literal, (node.left, node.right)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "join"):
        return literal(node.func.value)
    return ""


def literal(node: ast.AST) -> str:
    """Return a literal text, or the text that a node makes."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else composed(node)


def labels(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the label of a widget, if a call draws one and the label has few words and no full stop."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] not in WRITERS:
        named = [keyword.value for keyword in node.keywords if keyword.arg == "label"]
        for label in (*node.args[:1], *named):
            if words(literal(label)) <= MOST_LABEL_WORDS and not literal(label).endswith("."):
                yield label


def compositions(tree: ast.Module) -> Iterator[int]:
    """Yield the line of each text that a file makes of words and values, or with a plural."""
    for node in ast.walk(tree):
        if words(composed(node)) >= 2 or (isinstance(node, ast.Call) and ast.unparse(node.func) in PLURALS):
            yield node.lineno  # type: ignore[attr-defined]


def sentences(tree: ast.Module) -> Iterator[int]:
    """Yield the line of each sentence that a file makes: composed of words and values, literal, or with a plural."""
    yield from compositions(tree)
    nodes = list(ast.walk(tree))
    excepted: set[ast.AST] = {node.value for node in nodes if isinstance(node, ast.Expr)}
    excepted.update(label for node in nodes for label in labels(node))
    literals = (node for node in nodes if isinstance(node, ast.Constant) and node not in excepted)
    yield from (node.lineno for node in literals if isinstance(node.value, str) and is_sentence(node.value))


def lines_of(name: str) -> list[int]:
    """Return the lines of a file that make a sentence."""
    return sorted(set(sentences(tree_of(name))))


def test_parts_of_pages_make_no_sentences() -> None:
    assert offending(PARTS, lines_of) == {}


def test_scripts_of_pages_compose_no_text() -> None:
    assert offending(SCRIPTS, lambda name: sorted(compositions(tree_of(name)))) == {}


# File of core/analysis or core/commands → lines that make a sentence.
LEFT: dict[str, int] = {
    "core/analysis/backend.py": 4,
    "core/analysis/budget.py": 11,
    "core/analysis/comparison/figures.py": 3,
    "core/analysis/comparison/matching.py": 1,
    "core/analysis/comparison/run.py": 1,
    "core/analysis/dynamo/costs.py": 8,
    "core/analysis/dynamo/compilations.py": 1,
    "core/analysis/dynamo/failures.py": 3,
    "core/analysis/findings/answers.py": 33,
    "core/analysis/findings/break_advice.py": 29,
    "core/analysis/findings/calls.py": 43,
    "core/analysis/findings/dynamo.py": 23,
    "core/analysis/findings/errors.py": 11,
    "core/analysis/findings/kernels.py": 39,
    "core/analysis/findings/number_advice.py": 23,
    "core/analysis/kernels/kernel.py": 4,
    "core/analysis/numerics.py": 28,
    "core/analysis/ranks/differences.py": 2,
    "core/analysis/repairs/calls.py": 26,
    "core/analysis/repairs/choices.py": 16,
    "core/analysis/repairs/offers.py": 3,
    "core/analysis/repairs/recompiles.py": 19,
    "core/analysis/repairs/source.py": 1,
    "core/analysis/repairs/trials.py": 11,
    "core/analysis/results.py": 8,
    "core/analysis/speed.py": 2,
    "core/analysis/verdict.py": 2,
    "core/analysis/work.py": 7,
    "core/commands/export.py": 4,
    "core/commands/main.py": 8,
    "core/commands/open_log.py": 8,
    "core/commands/output.py": 6,
    "core/commands/products.py": 1,
    "core/commands/report.py": 3,
    "core/commands/run.py": 1,
    "core/commands/runs.py": 6,
    "core/commands/seeds.py": 7,
    "core/commands/summary.py": 3,
    "core/commands/tour.py": 2,
}
LAYERS_WITHOUT_SENTENCES = ("core/analysis/", "core/commands/")


def test_analysis_and_commands_make_no_more_sentences_than_are_left() -> None:
    made = {name: len(lines_of(name)) for name in FILES if name.startswith(LAYERS_WITHOUT_SENTENCES)}
    assert {name: lines for name, lines in made.items() if lines} == LEFT


def planted(code: str) -> list[int]:
    return sorted(set(sentences(ast.parse(dedent(code)))))


def test_a_sentence_in_a_part_of_a_page_is_noticed() -> None:
    code = '''
    """This is a docstring, which may be a sentence."""
    st.caption("No graph has a collective.")
    st.caption(f"{noun} was not recorded")
    st.caption("Kernels of " + noun + " with times")
    st.caption("The owner sees every {}".format(noun))
    st.button("Delete", help="Time above what the roofline allows, over all calls")
    st.caption(fmt.count(3, "run"))
    st.caption(" and these are ".join(names))
    '''
    assert planted(code) == [3, 4, 5, 6, 7, 8, 9]


def test_labels_keys_and_html_are_no_sentences() -> None:
    code = """
    st.button("Show as", key=f"show-{run.id}-whole-{kernel}", icon=":material/check:")
    st.html(f'<div role="img" aria-label="{name}" style="display: flex; gap: 2px 16px">{words}</div>')
    st.markdown(f":material/lightbulb: **{title}** {text}")
    st.caption(f"{value} ({unit})")
    st.text_input("Path", placeholder="/home/me/model.py, /home/me/model.py:name")
    st.page_link(page.script, label="Open the run of the same job")
    """
    assert planted(code) == []
