"""Bounds of pages, a part of the table in `docs.make.bounds`."""

PAGES: dict[str, dict[str, str]] = {
    "core/views/markdown.py": {
        "LONGEST_NAME": "characters of a name, then cut",
        "LONGEST_LINE": "characters of a line in a table",
        "LONGEST_TEXT": "characters of a passage",
        "LONGEST_MESSAGE": "characters of a message",
    },
    "pages/gate/middleware.py": {
        "MOST_BYTES": "a message of a browser's",
        "MOST_BYTES_WITHOUT_CODE": "the same, where code is not allowed",
        "MOST_QUERY_CHARS": "its query parameters",
        "MOST_WIDGETS": "widgets that it sets",
        "MOST_WANTED_CHARS": "the address to which a sign-in leads back; a longer one leads to the first page",
    },
    "pages/gate/people.py": {
        "MOST_FILE_BYTES": "the file of roles",
        "MOST_ADDRESS_CHARS": "the address of a person",
    },
    "pages/gate/greeting.py": {
        "MAX_PLACES": "problems that are printed into the terminal, each once",
        "MAX_CHARS": "the message of one",
    },
    "pages/look/palette.py": {
        "MAX_LINE_CHARS": "a field for a line",
        "MAX_PATH_CHARS": "a field for a path",
        "MAX_CHARS": "a field for several lines, or for options",
        "MAX_CODE_CHARS": "a field for code",
    },
    "pages/session/uploads.py": {
        "MOST_AT_ONCE": "uploads of one visitor at once",
        "MOST_OF_GUESTS": "uploads of all guests at once",
        "LONGEST_S": "seconds that a guest's upload may take",
    },
    "pages/session/previews.py": {
        "MOST_QUERY_CHARS": "the query of a link that previews",
        "MOST_PAGE_BYTES": "a page that gets the tags of a preview",
        "MOST_WAITING": "pictures of previews that wait to be drawn",
    },
    "pages/look/card.py": {"MOST_ITEMS": "boxes of a graph in such a picture"},
    "core/views/sharing.py": {
        "LARGEST_LOG_BYTES": "a log that is read for a preview",
        "MOST_OPS": "ops of a graph that is drawn for a preview",
    },
    "core/views/comments.py": {"LARGEST_GRAPH": "ops of a graph in which a commented node is looked for"},
    "pages/components/comments/view.py": {"MOST_ID_CHARS": "the id of a selected item"},
    "pages/parts/comments/comments.py": {
        "MOST_ELSEWHERE": "parts with comments that the pane lists",
        "MOST_AT_FIRST": "threads, and replies in each, that the pane draws at first",
        "MOST_THREADS": "threads that Overview lists",
        "MOST_PARTS": "parts with comments that Compare lists",
        "MOST_ON_PART": "threads on each part that Compare lists",
    },
    "pages/session/shown.py": {"MOST_GOING": "runs that go on whose logs are held"},
    "pages/session/runs.py": {
        "MOST_NAMED": "runs in a menu of names",
    },
    "core/views/runs.py": {
        "MOST_SAME_MODEL": "runs of the same model that are offered to compare with",
        "MOST_ATTEMPTS": "attempts at exercises",
        "MOST_MODELS": "models that are offered for the chart over time",
        "LARGEST_LOG_BYTES": "a log that is read for a list of runs",
    },
    "core/views/run_history.py": {
        "MOST_SERIES": "series of the chart over time",
        "MOST_RUNS": "runs of the chart over time",
    },
    "pages/parts/run/runs_table.py": {"MOST_JOINED": "points of a series of this chart that are joined by lines"},
    "pages/session/exercises.py": {"MOST_SOLUTIONS": "runs whose result of an exercise is cached"},
    "core/views/html/page.py": {
        "MOST_COMPILATIONS": "compilations of an HTML file with their graphs, kernels and guards",
        "MOST_NODES": "nodes of all graphs of an HTML file",
        "MOST_ROWS": "rows of a table of an HTML file",
        "MOST_BLOCKS": "tables, texts and other parts of a page of an HTML file",
        "MOST_CODE_CHARS": "characters of code of an HTML file",
        "MOST_LISTING_CHARS": "characters of one piece of it",
    },
    "core/views/html/render.py": {
        "MOST_PAIRS": "pairs of compilations of an HTML file about two runs",
        "MOST_KERNELS": "kernels of a pair whose difference it has",
        "MOST_OPEN_ROWS": "rows of its tables that are not folded",
    },
    "core/views/html/sections.py": {
        "MOST_EXPLAINED": "compilations whose recompiles an HTML file explains",
    },
    "core/runs/doctor.py": {"MOST_COLLECTED_CHARS": "characters of torch's collect_env in a bug report"},
    "core/views/run_files.py": {"MAX_SCRUBBED_BYTES": "bytes of a log that a scrubber reads"},
    "core/views/scrub.py": {"MOST_EXAMPLES": "examples of each kind in a scrubber's preview"},
    "core/views/exercises.py": {"MOST_HINTS": "messages of torch about a solution of an exercise"},
    "core/views/ranks/difference.py": {
        "MOST_COLUMNS": "groups of ranks with a column in a table",
        "MOST_ROWS": "rows of a table about ranks",
        "MOST_RANGES": "ranges of ranks in a sentence",
        "MOST_NAMED": "compilations in a sentence",
    },
    "core/views/compile_time.py": {
        "MOST_SPANS": "phases in a flame chart",
        "MOST_BARS": "phases in a bar chart",
    },
    "core/views/metrics.py": {
        "MOST_RECORDS": "records of torch's metrics that can be picked",
        "MOST_CONFIGS": "configs that torch logged with a compilation",
    },
    "core/views/compare.py": {"MOST_PHASES": "phases of two runs beside each other"},
    "pages/parts/palette/palette.py": {
        "MOST_RUNS": "runs in the command palette",
        "MOST_COMPILATIONS": "compilations in it",
        "MOST_KERNELS": "kernels in it",
        "MOST_NODES": "nodes in it, of the largest graphs",
    },
    "core/views/palette.py": {"LARGEST_GRAPH": "ops of a graph whose nodes are in it"},
    "pages/session/server.py": {"MOST_KEPT": "answers that are kept for all sessions, of each kind"},
    "pages/components/code/view.py": {"MOST_KEPT": "pieces of coloured code that are kept for all sessions"},
    "pages/components/flame/view.py": {"MOST_SPANS": "slices in the chart of a profile"},
    "pages/components/progress/view.py": {
        "MOST_PHASES": "phases of a run that goes",
        "MOST_STEPS": "its steps",
    },
    "core/views/dynamic_shapes.py": {
        "MOST_LINES": "conditions on a symbol that are shown, and its frames",
        "MOST_LINKS": "other compilations with symbols that a page without one names",
        "MOST_ISSUES": "issues of an export",
        "MOST_EXPRESSIONS": "expressions of symbols in a table",
    },
    "core/views/fusion.py": {"MOST_WORDS": "ops that name a scheduler node"},
    "core/views/fx_graph.py": {
        "MOST_GUARDS": "guards of a node",
        "MOST_USERS": "users of a node",
        "MOST_INPUTS": "inputs or results in a table",
    },
    "core/views/compilations.py": {"MOST_RUNS": "entries of the order of execution"},
    "core/views/decisions.py": {
        "MOST_ROWS": "ops with torch's estimate in a table",
        "MOST_OUTPUTS": "results of such an op",
    },
    "core/views/passes.py": {"MOST_NODES": "nodes of a step that are written out"},
    "pages/parts/kernels/ledger.py": {
        "MOST_CELLS": "kernels in a treemap",
        "LONGEST_POINT": "characters of a kernel's name in the roofline",
    },
    "pages/parts/performance/numerics.py": {"MOST_RESULTS": "results in the chart of errors against float64"},
    "core/views/kernels/ledger.py": {"MOST_OPS": "ops of a kernel in the ledger"},
    "core/views/kernels/results.py": {"MOST_OUTLINED": "functions of OpenMP regions that are named"},
    "pages/parts/kernel/ladder.py": {
        "MOST_RUNS": "runs whose kernels are offered",
        "MOST_CONFIGS": "configs of a kernel",
    },
    "core/views/memory.py": {
        "MOST_BLOCKS": "rectangles in a map of memory",
        "MOST_POINTS": "points of a line of allocated memory, but in the dashboard",
        "MOST_PLACED": "pieces of memory times kernel calls in it, the largest pieces alone where there are more",
    },
    "core/views/kernel_pairs.py": {"MOST_OPS": "ops of a kernel"},
    "core/runs/progress.py": {"MOST_ORIGINS": "ops that are named beside the kernel of a crash"},
    "core/views/overview.py": {
        "MOST_FAILURES": "failures that are listed",
    },
}
