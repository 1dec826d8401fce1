"""The tools of agents: functions with typed arguments over what commands and pages have.

A tool's docstring is its description, which agents read: no text of a model or a log is in it.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from core.analysis.budget import read_budget
from core.analysis.comparison.matching import RunSide
from core.base.errors import JobError
from core.commands.agents.session import POLL_S, ToolCall
from core.commands.agents.tool import AgentTool
from core.commands.report import PAGES, budget_name, budget_view, compilation_of, page_blocks
from core.commands.summary import ALL
from core.commands.sweep import search_sweep, sweep_lines
from core.job import MAX_CODE_BYTES, CompileJob
from core.job.options import OPTIONS
from core.report import Compilation
from core.runs.index.database import RunIndex
from core.runs.store import Run
from core.runs.stored import side_of_run
from core.sweep.presets import SEARCH_S, Goal
from core.views.agents import (
    GOES_ON,
    NO_BISECTION,
    NOT_AGAIN,
    GraphPart,
    filled,
    unknown_words,
)
from core.views.compare import ASPECTS, CompareView, comparison
from core.views.overview import OutcomeView
from core.views.printed import AgentAnswer, as_data, as_text, lines_with
from core.views.run_files import RunFiles
from core.views.runs import RunLists
from core.views.scrub import checked_kinds
from core.views.sweep.view import ended_line
from core.views.why import why as answer_of

NO_OPTIONS: dict[str, Any] = {}
MOST_HOPS = 20  #: hops around a node of a graph
MOST_LISTED = 500  #: limit: runs in a list for an agent
MOST_SEARCH_S = 3_600.0  #: limit: seconds of a search for settings by an agent
Text = Annotated[str, Meta(max_length=4_000)]
Code = Annotated[str, Meta(description="text of a file instead", max_length=MAX_CODE_BYTES)]
Sample = Annotated[Text, Meta(description="name of a sample instead")]
File = Annotated[Text, Meta(description="path, or path:name of the callable, by default `model`")]
NAMES = {"propertyNames": {"enum": [option.name for option in OPTIONS if option.flag]}}
WORDS = "options of `core run` by name, flags as true or false"
Options = Annotated[dict[str, str | bool | float | list[str]], Meta(description=WORDS, extra_json_schema=NAMES)]
RunId = Annotated[str, Meta(description="id of a stored run", max_length=200)]
First = Annotated[int, Meta(description="number of the first one to return", ge=0)]
CompileId = Annotated[str, Meta(description="such as 0/0; by default the one with most ops", max_length=40)]
Page = Annotated[str, Meta(max_length=40, extra_json_schema={"enum": [*PAGES]})]
Aspect = Annotated[str, Meta(max_length=40, extra_json_schema={"enum": [*ASPECTS, ALL]})]
Seconds = Annotated[float, Meta(description="time of the search", gt=0, le=MOST_SEARCH_S)]


def compile_model(
    call: ToolCall,
    file: File = "",
    code: Code = "",
    sample: Sample = "",
    script: Annotated[bool, Meta(description="run the file as a script; by default, its code decides")] = False,
    arguments: Annotated[tuple[Text, ...], Meta(description="command line of the script")] = (),
    options: Options = NO_OPTIONS,
) -> AgentAnswer:
    """Run a model, or a script that calls it, with torch.compile; return the run's verdict and findings."""
    model = call.session.model(file, code, sample, script)
    return call.executed(call.session.job(CompileJob(model, arguments=arguments), options)).verdict


def open_log(call: ToolCall, path: Text) -> AgentAnswer:
    """Add a log, directory or archive of TORCH_TRACE to the store, and return verdict and findings."""
    call.session.require_change()
    return call.answers(call.session.runner().add_path(call.session.path(path), call.session.by).id).verdict


def list_runs(call: ToolCall, search: Text = "", first: First = 0) -> AgentAnswer:
    """List stored runs that a search such as `model:gpt2 is:failed` matches, newest first."""
    view = RunLists(RunIndex(call.session.store)).every(search, MOST_LISTED)
    listed = [filled(run.data) for run in view.runs if call.session.lists(run.run)]
    return AgentAnswer({"problems": view.problems} if view.problems else {}, "runs", listed, first)


def verdict(call: ToolCall, run: RunId) -> AgentAnswer:
    """Return state, verdict and findings of a run, the worst first."""
    return call.answers(run).verdict


def findings(call: ToolCall, run: RunId, first: First = 0) -> AgentAnswer:
    """Return the findings of a run: what happens, why, what to change, and the result of a trial."""
    answers = call.answers(run)
    return answers.verdict if answers.goes_on else AgentAnswer({"run": run}, "findings", answers.findings, first)


