"""Kinds of graph break of torch's registry: each has a case or a reason, and hints are torch's or corrected."""

import re

import pytest

from core.analysis.findings.break_advice import TORCHS, TORCHS_REASON, break_advice
from core.analysis.findings.finding import RunFacts, book
from core.analysis.registry import graph_break_registry
from core.analysis.repairs.source import SETTINGS
from core.report import GraphBreak, Place
from tests.support.registry_cases import CASES, FOLLOWED, RAISE, REASONS, WITHOUT
from tests.support.reports.findings import QUIET

ENTRIES = graph_break_registry().entries
OF_SETTINGS = {registry_id for setting in SETTINGS.values() for registry_id in setting.registry_ids}


def test_each_kind_has_a_case_or_the_reason_why_not() -> None:
    assert set(CASES) | set(REASONS) == set(ENTRIES)
    assert set(CASES) & set(REASONS) == set()
    assert len(REASONS) == sum(len(ids.split()) for ids in WITHOUT.values())
    assert len(CASES) >= 250
    assert RAISE | set(FOLLOWED) <= set(CASES)


@pytest.mark.parametrize("registry_id", sorted(set(ENTRIES) - OF_SETTINGS))
def test_the_hint_of_a_kind_without_a_repair_is_torchs_or_corrected(registry_id: str) -> None:
    entry = ENTRIES[registry_id]
    place = Place("/home/me/model.py", 3)
    found = GraphBreak(entry.type, entry.explanation, entry.hints, "", registry_id, place, "f(x)", (), ("0/0",))
    advice = break_advice(RunFacts(QUIET), found)
    if advice.startswith((TORCHS, TORCHS_REASON)):
        assert advice.removeprefix(f"{TORCHS} ").removeprefix(f"{TORCHS_REASON} ") in (*entry.hints, entry.explanation)
    else:
        assert advice not in (*entry.hints, entry.explanation)


def test_a_source_that_is_searched_as_a_whole_is_searched_from_its_start_alone() -> None:
    """From each of its characters, a file of 20 KB would take seconds."""
    sources = [row["source"] for rows in book().values() for row in rows if "source" in row]
    ahead = [source for source in sources if re.match(r"\(\?s\)(\\A)?\(\?=", source)]
    assert len(ahead) > 5
    assert all(source.startswith(r"(?s)\A(?=") for source in ahead)
