"""Accuracy of one call's results: eager and compiled compared with float64."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from core.report import CallNumerics, Difference, ResultAccuracy
from core.worker.numerics.accuracy import judged_before
from core.worker.results.judge import CallContext, Judge
from core.worker.results.named import Leaves

VALUES = ("value", "mutation")
DRAWS = "the call draws random numbers, and in float64 it may draw others"
NOT_RUN = "the model could not be run in float64"


def call_numerics(
    judge: Judge, call: CallContext, differences: Sequence[Difference], eager: Leaves, compiled: Leaves
) -> CallNumerics:
    """The record of a call whose results were judged."""
    known = {} if call.drew else judge.reference(call.index)
    rows = [
        ResultAccuracy(item.what, judged_before(item, eager[item.what], compiled.get(item.what), known.get(item.what)))
        for item in differences
        if item.kind in VALUES and isinstance(eager.get(item.what), torch.Tensor)
    ]
    refused = f"{NOT_RUN}: {judge.refused}" if judge.refused else NOT_RUN
    reason = DRAWS if call.drew else "" if known else refused
    narrowed = tuple(sorted(judge.float64.narrowed))
    return CallNumerics(call=call.index, results=tuple(rows), reason=reason, narrowed=narrowed)
