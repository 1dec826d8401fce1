"""Repairs of the commonest graph breaks, each on code that was written for torch's kind of break alone, and tried."""

from dataclasses import replace

import pytest
import torch

from core import CompileJob, CompileOptions, LocalEngine, Model, Run, Runner, Store, open_report
from core.analysis.dynamo.failures import failures
from core.analysis.repairs.offers import repair_of, repairs_of_break, repairs_of_recompile, together
from core.analysis.repairs.source import Repair, dynamo_settings
from core.analysis.repairs.trials import Trial, TrialSide, trial
from core.analysis.results import results
from core.graph.fx import source_path
from core.job import Conditions
from core.job.model import OptionValue
from tests.support.common_breaks import BREAKS
from tests.support.hard_breaks import HARD, RECOMPILES
from tests.support.registry_cases import CASES, OFFERED, RAISE, UNREPORTED
from tests.support.sample import one_in

pytestmark = pytest.mark.torch

# Breaks with another id in torch's registry since 2.14.
RENAMED = {"GB0156": "GB4818"} if torch.__version__ >= "2.14" else {}
# Cases of torch's registry that end without an error, here with inputs that have sizes.
REGISTRY = [registry_id for registry_id in CASES if registry_id not in RAISE | set(BREAKS) | {"GB0016"}]


@pytest.fixture(scope="module")
def here(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Store(tmp_path_factory.mktemp("breaks")), engine)


def job_of(code: str, ids: tuple[str, ...] = ()) -> CompileJob:
    """The job of a file, with repairs as the page applies them."""
    fixes = {item: repair.fix for item in ids if (repair := repair_of(code, item))}
    names = tuple(name for fix in fixes.values() for name in fix.settings)
    edits = tuple(item for item, fix in fixes.items() if fix.edits)
    settings: dict[str, OptionValue] = {**dynamo_settings(names)}
    job = CompileJob(Model("code", code), measure=False, compile=CompileOptions(backend="eager"))
    return replace(job, repairs=(edits,) if edits else (), conditions=Conditions(dynamo=settings or None))


def made(runner: Runner, code: str, *ids: str) -> TrialSide:
    run: Run = runner.wait(runner.submit(job_of(code, ids)))
    assert run.status().state == "done", run.output_tail()
    report = open_report(run)
    return TrialSide(report, run.model_path.read_text(), source_path(report))


def offers(side: TrialSide) -> tuple[str, ...]:
    report = side.report
    of_breaks = [repairs_of_break(side.text, found, side.path) for found in report.graph_breaks]
    of_recompiles = [repairs_of_recompile(side.text, report, found) for found in report.recompiles]
    return tuple(dict.fromkeys(repair.id for repairs in (*of_breaks, *of_recompiles) for repair in repairs))


def first_offers(side: TrialSide) -> tuple[Repair, ...]:
    """What *Apply all* applies."""
    found = [repairs_of_break(side.text, item, side.path)[:1] for item in side.report.graph_breaks]
    return tuple(dict.fromkeys(repair for repairs in found for repair in repairs if repair.stacks))


def assert_sound(found: Trial, after: TrialSide) -> None:
    """Green is whole, but for what was not tried, and equal; what is not says why."""
    if found.outcome == "repaired":
        assert len(after.report.graph_breaks) == found.others
        assert found.others or (failures(after.report), after.report.recompiles) == ((), ())
        outcome = results(after.report)
        assert outcome is not None
        assert outcome.outcome in ("same", "other strides")
    else:
        assert found.left or found.printed or found.outcome == "differs"


def outcomes(runner: Runner, code: str, before: TrialSide) -> dict[str, str]:
    """Each repair that is offered, tried alone."""
    told: dict[str, str] = {}
    for item in offers(before):
        after = made(runner, code, item)
        found = trial(before, after, (item,))
        assert_sound(found, after)
        told[item] = found.outcome
    stacked = tuple(repair.id for repair in together(before.text, first_offers(before)))
    if len(stacked) > 1:
        after = made(runner, code, *stacked)
        found = trial(before, after, stacked)
        assert_sound(found, after)
        told["all"] = found.outcome
    return told


@pytest.mark.parametrize("registry_id", one_in(4, BREAKS))
def test_a_common_break_is_repaired_or_says_why_not(here: Runner, registry_id: str) -> None:
    code, expected = BREAKS[registry_id]
    before = made(here, code)
    assert RENAMED.get(registry_id, registry_id) in {found.registry_id for found in before.report.graph_breaks}
    assert outcomes(here, code, before) == expected


@pytest.mark.parametrize("name", one_in(4, HARD))
def test_a_break_in_unusual_code_is_repaired_or_says_why_not(here: Runner, name: str) -> None:
    code, expected = HARD[name]
    before = made(here, code)
    assert before.report.graph_breaks
    assert outcomes(here, code, before) == expected


@pytest.mark.parametrize("name", one_in(3, RECOMPILES))
def test_a_recompile_is_spared_or_has_no_repair(here: Runner, name: str) -> None:
    code, expected = RECOMPILES[name]
    before = made(here, code)
    assert before.report.recompiles
    assert outcomes(here, code, before) == expected


@pytest.mark.skipif(not torch.__version__.startswith("2.13"), reason="the cases are those of torch 2.13")
@pytest.mark.parametrize("registry_id", one_in(25, REGISTRY))
def test_what_is_offered_for_a_kind_of_the_registry_is_confirmed(here: Runner, registry_id: str) -> None:
    code = CASES[registry_id]
    before = made(here, code)
    assert registry_id in {found.registry_id for found in before.report.graph_breaks} | UNREPORTED
    told = {item.partition(":")[0]: outcome for item, outcome in outcomes(here, code, before).items()}
    assert told == OFFERED.get(registry_id, {})
