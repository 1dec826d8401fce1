"""Parsers that turn the records of a log into a Report."""

from core.trace.parsers.build import build_report, load_graph, load_text
from core.trace.parsers.fx_text import parse_graph
from core.trace.parsers.growing import GrowingReport

__all__ = ["GrowingReport", "build_report", "load_graph", "load_text", "parse_graph"]
