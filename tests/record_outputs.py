"""python -m tests.record_outputs [NAME …]: write what commands print and export to tests/outputs/*.txt.

The commands read the recorded scenarios as stored runs. The tests compare their output with these files. Review a
change of them line by line, as a change of code.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import patch

import msgspec

from core import Axis, CompileJob, Environment, Model, from_json, new_sweep
from core.analysis.findings import findings
from core.commands.main import main as command
from core.commands.summary import summarise
from core.runs.ranks import read_ranks
from core.runs.status import Status
from core.sweep.presets import PRESETS
from core.sweep.table import table
from core.trace.ranks import fingerprint
from core.views.html.render import FOLDED
from tests.record import SCENARIOS
from tests.screens import known_pieces, share_lines
from tests.support.goldens import OUTPUTS, fitted, unlike
from tests.support.homes import add_run, add_scenario, layers_log
from tests.support.places import RANKS, TRACES
from tests.support.profiles import LOG, PROFILE
from tests.support.ranks import recorded_logs
from tests.support.reports.backends import backend_log
from tests.support.reports.findings import FIRES, SOURCES
from tests.support.reports.findings import OUTPUTS as PRINTED
from tests.support.reports.packaged import packaged_log
from tests.support.screen import fixed
from tests.support.sweeps import add_sweep

PAIRS = (
    ("measured", "transformer_block"),
    ("training_step", "transformer_block"),
    ("recompile_zoo", "symbols"),
    ("graph_break_zoo", "error"),
    ("eager_backend", "measured"),
)
# Pairs whose comparison is recorded as JSON, too.
DATA_PAIRS = PAIRS[:3]
FILES = ("measured", "training_step", "recompile_zoo", "graph_break_zoo", "error", "foreign", "captured")
CHANGING = (
    (re.compile(r"\b\d{8}-\d{6}-"), ""),
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?\b"), "DATE"),
    (re.compile(r"[\w.]+ ago\b"), "AGE ago"),
)
# Pictures depend on the version of Graphviz; styles and scripts have tests of their own.
DROPPED = re.compile(r"<(style|script|svg)\b.*?</\1>|sha256-[^'&]*|[\d.]+ [kM]B, to open", re.DOTALL)
BUDGET = """
[at-most]
graph-breaks = 0
recompiles = 3
compile-time = "60 s"
[more-than-baseline]
kernels = 0
"""
LOGS: dict[str, Callable[[], bytes]] = {
    "backend": backend_log,
    "packaged": packaged_log,
    "layers": lambda: layers_log(20),
}
# Tag of HTML that is a line of text → the mark before it.
LINES = {
    **dict.fromkeys(("title", "p", "tr", "footer"), ""),
    **{"h1": "# ", "h2": "## ", "li": "- ", "summary": "> ", "figcaption": "figure: ", "nav": "sections: "},
    "pre": "  listing: ",
}


@contextmanager
def recorded_home() -> Iterator[Path]:
    """A store with one run for each recorded scenario."""
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, COMPILEBOARD_HOME=folder, COLUMNS="120"):
        for name in SCENARIOS:
            add_scenario(Path(folder), name)
        yield Path(folder)


def run_id(home: Path, name: str) -> str:
    """The run of a scenario."""
    (path,) = (home / "runs").glob(f"*-{name}-0000")
    return path.name


def printed(home: Path, *arguments: str) -> str:
    """The exit code of a command, and what it prints, without what changes from day to day."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = command(list(arguments))
    said = _fixed(out.getvalue(), home)
    text = (
        f"exit code {code}\n{_fixed(err.getvalue(), home)}{fitted(json.loads(said)) if '--json' in arguments else said}"
    )
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


# Section of an HTML file with a page's blocks → the run in whose file it is whole; `measured` for the other ones.
WHOLE_IN = {
    "partition": "training_step",
    "dynamic_shapes": "recompile_zoo",
    "backend": "backend",
    "aotinductor": "packaged",
}


