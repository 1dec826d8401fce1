"""A side of a comparison of two runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.report import Compilation, FxGraph, FxNode, Payload, Report

Read = Callable[[Payload], str]
ReadGraph = Callable[[Compilation, FxGraph], tuple[FxNode, ...]]


@dataclass(frozen=True, slots=True)
class RunSide:
    """A report, with readers for the texts and graphs of its log."""

    report: Report
    text: Read
    nodes: ReadGraph
