"""A comparison bit by bit with another configuration, in words; names and code are in backticks."""

from __future__ import annotations

from core.base.words import agree, count, number
from core.job.text import options_as_text
from core.report import BitComparison, NodeBits

NAMED = 3


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
    names = ", ".join(f"`{_quoted(name)}`" for name in bits.unmatched[:NAMED])
    more = f" and {number(len(bits.unmatched) - NAMED)} more" if len(bits.unmatched) > NAMED else ""
    written = f" Only one configuration writes {names}{more}." if names else ""
    large = f" {count(bits.too_large, 'value')} too large to compare." if bits.too_large else ""
    return f"{written}{large}"


def _quoted(text: str) -> str:
    return text.replace("`", "'")