def page(
    call: ToolCall,
    run: RunId,
    page: Page,
    compilation: CompileId = "",
    search: Annotated[Text, Meta(description="only lines with this text")] = "",
    form: Literal["text", "json"] = "text",
    first: First = 0,
) -> AgentAnswer:
    """Return a page of the dashboard about a run."""
    if page not in PAGES:
        raise JobError("page", unknown_words("page", page, tuple(PAGES)))
    _, side, chosen = _opened(call, run, compilation)
    blocks, facts = page_blocks(page, side, chosen), {"run": run, "page": page, "compilation": chosen.id}
    if form == "json":
        return AgentAnswer(facts, "blocks", as_data(blocks), first)
    return _lines(facts, lines_with([*as_text(blocks)], search), first)


def graph(
    call: ToolCall,
    run: RunId,
    node: Text = "",
    line: Annotated[int, Meta(ge=0)] = 0,
    kernel: Text = "",
    hops: Annotated[int, Meta(ge=0, le=MOST_HOPS)] = 2,
    compilation: CompileId = "",
    graph: Text = "",
    form: Literal["dot", "png"] = "dot",
    first: First = 0,
) -> AgentAnswer:
    """Return the part of a graph around a node, a line or a kernel; otherwise list the graphs."""
    opened, side, chosen = _opened(call, run, compilation)
    part = GraphPart(opened, side, chosen, graph, kernel)
    facts = {"run": run, "compilation": chosen.id}
    if not (node or line or kernel):
        return _lines(facts, part.graphs, first)
    view, title = part.around(node, line, hops)
    facts |= {"graph": part.graph.id, "around": title}
    if form == "png":
        return AgentAnswer(facts, picture=view.as_png())
    return _lines(facts, view.as_dot().splitlines(), first)


def why(call: ToolCall, run: RunId, question: Text, first: First = 0) -> AgentAnswer:
    """Answer a question about a run, such as `break 1` or `not fuse relu_3 mul_7`; others list the forms."""
    return _lines({"run": run}, as_text(answer_of(side_of_run(call.session.run(run)), question).blocks), first)


def fixes(call: ToolCall, run: RunId, first: First = 0) -> AgentAnswer:
    """Return the fixes of a run's graph breaks and recompiles: each with its diff, claim and trial."""
    answers = call.answers(run)
    return answers.verdict if answers.goes_on else AgentAnswer({"run": run}, "fixes", answers.fix_data, first)


def try_fix(call: ToolCall, run: RunId, fix: Text) -> AgentAnswer:
    """Run a copy of the model with a `fix` of `fixes` or `findings`, and compare both; changes no file."""
    call.session.require_change()
    before = call.answers(run)
    job = before.trial_job(fix)
    if job is None:
        raise JobError("fix", unknown_words("fix to try", fix, tuple(before.fixes)))
    after = call.executed(job)
    return before.trial(after, fix) if not after.goes_on and after.report is not None else after.verdict


def compare(call: ToolCall, left: RunId, right: RunId, aspect: Aspect = "summary", first: First = 0) -> AgentAnswer:
    """Compare two runs: options, graphs, kernels, guards, results, times."""
    if aspect not in (ALL, *ASPECTS):
        raise JobError("aspect", unknown_words("aspect", aspect, tuple(ASPECTS)))
    view = CompareView(side_of_run(call.session.run(left)), side_of_run(call.session.run(right)))
    blocks = comparison(view, names=ASPECTS if aspect == ALL else (aspect,))
    return _lines({"left": left, "right": right}, as_text(blocks), first)


def tune(
    call: ToolCall, run: RunId, goal: Goal = "call", seconds: Seconds = SEARCH_S, precision: bool = False
) -> AgentAnswer:
    """Search settings that make the model of a run faster or smaller, proven in fresh processes."""
    job = call.answers(run).again
    if job is None:
        raise JobError("run", NOT_AGAIN)
    sweeps, what = call.session.sweeps(), f"tune {run} {goal} {seconds} {precision}"
    environment = sweeps.runner.engine.environment()
    if known := call.taken(what):
        sweep = sweeps.store.open(known)
    else:
        sweep = sweeps.start(search_sweep(goal, job, environment, precision, seconds), call.session.by)
    facts, printed = {"sweep": sweep.id}, set[int]()
    while sweeps.is_executing(sweep):
        if call.stop.is_set():
            sweeps.cancel(sweep.id)
        elif call.is_late:
            call.keep(what, sweep.id)
            facts |= {"state": "running", "next": GOES_ON}
            break
        sweeps.wait(sweep.id, POLL_S)
        rows = sweeps.rows(sweeps.store.open(sweep.id))
        for place in (place for place, row in enumerate(rows) if row.settled and place not in printed):
            printed.add(place)
            call.report(ended_line(sweep, rows[place], sweeps.standing(sweep, rows)))
    return _lines(facts, sweep_lines(sweeps, sweeps.store.open(sweep.id), environment))


