"""Results of torch's CompilerBisector and of comparisons bit by bit in words; names and code are in backticks."""

from __future__ import annotations

from core.base.words import agree, count, duration_s, number, ordinal
from core.job.text import options_as_text
from core.report import Bisection, BitComparison, NodeBits

NAMED = 300
DIFFERS = "differs"
LOWERINGS = "lowerings"


def bisection_words(bisection: Bisection) -> str:
    """Return the part at fault in a sentence, with the number of trials; names are in backticks."""
    trials = f"{count(bisection.trials, 'trial')} in {duration_s(bisection.seconds)}"
    return f"{_cause(bisection)} (torch's CompilerBisector, {trials})." if bisection.trials else f"{_cause(bisection)}."


def _cause(bisection: Bisection) -> str:
    what = _named(bisection.what)
    if bisection.problem:
        return f"The cause was not narrowed down: {bisection.problem}"
    if not bisection.backend:
        return "No backend that torch's bisector tries fails or differs"
    if not bisection.subsystem:
        return f"`{bisection.backend}` is the first backend that fails or differs; no single part of it is the cause"
    if bisection.application is None:
        return f"With `{what}`, the model neither fails nor differs"
    where = f"the {ordinal(bisection.application + 1)} application of `{bisection.subsystem}` in `{bisection.backend}`"
    return f"The cause is {where}{what and f': `{what}`'}"


def opaque_words(bisection: Bisection) -> str:
    """Return how to keep Inductor from a lowering at fault, in a sentence; empty for another cause."""
    if bisection.subsystem != LOWERINGS or not bisection.what:
        return ""
    node = _named(bisection.what)
    return f"Until it is fixed: Inductor does not lower an op inside `torch.library.custom_op`; put `{node}` into one."


def _named(what: str) -> str:
    """Return what the bisector names in one line that stands in backticks."""
    return " ".join(what.replace("`", "'").split())[:NAMED]


def minified_words(bisection: Bisection) -> str:
    """Return what torch's minifier left, in a sentence; empty if it had nothing to do."""
    if not bisection.script:
        return f"No minified script: {bisection.not_minified}." if bisection.not_minified else ""
    what = "gives other results than eager" if bisection.outcome == DIFFERS else f"raises `{bisection.outcome}`"
    left = f"Torch's minifier left {number(bisection.ops)} of {count(bisection.captured_ops, 'op')}"
    alone = "" if bisection.reproduces else "; the script, run by Python alone, does not"
    return f"{left}: that graph {what}{alone}."


def nan_words(bisection: Bisection) -> str:
    """Return the first node that makes a NaN in a sentence; empty if there is none."""
    if not bisection.nan_node:
        return ""
    line = f", {bisection.nan_line.replace('`', chr(39))}" if bisection.nan_line else ""
    return f"In eager, the first node that makes a NaN is `{bisection.nan_node.replace('`', chr(39))}`{line}."


NAMED_SETTINGS = 3


def bits_words(bits: BitComparison) -> str:
    """Return the first value whose bits differ, with the reason, in a few sentences."""
    against = f"`{options_as_text(bits.changes)}`"
    if bits.problem:
        return f"Not compared bit by bit with {against}: {bits.problem}."
    values = count(bits.compared, "value")
    if not bits.different:
        return f"Equal bit by bit with {against}: {values} written by kernels compared.{_left_out(bits)}"
    first = first_difference(bits)
    differing = f"{number(bits.different)} of {values} {agree(bits.different, 'has', 'have')} other bits"
    return f"With {against}, {differing}. {_first_words(first) if first else ''}{_left_out(bits)}"


def first_difference(bits: BitComparison) -> NodeBits | None:
    """Return the first value whose kernel reads equal bits and writes others, else the first that differs."""
    sources = (node for node in bits.nodes if node.source)
    return next(sources, next(iter(bits.nodes), None))


def _first_words(node: NodeBits) -> str:
    line = f" (`{_quoted(node.line)}`)" if node.line else ""
    kernel = f"`{_quoted(node.kernel)}`"
    if node.kernel != node.other_kernel:
        kernel = f"{kernel} and `{_quoted(node.other_kernel)}`"
    begins = "They first differ" if node.source else "The first in order is"
    reason = f": {node.reason}" if node.reason else ", for an unknown reason" if node.source else ""
    return f"{begins} at `{_quoted(node.node)}`{line}, written by {kernel}{reason}."


def _left_out(bits: BitComparison) -> str:
    """Return the values that were not compared."""
    names = ", ".join(f"`{_quoted(name)}`" for name in bits.unmatched[:NAMED_SETTINGS])
    more = f" and {number(len(bits.unmatched) - NAMED_SETTINGS)} more" if len(bits.unmatched) > NAMED_SETTINGS else ""
    written = f" Only one configuration writes {names}{more}." if names else ""
    large = f" {count(bits.too_large, 'value')} too large to compare." if bits.too_large else ""
    return f"{written}{large}"


def _quoted(text: str) -> str:
    return text.replace("`", "'")
