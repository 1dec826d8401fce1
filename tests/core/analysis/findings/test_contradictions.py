"""No card of a recorded run contradicts another, the page's counts or the run's own records."""

from dataclasses import replace

import pytest

from core import build_report
from core.analysis.findings import Finding
from core.analysis.repairs.source import Proposal
from core.job.gallery import samples
from core.report import Call, GraphBreak, Guard, Place, Report, Setting
from tests.support.contradictions import contradictions
from tests.support.logs import recorded_report
from tests.support.places import ROOT, TRACES
from tests.support.reports.findings import FIRES, OUTPUTS, QUIET, frame

SCENARIOS = sorted(path.parent.name for path in TRACES.glob("*/trace.log"))
LOGS = sorted(
    path for folder in ("frameless", "launches", "versions") for path in (ROOT / "tests" / folder).glob("*.log.gz")
)
TEXTS = {sample.name: sample.path.read_text(encoding="utf-8") for sample in samples()}
CODE = "import torch\nimport zlib\n\n\ndef model(x):\n    return x + zlib.crc32(b'a')\n"
BREAK = GraphBreak("no", "", (), "", "", Place("m.py", 6), "return x + zlib.crc32(b'a')", (), ("0/0",))
AGAIN = "`model` recompiled 2 times: dimension 0 of `x` changed size."
AT = "Graph break at `m.py:6`."
FRAME = "`[0/0]` model at `m.py:6`: no; this frame runs eagerly."


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_card_of_a_recorded_run_contradicts_another(scenario: str) -> None:
    report = recorded_report(TRACES / scenario / "trace.log")
    job = report.setting.job or {}
    text = TEXTS.get((job.get("model") or {}).get("value", ""), "")
    assert contradictions(report, source=text) == []


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_no_card_of_an_imported_log_contradicts_another(log: object) -> None:
    assert contradictions(build_report(log)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FIRES)
def test_no_card_of_a_report_for_a_rule_contradicts_another(name: str) -> None:
    assert contradictions(FIRES[name], output=OUTPUTS.get(name, "")) == []


def card(rule: str, title: str, advice: str, proposal: Proposal | None = None, reason: str = "") -> Finding:
    return Finding(rule, title, reason, advice, "overview", compilation="0/0", proposal=proposal)


def changed(**compile: object) -> Proposal:
    return Proposal(f"{compile}", compile=compile)


def of_repairs(*repairs: str) -> Proposal:
    return Proposal("Edit.", repairs=repairs)


STATIC = "torch treats it as a constant: `torch._dynamo.mark_static(x, 0)`."
PLANTED: dict[str, tuple[Finding, ...]] = {
    "dynamic: True": (
        card("recompiles", AGAIN, "`dynamic=True` makes sizes symbolic from the first call."),
        card("not compiled: over the limit", "1 frame.", "`dynamic=False` compiles one graph per size: leave it out."),
    ),
    "x, 0: dynamic": (
        card("recompiles", AGAIN, "Before the first call: `torch._dynamo.mark_dynamic(x, 0)`."),
        card("near the recompile limit", "2 of 8.", STATIC),
    ),
    "fullgraph: ": (
        card("not compiled: failed", "1 compilation failed.", "Without `fullgraph=True`, Dynamo breaks here."),
        card("graph breaks", AT, "Compile with `fullgraph=True`."),
    ),
    "capture_scalar_outputs: True": (
        card("graph breaks", AT, "Set `torch._dynamo.config.capture_scalar_outputs = True`."),
        card("recompiles", AGAIN, "Set `torch._dynamo.config.capture_scalar_outputs = False`."),
    ),
    "disables and enables": (
        card("graph breaks", AT, "Remove the `torch.compiler.disable` call."),
        card("not compiled: given up", "1 frame runs eagerly.", "A function marked with `torch.compiler.disable`.",
             reason=FRAME),
    ),
    "no backend helps": (
        card("not compiled: failed", "1 compilation failed.", "Dynamo raised it: no other backend helps."),
        card("results differ", "Differs.", "Try it.", changed(backend="aot_eager")),
    ),
    "two changes for m.py:6": (
        card("graph breaks", AT, "Keep.", of_repairs("hoist:6")),
        card("graph breaks", AT, "Print.", of_repairs("constant:6")),
    ),
    "edits overlap": (
        card("graph breaks", AT, "Print.", of_repairs("hoist:6")),
        card("recompiles", AGAIN, "Other.", of_repairs("constant:6")),
    ),
    "something and nothing to do": (
        card("graph breaks", AT, "There is nothing to change: the code is torch's own."),
        card("not compiled: given up", "1 frame runs eagerly.", "Move it.", reason=FRAME),
    ),
    "ask for different settings": (
        card("graph breaks", AT, "Use a number as momentum."),
        card("not compiled: given up", "1 frame runs eagerly.", "Set it.", changed(mode="default"), FRAME),
    ),
    "cards have 2 recompiles": (card("recompiles", AGAIN, "Expected."),),
    "cards have 2 graph breaks": (card("graph breaks", AT, "Move it."), card("graph breaks", AT, "Move it.")),
    "the run has dynamic=False": (card("recompiles", AGAIN, "Make it constant.", changed(dynamic=False)),),
    "a change is proposed": (card("graph breaks", AT, "There is nothing to change.", changed(mode="default")),),
    "eager did not raise": (card("graph breaks", AT, "Your code may result in an error when running in eager."),),
}  # fmt: skip


@pytest.mark.parametrize("words", PLANTED)
def test_a_planted_contradiction_is_reported(words: str) -> None:
    report = replace(
        QUIET,
        setting=Setting(job={"compile": {"dynamic": False}}),
        graph_breaks=(BREAK,),
        calls=(Call(0, "f32[3]", 1e-3, 1e-3, (), {}),),
    )
    assert [each for each in contradictions(report, PLANTED[words], CODE) if words in each] != []


def sizes(number: str) -> tuple[Guard, ...]:
    return (Guard("TENSOR_MATCH", "L['x']", f"check_tensor(L['x'], size=[{number}], stride=[1])", 1),)


@pytest.mark.parametrize(("later", "is_refuted"), [("4", True), ("None", False)])
def test_a_size_that_torch_made_a_constant_refutes_dynamic_shapes(later: str, is_refuted: bool) -> None:
    report: Report = replace(QUIET, compilations=(frame("0/0", guards=sizes("3")), frame("0/1", guards=sizes(later))))
    cards = (card("recompiles", AGAIN, "`dynamic=True` makes sizes symbolic from the first call."),)
    found = [each for each in contradictions(report, cards) if "a constant" in each]
    assert bool(found) == is_refuted
