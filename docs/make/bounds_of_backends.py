"""Bounds of backends, accelerator programs and packages: file → constant → the bounded thing."""

from __future__ import annotations

PACKAGES: dict[str, dict[str, str]] = {
    "core/trace/parsers/worker.py": {
        "MOST_NAME_CHARS": "the name of a text that belongs to a package",
        "MOST_LOG_NAMES": "names that the messages of a record of torch's log are counted by",
        "MOST_TOLD_ROWS": "rows of a table that a backend reported",
        "MOST_TOLD_COLUMNS": "columns of such a table",
        "MOST_CELL_CHARS": "characters of a cell, or of a title, that a backend reported",
    },
    "core/analysis/aoti.py": {
        "MOST_LINES": "lines of a message about a package on the command line",
        "MOST_DEEP": "folders of a package in one another that are distinguished",
        "LONGEST_SAID": "characters of the first line of what torch said of a package",
    },
    "core/worker/aoti/exporting.py": {
        "MOST_FILES": "files of a package",
        "MOST_TEXT_BYTES": "a text in a package",
        "MOST_TEXTS_BYTES": "all texts of a package",
        "MOST_NAME_CHARS": "a name in a package",
        "MOST_METADATA": "entries of a package's metadata",
        "MOST_VALUE_CHARS": "the value of one",
        "MOST_VALUES": "inputs and outputs of an exported program",
        "MOST_LINES": "its ranges, and its guards",
        "MOST_CHARS": "one of them",
        "MOST_PROBLEM_CHARS": "why there is no program, or no package",
    },
    "core/worker/aoti/stage.py": {
        "MOST_KEPT_BYTES": "a package that is kept with its run",
        "MOST_TEXT_CHARS": "a text of a package in the log",
        "MOST_TRIALS": "sizes that dynamic dimensions are tried with",
        "MOST_TRIED_BYTES": "inputs of such a call",
        "MOST_SAID_CHARS": "characters of the answer to one call",
    },
    "core/worker/aoti/running.py": {
        "MOST_SAID_CHARS": "what the compiler says where the C++ program cannot be built",
        "MOST_PRINTED_CHARS": "what the C++ program prints",
        "MOST_LINES": "its last lines",
        "MOST_TENSORS": "tensors of a file for C++",
        "MOST_RANK": "dimensions of one",
        "MOST_TENSOR_BYTES": "bytes of one",
    },
    "core/code/torch_source.py": {
        "MOST_LINES": "lines of a function of torch that are shown",
        "MOST_FILE_BYTES": "a file of torch in which a function is looked up",
    },
    "core/worker/capture.py": {
        "MOST_REASONS": "break reasons of `torch._dynamo.explain`",
        "MAX_TEXT_CHARS": "the text of a captured graph in the log",
    },
    "core/views/capture.py": {
        "MOST_DRAWN": "nodes of all captures together that are drawn",
        "MOST_LINES": "lines of the user's file beside their nodes",
    },
    "core/views/aotinductor/run.py": {
        "MOST_OFFERED": "dimensions of the inputs that are offered to be dynamic",
        "MOST_SOURCES": "sources of the program that runs a package",
    },
    "core/views/aotinductor/package.py": {
        "MOST_VALUES": "inputs and outputs of an exported program",
        "MOST_LINES": "checks of an exported program",
        "MOST_SHOWN": "dynamic dimensions, their ranges, and calls at their ends",
        "MOST_FILES": "files of a package",
        "MOST_METADATA": "lines of its metadata",
        "MOST_RESULTS": "outputs of a package",
    },
    "pages/parts/aotinductor/panels.py": {"MOST_SIZE": "a bound of a dynamic dimension"},
    "pages/session/downloads.py": {"MOST_DOWNLOADED_BYTES": "a package that the page offers to download"},
}