def check(
    call: ToolCall,
    budget: Annotated[str, Meta(description="TOML of compileboard.toml", max_length=50_000)],
    run: Annotated[str, Meta(description="id of a stored run, or name a model", max_length=200)] = "",
    file: File = "",
    code: Code = "",
    sample: Sample = "",
    options: Options = NO_OPTIONS,
    baseline: Annotated[str, Meta(description="run for [more-than-baseline]", max_length=200)] = "",
) -> AgentAnswer:
    """Check a run or a model against the limits of a budget, such as no graph breaks."""
    if run:
        answers = call.answers(run)
    else:
        read_budget(budget, "")
        answers = call.executed(call.session.job(CompileJob(call.session.model(file, code, sample, False)), options))
    if answers.goes_on or (not run and (answers.status.state == "cancelled" or answers.report is None)):
        return answers.verdict
    run = answers.run.id
    sides = [side_of_run(call.session.run(run_id)) for run_id in (run, baseline) if run_id]
    name = budget_name(run)
    view = budget_view(name, read_budget(budget, name), sides[:1], sides[1:])
    facts = {"run": run, "failed": view.failed, "name": view.name, "comparison": view.comparison}
    return AgentAnswer(facts, "judgements", view.judgements)


def issue(
    call: ToolCall,
    run: RunId,
    scrub: Annotated[Text, Meta(description="kinds of text that placeholders replace")] = "",
    first: First = 0,
) -> AgentAnswer:
    """Return a bug report about a run in the form of PyTorch's template."""
    files = RunFiles(call.session.run(run))
    try:
        scrubber = files.scrubber(checked_kinds(scrub))
    except ValueError as error:
        raise JobError("scrub", str(error)) from None
    return _lines({"run": run}, files.issue_markdown(scrubber).splitlines(), first)


def bisect(call: ToolCall, run: RunId) -> AgentAnswer:
    """Run the model of a failed or differing run under torch's bisector, to find the part at fault."""
    answers = call.answers(run)
    ending = OutcomeView(answers.status, answers.report, answers.run)
    job = ending.bisecting(answers.again) if answers.again is not None else None
    if job is None:
        raise JobError("run", NO_BISECTION)
    return call.executed(job).verdict


def _opened(call: ToolCall, run_id: str, compile_id: str) -> tuple[Run, RunSide, Compilation]:
    side = side_of_run(run := call.session.run(run_id))
    return run, side, compilation_of(side.report, compile_id)


def _lines(facts: Mapping[str, Any], lines: Iterable[str], first: int = 0) -> AgentAnswer:
    return AgentAnswer(facts, "lines", [*lines], first, is_text=True)


def _output(texts: str, name: str, items: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of texts, of which the first is always there, and of a list."""
    fields = dict.fromkeys(texts.split(), TEXT) | {name: {"type": "array", "items": items}}
    return {"type": "object", "properties": fields, "required": [texts.split()[0] if texts else name]}


TEXT, ITEM = {"type": "string"}, {"type": "object"}
VERDICT = _output("run state verdict facts error message", "findings", ITEM)
TOOLS = (
    AgentTool("compile", compile_model, runs=True, output=VERDICT),
    AgentTool("open_log", open_log, writes=True, is_local=True, output=VERDICT),
    AgentTool("runs", list_runs, output=_output("", "runs", ITEM)),
    AgentTool("verdict", verdict, output=VERDICT),
    AgentTool("findings", findings, output=_output("run", "findings", ITEM)),
    AgentTool("page", page),
    AgentTool("graph", graph),
    AgentTool("why", why),
    AgentTool("fixes", fixes, output=_output("run", "fixes", ITEM)),
    AgentTool("try_fix", try_fix, runs=True, output=_output("run outcome result diff compared", "left", TEXT)),
    AgentTool("compare", compare),
    AgentTool("tune", tune, runs=True, is_local=True),
    AgentTool("check", check, runs=True, output=_output("run", "judgements", ITEM)),
    AgentTool("bisect", bisect, runs=True, output=VERDICT),
    AgentTool("issue", issue),
)
