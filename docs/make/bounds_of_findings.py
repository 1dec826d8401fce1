"""Bounds of findings, printed text and remarks on a model's file, for `docs.make.bounds`."""

FINDINGS: dict[str, dict[str, str]] = {
    "core/analysis/findings/answers.py": {
        "MOST_PLACES": "lines of the model's file that one finding names",
        "MOST_NAMES": "logs that one `set_logs` call names",
    },
    "core/analysis/findings/calls.py": {
        "MOST": "findings of printed lines",
        "MOST_LINES": "different lines of a run's output",
        "LONGEST_LINE": "characters of one of them",
    },
    "core/trace/parsers/worker.py": {
        "MOST_REMARKS": "remarks on a file of the model",
        "LONGEST_LINE": "characters of a line that a remark quotes",
    },
    "core/worker/backends/selection.py": {"MOST_KEYS": "compiled parts of a model that a note names"},
    "core/worker/results/effects.py": {"MAX_CHARS": "printed text of a call that is compared, of each stream"},
    "pages/parts/graphs/drawn.py": {"MOST_OPS": "ops of a graph that the overview draws"},
    "pages/parts/run/outcome.py": {"MOST_OUTPUT_BYTES": "a run's output that the overview reads"},
}
