"""Accuracy of compiled and eager results in words: float64 comparison, bit comparison, bisection.

There are verdicts on a value, on a call's outputs, gradients and state, and on a graph. A graph's verdict
names its first node that is less accurate than in eager. Names and code are in backticks.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from core.base.words import agree, count, duration_s, number, ordinal
from core.report import Accuracy, Bisection, BitComparison, GraphNumerics, NodeAccuracy, NodeBits, Report

Standing = Literal["the same bits", "closer", "as close", "further", "differs", "not told"]
# Errors less than this factor apart count as equal: the order of a sum alone can cause it.
CLEAR = 1.25
GraphStanding = Literal["not compared", "not told", "as right as eager", "differs", "first to differ"]
# Accuracy classes of nodes, the least informative first.
STANDINGS: tuple[GraphStanding, ...] = get_args(GraphStanding)
NAMED = 300
DIFFERS = "differs"
ALLOWED, EXPLAINED = "within what its dtype allows", "as far as rounding explains"


def standing(accuracy: Accuracy) -> Standing:
    """Return the accuracy class; `differs` is further from float64 than rounding explains."""
    if accuracy.same is False:
        return "differs"
    if accuracy.apart == 0 and accuracy.same:
        return "the same bits"
    errors = both_errors(accuracy)
    if accuracy.same is None or errors is None:
        return "not told"
    if accuracy.eager_odd != accuracy.compiled_odd:
        return "closer" if accuracy.compiled_odd < accuracy.eager_odd else "further"
    eager, compiled = errors
    if compiled * CLEAR < eager:
        return "closer"
    return "further" if compiled > eager * CLEAR else "as close"


def both_errors(accuracy: Accuracy) -> tuple[float, float] | None:
    """Return eager's and compiled's errors, absolute if float64 has zeros only; None if it is unknown."""
    if accuracy.eager_error is not None and accuracy.compiled_error is not None:
        return accuracy.eager_error, accuracy.compiled_error
    if accuracy.eager_max_abs is not None and accuracy.compiled_max_abs is not None:
        return accuracy.eager_max_abs, accuracy.compiled_max_abs
    return None


def of_tolerance(accuracy: Accuracy) -> float | None:
    """Return compiled's error as a fraction of the dtype's tolerance; None if one of the two is unknown."""
    if accuracy.compiled_error is None or not accuracy.tolerance:
        return None
    return accuracy.compiled_error / accuracy.tolerance


@dataclass(frozen=True, slots=True)
class ResultStanding:
    """A result of a call, and its accuracy compared with float64."""

    call: int
    what: str
    accuracy: Accuracy
    standing: Standing


@dataclass(frozen=True, slots=True)
class Numerics:
    """Results of a run, reasons for results without a float64 comparison, and ops without float64 support."""

    results: tuple[ResultStanding, ...]
    reasons: tuple[str, ...]
    narrowed: tuple[str, ...] = ()

    @property
    def told(self) -> tuple[ResultStanding, ...]:
        """Results that could be compared."""
        return tuple(result for result in self.results if result.standing != "not told")

    @property
    def worst(self) -> ResultStanding | None:
        """Result with the largest error of compiled, among differing results if any; None without results."""
        differing = [result for result in self.told if result.standing == "differs"]
        return max(differing or self.told, key=lambda result: (both_errors(result.accuracy) or (0, 0))[1], default=None)


def numerics(report: Report) -> Numerics | None:
    """Return the results of a run compared with float64; None if not recorded."""
    if not report.call_numerics:
        return None
    reasons = dict.fromkeys(call.reason for call in report.call_numerics if call.reason)
    narrowed = dict.fromkeys(name for call in report.call_numerics for name in call.narrowed)
    return Numerics(tuple(result_standings(report)), tuple(reasons), tuple(narrowed))


def result_standings(report: Report) -> list[ResultStanding]:
    """Return the accuracy of every result of every call."""
    return [
        ResultStanding(call.call, result.what, result.accuracy, standing(result.accuracy))
        for call in report.call_numerics
        for result in call.results
    ]


def numerics_sentence(accuracies: Numerics) -> str:
    """Return whether compiled is as accurate as eager, in a sentence with numbers."""
    counts = Counter(result.standing for result in accuracies.told)
    worst = accuracies.worst
    if worst is None:
        reason = accuracies.reasons[0] if accuracies.reasons else "nothing was compared"
        return f"The accuracy of the results is unknown: {reason}."
    if counts["differs"]:
        rest = f", and {number(counts['differs'] - 1)} more" if counts["differs"] > 1 else ""
        return f"Compiled is wrong in {worst.what}{rest}: {error_words(worst.accuracy)}."
    if counts["the same bits"] == len(accuracies.told):
        return f"Compiled gives the same bits as eager: {_largest_error_words(accuracies.told)}."
    excused = any(result.accuracy.reason for result in accuracies.told if result.standing == "further")
    words = _accuracy_words(counts, len(accuracies.told), EXPLAINED if excused else ALLOWED)
    return f"{words}: {_largest_error_words(accuracies.told)}."


def error_words(accuracy: Accuracy) -> str:
    """Return both errors against float64 in words, or the reason why the errors are unknown."""
    errors = both_errors(accuracy)
    if errors is None:
        return accuracy.reason or "not known in float64"
    odd = (
        f"{count(accuracy.compiled_odd, 'element')} NaN or infinite, "
        if accuracy.compiled_odd > accuracy.eager_odd
        else ""
    )
    eager, compiled = map(number, errors)
    if accuracy.eager_error is None or accuracy.compiled_error is None:
        return f"{odd}off by up to {compiled} where float64 has zeros, eager by {eager}"
    return f"{odd}off by {compiled} of the norm in float64, eager by {eager}"


def _accuracy_words(counts: Counter[Standing], compared: int, limit: str) -> str:
    closer, further = counts["closer"], counts["further"]
    if closer and not further:
        return "Compiled is closer to float64 than eager" + (
            "" if closer == compared else f" in {number(closer)} of {count(compared, 'result')}"
        )
    if further and not closer:
        where = "" if further == compared else f" in {number(further)} of {count(compared, 'result')}"
        return f"Compiled is further from float64 than eager{where}, {limit}"
    if closer:
        nearer = f"{number(closer)} {agree(closer, 'is', 'are')} closer to float64 than eager"
        return f"Of {count(compared, 'result')} {nearer}, {number(further)} further"
    return "Compiled is as close to float64 as eager"


def _largest_error_words(results: Sequence[ResultStanding]) -> str:
    """Return the largest error of each side."""
    eager = [result.accuracy.eager_error for result in results if result.accuracy.eager_error is not None]
    compiled = [result.accuracy.compiled_error for result in results if result.accuracy.compiled_error is not None]
    if not eager or not compiled:
        return "their distance from float64 is unknown"
    if eager == compiled:
        return f"both are off by at most {number(max(eager))} of the norm in float64"
    return f"off by at most {number(max(compiled))} of the norm in float64, eager by {number(max(eager))}"


def numerics_of(report: Report, compilation: str) -> GraphNumerics | None:
    """Return the node accuracies of a compilation's graph; None if not recorded."""
    return next((graph for graph in report.graph_numerics if graph.compilation == compilation), None)