def html(home: Path, *runs: str) -> str:
    """The text of an HTML file about one or two runs: a line for each heading, paragraph, row and listing.

    Lines are left out if all that they have is in the recorded text of pages. A section with a page's blocks is whole
    in one file; in others it is a digest.
    """
    path = home / "page.html"
    head = printed(home, "export", *runs, "--html", str(path))
    body = Lines({name for name in FOLDED if f"-{WHOLE_IN.get(name, 'measured')}-" not in runs[0]})
    body.feed(DROPPED.sub("…", path.read_text(encoding="utf-8")))
    lines = _fixed(DROPPED.sub("…", head) + "\n".join(body.lines), home).splitlines()
    return unlike("\n".join(lines), known_pieces()) + "\n"


class Lines(HTMLParser):
    """The text of an HTML file by lines: marks for headings, rows, list items, folds and tones; listings as digests.

    Some sections are digests, too.
    """

    def __init__(self, digests: Set[str] = frozenset()) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._text, self._start = "", ""
        self._digests, self._section, self._before = digests, "", 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "section" and given.get("id") in self._digests:
            self._end()
            self._section, self._before = given["id"], len(self.lines)
        if tag in LINES:
            self._end()
            tone = f"({given['class']}) " if tag in ("p", "li") and given.get("class") else ""
            self._start = LINES[tag] + tone
        elif tag in ("td", "th"):
            self._text += " | "
        elif tag == "div" and given.get("id"):
            self.lines.append(f"drawing: {given['aria-label']}")
        if tag == "a":
            self._text += f"[{given['href']}] "

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag in LINES:
            if tag == "pre":
                self._text = f"{self._text.count(chr(10)) + 1} lines, {_digest(self._text)}"
            self._end()

        if tag == "section" and self._section:
            self._end()
            lines = self.lines[self._before :]
            self.lines[self._before :] = [f"{self._section}: {len(lines)} lines, {_digest(chr(10).join(lines))}"]
            self._section = ""

    def _end(self) -> None:
        if self._text.strip():
            self.lines.append(f"{self._start}{' '.join(self._text.split())}")
        self._text, self._start = "", ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _fixed(text: str, home: Path) -> str:
    """Return a text without what changes from day to day, and without the store's path."""
    return fixed(text, CHANGING).replace(str(home), "HOME")


def sweep(home: Path) -> str:
    """The id of a sweep whose cells are the recorded scenarios."""
    cells = Axis("seed", tuple(range(len(SCENARIOS))), tuple(SCENARIOS))
    made = replace(new_sweep(CompileJob(Model("sample", "mlp")), (cells,)), id="20260101-000000-recorded-0000")
    made = replace(made, created_s=0.0, torch="2.13.0+cpu", runs=tuple(SCENARIOS))
    if not (home / "sweeps" / made.id).exists():
        reports = {name: from_json((TRACES / name / "report.json").read_bytes()) for name in SCENARIOS}
        add_sweep(home, made, table(made, reports))
    return made.id


def stored(home: Path, name: str, log: Callable[[], bytes]) -> str:
    """The id of a run with a log of the tests, which is stored once."""
    found = [path.name for path in (home / "runs").glob(f"*-{name}-0000")]
    return found[0] if found else add_run(home, name, log(), kind="log").id


def profiled(home: Path) -> str:
    """The id of a run whose log belongs to the recorded profile."""
    return add_run(home, "h100", gzip.decompress(LOG.read_bytes()), kind="log").id


def check(home: Path) -> str:
    """The output of a check that compares a run with a baseline."""
    budget = home / "budget.toml"
    budget.write_text(BUDGET)
    runs = [run_id(home, name) for name in ("graph_break_zoo", "measured")]
    return printed(home, "check", runs[0], "--baseline", runs[1], "--budget", str(budget), "--json")


def summaries() -> str:
    """The report of each report that makes a rule fire, and all its findings."""
    text = io.StringIO()
    for rule, report in FIRES.items():
        with redirect_stdout(text):
            print(f"# {rule}")
            summarise(report, Status("done", 0.0))
            for finding in findings(report, PRINTED.get(rule, ""), SOURCES.get(rule, "")):
                print(_json(finding))
    return text.getvalue()