BACKENDS: dict[str, dict[str, str]] = {
    "core/worker/backends/watch.py": {
        "MOST_NODES": "nodes of a graph that a backend received",
        "MOST_VALUES": "example inputs, arguments or results of a backend that are recorded",
        "MOST_TEXT_CHARS": "characters of a node's arguments, a value or a problem of a backend",
        "MOST_USERS": "users of a node that a backend received",
        "MOST_CODE_CHARS": "characters of the code of a graph that a backend received",
        "MOST_EXECUTIONS": "executions of a compilation that are recorded in full; all are counted",
        "MOST_COMPILATIONS": "compilations whose executions are watched",
        "MOST_PROBLEM_CHARS": "characters of what a backend raised",
    },
    "core/worker/backends/selection.py": {
        "MOST_NAMED": "functions of a file that are named where a backend is not found"
    },
    "core/job/options/call.py": {
        "LONGEST_REGION_NAME": "characters of the name of a compiled region",
        "MOST_RECOMPILES": "the recompile limit of a call of torch.compile",
    },
    "core/runs/progress.py": {"MAX_SEARCHED_BYTES": "a log that is searched for the kernel of a crash"},
    "core/worker/recorders/logs.py": {
        "MAX_FILE_CHARS": "characters of a debug file in the log",
        "MAX_RECORD_BYTES": "bytes of torch's log in one record",
        "MAX_RECORD_S": "seconds until messages of torch's log are in the run's log",
        "MAX_LOG_BYTES": "bytes of torch's log that a run records; later messages are left out, and a note says so",
    },
    "core/worker/bisection.py": {
        "MAX_SCRIPT_CHARS": "characters of a minified script; of a longer one only the reason is recorded",
        "MAX_NAN_LINE_CHARS": "characters of the node that makes the first NaN, and of its line",
        "MOST_INLINE": "elements of an input whose values stand in a minified script that random ones do not reproduce",
        "MAX_WHAT_CHARS": "characters of what the bisector names, or of its error",
    },
    "core/views/sharing.py": {
        "MAX_PART_CHARS": "characters of the script and of the error in a bug report, each",
        "MAX_LOG_BYTES": "a log that is in the ZIP of a bug report",
    },
    "core/worker/bits/compare.py": {
        "MAX_STORED_BYTES": "bytes of values of the other configuration that are stored",
        "MOST_NODES": "values with other bits that are listed",
        "MAX_LINE_CHARS": "characters of the line of a value",
    },
    "core/trace/profile.py": {
        "MOST_PROFILE_BYTES": "a profile by torch.profiler",
        "MOST_EVENT_BYTES": "an event of a profile",
        "MOST_EVENTS": "events of a profile",
        "MOST_DAMAGED": "damaged events of a profile, after which it is not read further",
        "MOST_SPLIT_BYTES": "what is split event by event, because a part of it cannot be decoded",
        "MOST_OPS": "ops of the host that are kept of a profile",
        "MOST_OTHERS": "other slices that are kept of a profile",
        "MOST_TRACKS": "tracks of a profile",
        "MOST_NAMES": "names of slices of a profile",
        "MOST_NAME_CHARS": "characters of the name of a slice",
        "MOST_US": "a time in a profile, in microseconds",
    },
    "core/views/timeline.py": {
        "MOST_ROWS": "kernels of a profile, or names of its slices, in a table",
        "MOST_TEXT_CHARS": "characters of a selected area in the URL",
    },
    "core/worker/measuring/profiler.py": {
        "MOST_CALLS": "calls of a run that its own profile has",
        "MOST_EVENTS": "events of a run's own profile, by those of its first call",
        "MOST_FILE_BYTES": "a run's own profile before compression",
    },
    "core/views/artifacts.py": {
        "MOST_SHOWN": "records of a log on a page of the table",
        "MOST_HITS": "records that a search finds",
        "MOST_SEARCHED_BYTES": "records of a log that are searched",
        "MAX_SHOWN_CHARS": "characters of a record that are shown; the download has all",
        "MAX_HEADER_BYTES": "the header of a record that is shown",
        "MOST_TABLE_ROWS": "objects of a record in a table",
        "MOST_HEX_BYTES": "bytes of a record that is no text",
        "MOST_NOT_TEXT": "characters for each one that no text has, so that a record is shown as bytes",
    },
    "core/views/texts.py": {
        "MOST_SHOWN": "messages of torch's log in a table; the download has all",
        "MAX_MESSAGE_CHARS": "characters of one message; the download has all",
    },
    "core/job/options/run.py": {"MOST_LOGS": "names of TORCH_LOGS in a job"},
    "core/job/checks.py": {"MAX_SETTINGS": "settings of the other configuration of a comparison bit by bit"},
    "core/worker/config.py": {
        "MOST_NEAR": "names that are proposed for a wrong name of an option",
        "LONGEST_VALUE": "characters of the value of an option of torch",
    },
    "core/code/torch_source.py": {"MOST_USES": "lines of torch that read an option"},
    "core/analysis/backend.py": {
        "MOST_PROBLEM_CHARS": "what was wrong with a backend in a sentence",
        "MOST_LINES": "compilations, calls, problems or tables of a backend that the command line tells",
    },
    "core/accelerator/program/file.py": {
        "MOST_CHECKED_BYTES": "a section of a program whose checksum is made again when it is shown",
        "MOST_TABLE_BYTES": "a section of a program that is listed record by record",
        "MOST_C_BYTES": "a program as C that is read",
    },
    "core/accelerator/program/dump.py": {
        "MOST_ROWS": "rows of sixteen bytes of a program that are shown at once",
        "LONGEST_WORDS": "characters of the description of a row",
    },
    "core/accelerator/backend.py": {"MOST_WRITTEN_AS_C_BYTES": "a program that is written as C, too"},
    "core/accelerator/program/program.py": {"MAX_RANK": "dimensions of a tensor in the accelerator's programs"},
    "core/accelerator/library.py": {"MOST_AT_ONCE": "files of the runtime that are compiled at once"},
    "core/accelerator/segment.py": {"MOST_PROGRAMS": "sets of sizes that have a program, of one segment"},
    "core/graph/overlays.py": {"MOST_TOLD_OVERLAYS": "tables of a backend that are painted onto a graph"},
    "core/views/neighbours.py": {
        "MOST_NEIGHBOURS": "neighbours in the table",
        "MOST_FUNCTIONS": "functions of MLX that are listed",
        "MOST_NODES": "primitives of a lazy graph that are drawn",
        "LONGEST_BOX": "characters of a primitive's name in the drawing",
    },
    "core/views/accelerator/run.py": {
        "MOST_NAMES": "nodes that are named for one reason",
        "MOST_COMPILATIONS": "other compilations that a page without a graph names",
    },
    "core/views/accelerator/program.py": {
        "MOST_ENTRIES": "instructions of a program in its table",
        "MOST_BUFFERS": "buffers of a program in their table",
        "MOST_DRAWN": "temporaries that are drawn",
    },
    "pages/parts/accelerator/program.py": {"MOST_NAMED": "ticks of an axis"},
    "pages/parts/accelerator/panels.py": {"LARGEST_DOWNLOAD_BYTES": "a program that the page gives out"},
    "pages/parts/backends/panes.py": {"MOST_IN_LEGEND": "calls that the chart of executions names"},
    "core/views/backend/compilation.py": {
        "MOST_NODES": "nodes of a graph that a backend received",
        "MOST_ANNOTATIONS": "tables, and texts, of a backend that can be chosen",
    },
    "core/views/backend/run.py": {"MOST_PROBLEMS": "problems of a backend that are listed"},
}
