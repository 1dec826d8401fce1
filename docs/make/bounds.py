"""Bounds of the product, the source of docs/limits.md."""

from __future__ import annotations

from docs.make.bounds_of_backends import BACKENDS, PACKAGES
from docs.make.bounds_of_findings import FINDINGS
from docs.make.bounds_of_pages import PAGES

# Section → file → constant → the bounded thing.
BOUNDS: dict[str, dict[str, dict[str, str]]] = {
    "Files and JSON": {
        "core/base/files.py": {"MOST_BYTES": "a file that is read whole"},
        "core/base/decoder.py": {
            "MOST_BYTES": "a text that is read as JSON",
            "MOST_DEPTH": "lists and objects in one another",
            "MOST_VALUES": "values in one text",
            "LARGEST": "a number; an infinity becomes this one",
        },
        "core/base/remembered.py": {"MOST_REMEMBERED": "results of a function that are remembered, each"},
        "core/base/syntax.py": {
            "MAX_CHARS": "a text that is read as Python",
            "MAX_MARKS": "brackets, operators and other marks of such a text",
            "MAX_STATEMENT_MARKS": "the same of what is parsed in one go: a statement, an expression",
            "MOST_DEPTH": "classes and functions in one another whose statements are parsed apart",
        },
        "core/accelerator/program/file.py": {"MAX_NAME_BYTES": "a name in a program of the accelerator"},
        "core/runs/rank_counts.py": {
            "MOST_COUNTED": "ranks of a followed job whose logs are counted",
            "MOST_NEW_BYTES": "new bytes of a rank's log that are counted at once",
        },
        "core/runs/store.py": {
            "MAX_LOG_BYTES": "a log that is added",
            "MOST_EARLIER": "earlier logs of a directory that become runs",
            "MAX_STATUS_BYTES": "`status.json`",
            "MAX_JOB_BYTES": "`job.json`",
            "MOST_TAIL_BYTES": "the end of what a run printed",
            "MOST_NAME_CHARS": "the name that its owner gives a run",
            "MOST_NOTE_CHARS": "what its owner notes of a run",
            "MOST_TITLE_CHARS": "the title of an opened log, which is its file's name",
        },
        "core/runs/comments.py": {
            "MOST_TAGS": "tags of a run",
            "MOST_TAG_CHARS": "such a tag",
            "MOST_COMMENTS": "comments on a run",
            "MOST_OF_ONE_PERSON": "comments of one person on a run, admins excepted",
            "MOST_NAME_CHARS": "the author and the id of a comment from another server",
            "MOST_FURTHER_OF_ADMINS": "further comments of admins on a run",
            "MOST_AT_A_RATE": "comments of one person on a run in 10 min, admins excepted",
            "MOST_COMMENT_CHARS": "a comment",
            "MOST_PINNED_PARTS": "pinned parts of a run",
            "MOST_PART_CHARS": "the name of a part with comments",
            "MAX_COMMENTS_BYTES": "the file of a run's comments",
        },
        "core/runs/sharing.py": {
            "MOST_TOKEN_CHARS": "the token of a link that previews",
            "MOST_RUNS": "runs of an archive that is written",
            "MOST_AUTHOR_CHARS": "the author of an imported run",
            "MAX_UNPACKED_BYTES": "an archive of runs, unpacked",
        },
        "core/runs/stored.py": {"MAX_SUMMARY_BYTES": "the stored summary of a run"},
        "core/analysis/verdict.py": {
            "MOST_VERSION_CHARS": "torch's version in a summary",
            "MOST_DEVICE_CHARS": "the device's name in a summary",
            "MOST_INPUTS_CHARS": "the inputs in a summary",
        },
        "core/runs/remote.py": {
            "MAX_MARKER_BYTES": "`archived.json`",
            "MOST_FILES": "files of a run that are moved to an archive elsewhere",
            "MAX_MOVED_BYTES": "such files together",
            "MOST_REASON_CHARS": "the reason why the archive cannot be used",
            "MOST_AT_ONCE": "runs that a server fetches from there at once",
        },
        "core/runs/people.py": {
            "MOST_FILE_BYTES": "a file of what was deleted within the hour, which has two files",
            "MOST_CHARS": "the word for an audience of a run or a sweep",
            "MOST_AUDIT_BYTES": "a file of the audit log, which has two files",
            "MOST_TEXT_CHARS": "a text of an event",
        },
        "core/runs/engine/reading.py": {"MOST_AT_ONCE": "files of visitors that are read at once"},
        "core/base/connections.py": {
            "MOST_HALF_OPEN": "connections of one address that have sent no whole header",
            "MOST_FILES": "open files of a server, if the system allows so many",
        },
        "core/runs/retention.py": {"MOST_RUNS": "runs that one pass of retention moves or deletes"},
        "core/runs/index/entry.py": {
            "MOST_SETTINGS": "settings of a run in the index",
            "MOST_SETTING_CHARS": "such a setting, and other words of a job",
            "MOST_REASON_CHARS": "title, reason and origin in the index",
            "MOST_FILES": "files of a run whose sizes are added up for the index",
        },
        "core/runs/index/query.py": {"MOST_CHARS": "a search for runs", "MOST_TERMS": "terms of such a search"},
        "core/runs/index/database.py": {"MOST_OPEN": "live runs that are read again at each listing"},
    },
    "Nodes of a cluster": {
        "core/runs/engine/cluster/messages.py": {
            "MOST_CALL_BYTES": "a call to a host",
            "MOST_REPLY_BYTES": "its reply",
            "MOST_FILES": "files of a run, and runs that a host has",
            "MOST_DEPTH": "directories in one another",
            "MOST_DELIVERED_BYTES": "files of a new run, which are sent at once",
            "MOST_COLLECTED_BYTES": "files that an ended run has left",
        },
        "core/runs/engine/cluster/host.py": {
            "MOST_SLOTS": "hosts of one machine over one home",
            "MOST_NAME_CHARS": "the name of a host",
            "MOST_REASON_CHARS": "the reason why a call failed",
            "MOST_NEW_BYTES": "new bytes of a run in a reply",
            "MOST_WAITING": "starts that wait for a first record at once",
            "MOST_KIND_CHARS": "hardware and versions of a node, in words",
            "MOST_VERSION_CHARS": "the version of a driver",
        },
        "core/runs/engine/cluster/nodes.py": {
            "MOST_NAME_CHARS": "the name of a host in a message",
            "MOST_REASON_CHARS": "a host's reason in a message",
        },
        "core/runs/engine/cluster/workers.py": {
            "MOST_WAITING": "calls that wait for one worker",
            "MOST_WORKERS": "workers of a server",
            "MOST_CONNECTIONS": "connections to the workers' port",
            "MOST_BODY_BYTES": "a worker's request",
            "MOST_LIMIT_S": "the time for a call of another server over the store",
            "MOST_ANSWER_BYTES": "the server's response to a worker",
        },
        "core/runs/engine/cluster/bridge.py": {
            "MOST_FRAME_BYTES": "a message from and to the process of Ray or of the sandbox"
        },
        "core/runs/engine/transports/sandbox.py": {"MOST_BYTES": "files that runs write in the sandbox"},
        "core/commands/work.py": {"MOST_TOKEN_BYTES": "the file of a worker's token"},
    },
    "A recording of a user's process": {
        "core/library/recording.py": {
            "MOST_LABEL_CHARS": "its label",
            "MOST_NAMED": "functions that are named as compiled before",
            "MOST_CHARS": "a line of a failure",
            "MOST_LISTED": "lines of a failure",
        },
        "core/runs/engine/servers.py": {
            "MOST_BYTES": "the file of a dashboard's address",
            "MOST_SERVERS": "dashboards that are looked at",
        },
        "core/trace/parsers/build.py": {
            "MOST_CONTEXTS": "labels of a recompile",
            "MOST_CONTEXT_CHARS": "such a label",
        },
        "core/worker/own_process.py": {"MOST_BYTES": "its log"},
    },
    "An opened directory or archive": {
        "core/runs/inputs/foreign.py": {"MOST_READ_BYTES": "the start of a file in which another tool is recognized"},
        "core/trace/newest.py": {
            "MOST_READ_BYTES": "the start and the end of a log in which a rank or time is looked for"
        },
        "core/trace/ranks.py": {
            "MOST_FILES": "files of a directory that are looked at",
            "MOST_LEVELS": "directories in one another",
            "MOST_RANKS": "ranks of a run",
            "MOST_RECORDS": "records in which a log's rank is looked for",
            "MOST_NAMED": "files that are named as not read",
            "MOST_NAME_CHARS": "such a name",
        },
        "core/runs/inputs/__init__.py": {"MOST_PATH_CHARS": "a path in a message"},
        "core/runs/inputs/archives.py": {
            "MOST_MEMBERS": "members of an archive",
            "MOST_PARTS": "parts of a member's name",
            "MAX_DIRECTORY_BYTES": "the list of members of a ZIP archive",
            "MOST_HEADERS": "headers of a tar archive",
            "MOST_AT_ONCE": "archives that are unpacked at once",
            "MOST_NAME_CHARS": "a member's name in a message",
        },
        "core/runs/inputs/dumps.py": {
            "MOST_NAMED": "kinds of records that are named as missing",
            "MOST_KIND_CHARS": "such a kind",
            "MAX_INDEX_BYTES": "`raw.jsonl` of tlparse",
        },
        "core/runs/engine/following.py": {
            "MOST_PATH_CHARS": "a followed path in a message",
        },
    },
    "A trace": {
        "core/trace/reader.py": {
            "MAX_LOG_BYTES": "what is read of a log",
            "MAX_HEADER_BYTES": "the header of a record",
            "MAX_RECORDS": "records of a log",
            "MAX_STRINGS": "names in its table of strings",
            "MAX_KIND": "characters of the kind of a record",
            "MAX_PAYLOAD_BYTES": "the payload of a record",
            "MAX_GROWING_BYTES": "what is read of the log of a run that goes on, but not of a followed one",
            "MOST_AT_ONCE_BYTES": "what is read of it at once",
        },
        "core/trace/index.py": {
            "MAX_INDEX_BYTES": "the stored index of a log",
            "MAX_NAMES": "kinds and compile ids that an index distinguishes",
        },
        "core/trace/ranks.py": {
            "MAX_MARKS": "records of a rank that are compared",
            "MAX_COMPILATIONS": "compilations of a rank",
            "MAX_TEXT": "characters of a reason in a fingerprint",
            "MAX_COMPARED_BYTES": "a graph or a guard tree that is compared",
            "MAX_COLLECTIVES": "collectives of a graph",
            "MAX_KNOWN_TEXTS": "texts of other ranks whose digests are held",
        },
        "core/analysis/ranks/groups.py": {
            "MAX_GROUPS": "groups of equal ranks that are compared with the largest",
            "MAX_SHOWN": "characters of a line that differs",
            "MAX_CAUSES": "recompiles of one rank among which the user's is looked for",
        },
        "core/analysis/ranks/differences.py": {"MAX_ALONE": "compilations that a rank has alone"},
        "core/runs/ranks.py": {
            "MAX_STORED_BYTES": "the stored fingerprint of a rank",
            "MAX_TEXT_BYTES": "a text of a rank's log that is shown or compared",
        },
        "core/report/parts.py": {
            "MOST_FIELD_BYTES": "a field in the head of a stored report, as JSON",
            "MOST_FIELDS": "large fields of a stored report that stay in memory",
            "MOST_BYTES": "a stored sum over all compilations of a report",
        },
        "core/views/progress.py": {"MOST_ROWS": "compilations in the outline of a large log"},
        "core/trace/parsers/draft.py": {
            "MAX_ITEMS": "entries of one list in a report",
            "MAX_STACK": "frames of a stack",
        },
        "core/trace/parsers/build.py": {
            "MAX_KINDS": "kinds of records that are distinguished",
            "LONGEST_LOOK_S": "seconds that a page reads a growing log before it shows what there is",
        },
        "core/trace/parsers/inductor.py": {
            "MOST_DEEP": "frames of a node's stack",
            "MOST_NAME_CHARS": "characters of a dumped graph's name, of a kernel's config, of a collective's name",
            "MOST_PAIRS": "parameters of a kernel's config",
            "MOST_COLLECTIVES": "collective calls of a graph",
        },
        "core/trace/parsers/fx_text.py": {"MAX_LINES": "lines of a graph that is printed as a listing"},
        "core/trace/parsers/events.py": {
            "MAX_EXPRESSIONS": "expressions of symbols of a compilation",
            "MAX_VALUES": "variables and arguments of an expression",
            "MAX_TEXT_CHARS": "characters of an expression, or of a variable's value",
            "MAX_TIME_US": "a time in microseconds",
        },
        "core/code/output_code.py": {"MOST_SIGNATURE_LINES": "lines of a kernel's signature in a package's code"},
        "core/analysis/backend.py": {
            "MAX_CHARS": "characters of AOTAutograd's metadata that are read",
            "MAX_ITEMS": "inputs, results or indices in it",
        },
        "core/trace/parsers/dynamo.py": {"MAX_LINES": "lines of a guard tree"},
        "core/worker/recorders/guards.py": {"MOST_S": "seconds in which the guards of a compilation are timed"},
        "core/worker/recorders/bytecode.py": {"MOST_FRAMES": "frames whose reused code is recorded"},
        "core/analysis/results.py": {"MAX_REASON_CHARS": "the error that ended a run, in a sentence"},
        "core/analysis/dynamo/failures.py": {"MAX_REASON_CHARS": "the reason of a failure in a sentence"},
        "core/analysis/kernels/kernel.py": {
            "LONGEST_GENERATED": "characters of a kernel's name that are read as ops",
            "LONGEST_PATH": "characters of a module's path in a kernel's name, where it can be shortened",
        },
        "core/analysis/repairs/source.py": {"LONGEST_LINE": "a repaired line that keeps its comments"},
        "core/analysis/dynamo/compilations.py": {"MOST_DEPTH": "functions in one another, in the tree of compilations"},
        "core/analysis/comparison/graphs.py": {
            "MOST_ALIGNED": "nodes of two graphs in which much differs, aligned",
            "MOST_STEPS": "nodes that one of two graphs has alone",
        },
        "core/analysis/comparison/matching.py": {"LONGEST_VALUE": "characters of an option that is compared"},
        "core/code/diff.py": {
            "MAX_DIFF_LINES": "lines of a diff",
            "MAX_DIFFED_LINES": "lines of a text that is compared",
        },
        "core/analysis/memory.py": {"MOST_DIGITS": "digits of the value of a symbol in a plan of memory"},
        "core/code/memory_plan.py": {"LARGEST_BYTES": "a piece of memory in generated code"},
        "core/code/stages.py": {"MAX_DEPTH": "links from a location to its file"},
    },
    "A job": {
        "core/job/checks.py": {
            "MAX_CALLS": "calls of a model",
            "MAX_REPAIRS": "repairs of a model's code",
            "MAX_SIZE": "a dimension of an input that a job gives another size",
            "MAX_SIZES": "dimensions that a job gives another size, or marks",
        },
        "core/job/notebook.py": {"MAX_NOTEBOOK_BYTES": "a notebook with its outputs"},
        "core/worker/script.py": {
            "MOST_CALLS": "calls of a script that have a record of their own; later calls are counted",
            "MOST_ENTRIES": "callables of a script whose calls are recorded",
            "MAX_TEXT_CHARS": "characters of a name, of options, or of an error in such a record",
        },
        "core/views/progress.py": {"MOST_CALL_LINES": "calls of a callable that the command line prints"},
        "core/job/options/run.py": {"MAX_THREADS": "threads of a job"},
        "core/runs/recordings/__init__.py": {"MAX_HEADER_BYTES": "what a recording says of itself before its log"},
        "core/job/text.py": {
            "MAX_CODE_BYTES": "pasted code",
            "MAX_CALLS_CHARS": "the calls of a job together",
            "MAX_OPTIONS_CHARS": "options of one kind",
            "MAX_SIZE_CHARS": "a size or a dynamic dimension, as it is typed",
            "MAX_SIZE_DIGITS": "digits of a size",
            "MOST_ARGUMENTS": "arguments of a script",
            "MAX_ARGUMENT_CHARS": "characters of all arguments of a script",
        },
        "core/sweep/model.py": {"MAX_AXIS_CHARS": "an axis of a sweep, as it is typed"},
        "core/job/arguments.py": {
            "MAX_CALL_CHARS": "a call's arguments",
            "MAX_DIMENSIONS": "dimensions of an input",
            "MAX_ELEMENTS": "elements of an input",
        },
        "core/runs/limits.py": {"MAX_ANSWERS": "answers of kernel tools for one visitor, where visitors are bounded"},
        "core/runs/permission.py": {
            "MOST_CALL_CHARS": "a call's arguments, where code is not allowed",
            "MOST_ELEMENTS": "elements of an input, where code is not allowed",
            "MOST_SIZE": "a dimension of a sample's input, where code is not allowed",
            "MOST_MEMORY_BYTES": "the memory that a visitor's job asks for",
            "MOST_PROGRAM": "a program id of the interpreter",
        },
        "core/job/options/call.py": {"MOST_NAMES_CHARS": "names in one option, where code is not allowed"},
        "core/runs/stored.py": {"MOST": "runs that a run is offered to be compared with"},
    },
    "A sweep": {
        "core/sweep/model.py": {
            "MAX_AXES": "axes of a sweep",
            "MAX_VALUES": "values of an axis",
            "MAX_CELLS": "cells of a sweep, each of which is a run",
        },
        "core/sweep/store.py": {"MAX_SWEEP_BYTES": "`sweep.json`"},
        "core/commands/sweep.py": {"LONGEST_CELL": "characters of a cell of a table in text"},
        "core/sweep/table.py": {
            "MAX_ROW_BYTES": "a row of a sweep's table that is kept",
            "MOST_ROWS": "rows that are held of all sweeps",
            "MAX_ERROR_CHARS": "what a row tells of how its run ended",
            "MOST_NAMES": "names of kernels, passes and choices in a row, each",
        },
        "core/sweep/presets/conditions.py": {"MOST_THREADS": "threads that the preset of threads tries"},
        "core/sweep/presets/preset.py": {"LONGEST_REASON": "characters of torch's reason in an answer"},
        "core/views/sweep/view.py": {"MOST_BARS": "cells that are drawn as bars"},
        "pages/session/runs.py": {"MOST_LISTED": "sweeps that the page lists"},
    },
    "A run and a tool": {
        "core/worker/supervisor.py": {"MAX_TRACE_BYTES": "the log of a run", "MOST_PROCESSES": "processes and threads"},
        "core/runs/engine/processes.py": {"MAX_END_S": "seconds in which an ended process is awaited"},
        "core/worker/run.py": {
            "MAX_TRACEBACK_CHARS": "a traceback",
            "MOST_NODES_S": "seconds in which the nodes of all graphs are held against float64",
        },
        "core/worker/load.py": {"LONGEST_REASON": "characters of why something could not be held against float64"},
        "core/worker/recorders/stacks.py": {
            "LARGEST_SOURCE_BYTES": "a file of a library that is recorded",
            "MOST_SOURCES_BYTES": "all of them of a run",
            "MOST_STACK_FRAMES": "frames of a node's stack that are recorded",
        },
        "core/worker/recorders/partition.py": {
            "MAX_CHOICES": "choices of one autotuning",
            "MAX_NAME_CHARS": "the name of a choice",
        },
        "core/worker/cross_compilation/kernels.py": {"MAX_ERROR_CHARS": "a compiler's message"},
        "core/worker/measuring/kernel_times.py": {
            "MAX_REASON_CHARS": "why a kernel was not timed",
            "MAX_BYTES": "a kernel's arguments, copied to time it",
        },
        "core/worker/measuring/pairs.py": {"MAX_REASON_CHARS": "why a rival was not timed"},
        "core/worker/memory/allocator.py": {
            "MOST_POINTS": "points of the curve of a call's memory",
            "MOST_ALIVE": "places whose memory at the peak is listed",
        },
        "core/worker/neighbours/stage.py": {"MOST_TASK_S": "seconds that a neighbour may take with one run"},
        "core/worker/standby.py": {
            "MAX_REASON_CHARS": "why a task in a process of its own failed, such as measuring memory"
        },
        "core/worker/measuring/instruments.py": {"MAX_CODE_BYTES": "generated code that is timed line by line"},
        "core/worker/recorders/traffic.py": {"MOST_PAIRED": "accesses to one buffer that are compared in pairs"},
        "core/worker/recorders/bytecode.py": {
            "MAX_CODE_CHARS": "a listing of bytecode, and what is decompiled from it",
            "MAX_CONSTANT_CHARS": "a constant in a listing",
            "MOST_INSTRUCTIONS": "instructions of a function that is decompiled",
        },
        "core/worker/recorders/scheduler.py": {"MAX_REJECTIONS": "fusions that were refused"},
        "core/worker/results/named.py": {
            "MAX_LEAVES": "values of a result that are compared",
            "MAX_DEPTH": "containers in one another",
            "MAX_COPIED_BYTES": "values that are kept for a later comparison",
        },
        "core/worker/numerics/nodes.py": {
            "MOST_TAPS": "values of nodes that one more compilation of a graph gives out",
            "MOST_TAPPED_BYTES": "what those values hold together",
        },
        "core/worker/kernel_tools/__init__.py": {"MAX_DETAIL_CHARS": "what a tool printed"},
        "core/worker/kernel_tools/cpp_assembly.py": {
            "MAX_OUTPUT_BYTES": "what a script printed",
        },
        "core/worker/kernel_tools/interpreted.py": {"MAX_OFFSETS": "elements that a kernel touched"},
        "core/worker/kernel_tools/triton_ladder.py": {
            "MAX_FILE_CHARS": "one stage of a kernel",
            "MAX_DUMP_BYTES": "what Triton's passes print",
            "MAX_DIFF_LINES": "lines of one pass's diff",
            "MAX_DIFFS": "passes that changed something",
        },
        "core/runs/tools/tasks.py": {
            "MAX_LINES": "lines of an answer",
            "MAX_CODE_CHARS": "code that is given to a tool",
        },
        "core/analysis/budget.py": {"MOST_CULPRITS": "lines of code that are named for a limit"},
        "core/views/sharing.py": {"LONGEST_REASON": "characters of a reason why a limit is not kept"},
        "core/commands/report.py": {
            "MAX_BUDGET_BYTES": "bytes of a budget's file",
            "MOST_REPEATS": "times that `check` runs a model",
        },
        "core/commands/compare.py": {
            "MOST_LINES": "graphs that differ, of a compilation, that the command line prints"
        },
        "core/commands/summary.py": {"MAX_DIFFERENCES": "differences that the command line prints"},
    },
    "A drawing": {
        "core/graph/levels.py": {
            "MOST_HITS": "hits of a search",
            "MOST_NEAR": "nodes of a neighbourhood",
            "LONGEST_QUERY": "a search's text",
            "MOST_FOR_DOT": "items of an opened group that Graphviz lays out",
            "MOST_ENDS": "edges of a bundle whose ends are listed",
        },
        "core/graph/schedule.py": {
            "MOST_TOOLTIP_LINES": "lines of a tooltip",
            "LONGEST_KERNEL": "characters of a kernel's name before its module is left out",
        },
        "core/graph/modules.py": {
            "MOST_MEMBERS": "nodes of a group before it is cut in chunks",
            "LONGEST_LABEL": "a module's label",
        },
        "core/graph/fx.py": {
            "MOST_INPUTS": "inputs of a graph that are drawn as nodes; of more, none",
            "MOST_CHIPS": "inputs that a node shows",
            "LONGEST_CHIP": "characters of one",
            "LONGEST_TOOLTIP": "characters of a tooltip's line",
        },
        "core/report/places.py": {"MOST_LEVELS": "modules in one another"},
        "core/report/nodes.py": {"MOST_REMEMBERED": "answers that are kept of a question to a graph"},
        "core/graph/assemble.py": {
            "MOST_NAMES": "functions that name a run of ops between modules",
            "MOST_SHAPES": "shapes that a group shows",
            "MOST_UNKNOWN": "ops of unknown size, of all, up to which shares are shown",
        },
        "core/graph/layout/layered.py": {"LONGEST_BENT": "rows through which an edge is led"},
        "core/graph/layout/ladder.py": {
            "MOST_REMEMBERED": "layouts that are kept",
            "MOST_BOXES_FOR_DOT": "boxes that Graphviz lays out",
            "MOST_EDGES_FOR_DOT": "edges that Graphviz lays out",
        },
        "pages/components/graph/routes.py": {
            "MOST_NODES": "nodes of all drawings that the server keeps",
            "MOST_NODES_AT_ONCE": "nodes in one answer",
            "MOST_LEVELS_AT_ONCE": "groups in one answer",
            "MOST_HOPS": "hops of a neighbourhood",
        },
        "core/views/graph.py": {
            "MOST_OPENED_ITEMS": "items in which a drawing opens",
            "MOST_PARTS": "modules that share a graph, and are unfolded at first",
        },
    },
    "A page": PAGES,
    "Findings and printed text": FINDINGS,
    "Backends": BACKENDS,
    "A package": PACKAGES,
}
