"""The bounds of packages of AOTInductor: file → constant → what it bounds."""

from __future__ import annotations

PACKAGES: dict[str, dict[str, str]] = {
    "core/parsers/aoti.py": {"MOST_NAME_CHARS": "the name of a text that belongs to a package"},
    "core/analysis/aoti.py": {"MOST_LINES": "lines of a message about a package on the command line"},
    "core/analysis/packaging.py": {
        "MOST_DEEP": "folders of a package in one another that are told apart",
        "LONGEST_SAID": "characters of the first line of what torch said of a package",
    },
    "core/worker/aoti/archive.py": {
        "MOST_FILES": "files of a package",
        "MOST_TEXT_BYTES": "a text in a package",
        "MOST_TEXTS_BYTES": "all texts of a package",
        "MOST_NAME_CHARS": "a name in a package",
        "MOST_METADATA": "entries of a package's metadata",
        "MOST_VALUE_CHARS": "the value of one",
    },
    "core/worker/aoti/build.py": {"MOST_SAID_CHARS": "what the compiler says where the C++ program cannot be built"},
    "core/worker/aoti/compiling.py": {"MOST_KEPT_BYTES": "a package that is kept with its run"},
    "core/worker/aoti/exporting.py": {
        "MOST_VALUES": "inputs and outputs of an exported program",
        "MOST_LINES": "its ranges, and its guards",
        "MOST_CHARS": "one of them",
        "MOST_PROBLEM_CHARS": "why there is no program, or no package",
    },
    "core/worker/aoti/program.py": {
        "MOST_PRINTED_CHARS": "what the C++ program prints",
        "MOST_LINES": "its last lines",
    },
    "core/worker/aoti/tensors.py": {
        "MOST_TENSORS": "tensors of a file for C++",
        "MOST_RANK": "dimensions of one",
        "MOST_TENSOR_BYTES": "bytes of one",
    },
    "core/worker/aoti/texts.py": {"MOST_TEXT_CHARS": "a text of a package in the log"},
    "core/worker/aoti/trials.py": {
        "MOST_TRIALS": "sizes that dynamic dimensions are tried with",
        "MOST_TRIED_BYTES": "inputs of such a call",
        "MOST_SAID_CHARS": "what is said to one",
    },
    "pages/parts/aotinductor/ask.py": {
        "MOST_OFFERED": "dimensions of the inputs that are offered to be dynamic",
        "MOST_SIZE": "a bound of a dynamic dimension",
    },
    "pages/parts/aotinductor/files.py": {
        "MOST_FILES": "files of a package",
        "MOST_METADATA": "lines of its metadata",
    },
    "pages/parts/aotinductor/panels.py": {
        "MOST_VALUES": "inputs and outputs of an exported program",
        "MOST_LINES": "checks of an exported program",
    },
    "pages/parts/aotinductor/runs.py": {
        "MOST_RESULTS": "outputs of a package",
        "MOST_SOURCES": "sources of the program that runs a package",
    },
    "pages/parts/aotinductor/times.py": {"MOST_SHOWN": "dynamic dimensions, their ranges, and calls at their ends"},
    "pages/session/downloads.py": {"MOST_DOWNLOADED_BYTES": "a package that the page offers to download"},
}