def plans() -> str:
    """The axes and the cells' jobs of every predefined sweep, for a model on a machine with a GPU."""
    own = CompileJob(Model("sample", "mlp"))
    called = replace(own, calls=("(f32[4, 8],)", "(f32[6, 8],)"))
    here = Environment(
        torch="2.13.0",
        devices={"cpu": "Xeon", "cuda": "H100"},
        backends=("inductor", "aot_eager", "eager", "cudagraphs"),
        modes={"default": {}, "max-autotune": {"max_autotune": True}},
        cpus=6,
    )
    lines = []
    for name, preset in PRESETS.items():
        lines += [f"# {name}: {preset.question}", *(_json(preset.plan(base, here)) for base in (own, called))]
    return "\n".join(lines) + "\n"


def ranks_read(home: Path, folder: str) -> str:
    """The rows and the fingerprints of recorded ranks."""
    logs = recorded_logs(folder, home / folder)
    ranks = read_ranks(logs)
    firsts = [fingerprint(logs[group.ranks[0]], group.ranks[0]) for group in ranks.groups]
    return _json((ranks.rows, firsts)) + "\n"


def _json(value: object) -> str:
    return fitted(json.loads(msgspec.json.encode(value)))


def _of_run(command: str, name: str, home: Path) -> str:
    return printed(home, command, run_id(home, name))


def _html_of_runs(names: tuple[str, ...], home: Path) -> str:
    return html(home, *(run_id(home, name) for name in names))


def _compared(names: tuple[str, ...], form: str, home: Path) -> str:
    return printed(home, "compare", *(run_id(home, name) for name in names), *filter(None, [form]))


def _ranks(folder: str, form: str, home: Path) -> str:
    return printed(home, "ranks", str(RANKS / folder), *filter(None, [form]))


def _swept(form: str, home: Path) -> str:
    return printed(home, "sweeps", sweep(home), *filter(None, [form]))


def _of_log(name: str, log: Callable[[], bytes], home: Path) -> str:
    return printed(home, "report", stored(home, name, log))


def _html_of_log(name: str, log: Callable[[], bytes], home: Path) -> str:
    return html(home, stored(home, name, log))


def outputs() -> dict[str, Callable[[Path], str]]:
    """Return file name → its text, made of a store with the recorded scenarios."""
    made: dict[str, Callable[[Path], str]] = {"runs": lambda home: printed(home, "runs", "--most", "100")}
    for name in SCENARIOS:
        made[f"report-{name}"] = partial(_of_run, "report", name)
        made[f"artifacts-{name}"] = partial(_of_run, "artifacts", name)
    for pair in PAIRS:
        for form in ("", "--json") if pair in DATA_PAIRS else ("",):
            made[f"compare{form[1:]}-{'-'.join(pair)}"] = partial(_compared, pair, form)
        made[f"html-{'-'.join(pair)}"] = partial(_html_of_runs, pair)
    for name in FILES:
        made[f"html-{name}"] = partial(_html_of_runs, (name,))
    for folder in sorted(path.name for path in RANKS.iterdir()):
        made[f"ranks-{folder}"] = partial(_ranks, folder, "")
        made[f"ranks-read-{folder}"] = partial(ranks_read, folder=folder)
        made[f"ranks-json-{folder}"] = partial(_ranks, folder, "--json")
    for form in ("", "--csv", "--json"):
        made[f"sweep{form[1:]}"] = partial(_swept, form)
    made["profile"] = lambda home: printed(home, "profile", profiled(home), str(PROFILE))
    made["check"] = check
    made |= {"findings": lambda home: summaries(), "plans": lambda home: plans()}
    for name, log in LOGS.items():
        made[f"report-{name}"] = partial(_of_log, name, log)
        made[f"html-{name}"] = partial(_html_of_log, name, log)
    return made


def main() -> None:
    """Write the outputs whose names begin as one of the arguments, or all."""
    OUTPUTS.mkdir(exist_ok=True)
    starts = tuple(sys.argv[1:]) or ("",)
    with recorded_home() as home:
        for name, make in outputs().items():
            if name.startswith(starts):
                begun = time.perf_counter()
                text = make(home)
                (OUTPUTS / f"{name}.txt").write_text(text, encoding="utf-8")
                print(f"{name}: {len(text):,} characters, {time.perf_counter() - begun:.2f} s")
    share_lines()


if __name__ == "__main__":
    main()
