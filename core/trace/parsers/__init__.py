"""Parsers that turn the records of a log into a Report."""

from core.trace.parsers.build import GrowingReport, build_in_parts, build_report, load_graph, load_text, outline
from core.trace.parsers.fx_text import parse_graph

__all__ = ["GrowingReport", "build_in_parts", "build_report", "load_graph", "load_text", "outline", "parse_graph"]