def first_inaccurate(graph: GraphNumerics) -> NodeAccuracy | None:
    """Return the first executed node that is less accurate in compiled than in eager; None if none is."""
    return next((node for node in graph.nodes if node.accuracy is not None and node.accuracy.same is False), None)


def node_standings(graph: GraphNumerics) -> dict[str, GraphStanding]:
    """Return node name → accuracy class."""
    first = first_inaccurate(graph)
    return {node.name: "first to differ" if node is first else _accuracy_class(node) for node in graph.nodes}


def node_errors(graph: GraphNumerics) -> dict[str, float]:
    """Return node name → compiled error against float64, for nodes with a known error."""
    return {
        node.name: node.accuracy.compiled_error
        for node in graph.nodes
        if node.accuracy is not None and node.accuracy.compiled_error is not None
    }


def _accuracy_class(node: NodeAccuracy) -> GraphStanding:
    if node.accuracy is None:
        return "not compared"
    if node.accuracy.same is None:
        return "not told"
    return "as right as eager" if node.accuracy.same else "differs"


def bisection_words(bisection: Bisection) -> str:
    """Return the part at fault in a sentence, with the number of trials; names are in backticks."""
    trials = f"{count(bisection.trials, 'trial')} in {duration_s(bisection.seconds)}"
    return f"{_cause(bisection)} (torch's CompilerBisector, {trials})." if bisection.trials else f"{_cause(bisection)}."


def _cause(bisection: Bisection) -> str:
    what = " ".join(bisection.what.replace("`", "'").split())[:NAMED]
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


def cure_words(bisection: Bisection) -> str:
    """Return the options with which a trial gave eager's results; empty if none did."""
    return f"With `options={bisection.mitigation}`, all results equal eager's." if bisection.mitigation else ""


def minified_words(bisection: Bisection) -> str:
    """Return the result of torch's minifier, or why there is none; empty if it was not needed."""
    if not bisection.script:
        return f"No minified script: {bisection.not_minified}." if bisection.not_minified else ""
    what = "gives other results than eager" if bisection.outcome == DIFFERS else f"raises `{bisection.outcome}`"
    left = f"Torch's minifier left {number(bisection.ops)} of {count(bisection.captured_ops, 'op')}"
    alone = "" if bisection.reproduces else "; the script, run by Python alone, does not"
    return f"{left}: that graph {what}{alone}."


def nan_words(bisection: Bisection) -> str:
    """Return a sentence about the first node that makes a NaN in eager; empty if there is none."""
    if not bisection.nan_node:
        return ""
    line = f", {bisection.nan_line.replace('`', chr(39))}" if bisection.nan_line else ""
    return f"In eager, the first node that makes a NaN is `{bisection.nan_node.replace('`', chr(39))}`{line}."


def first_difference(bits: BitComparison) -> NodeBits | None:
    """Return the first value whose kernel makes a difference, otherwise the first differing, or None."""
    sources = (node for node in bits.nodes if node.source)
    return next(sources, next(iter(bits.nodes), None))
