"""Each case of torch's registry raises its graph break with torch alone; hints that are followed leave none."""

import json
import subprocess
import sys
from typing import Any

import pytest
import torch

from tests.support.places import ROOT
from tests.support.registry_cases import CASES, FOLLOWED, RAISE
from tests.support.sample import cases_of, one_in

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not torch.__version__.startswith("2.13"), reason="the cases are those of torch 2.13"),
]


@pytest.fixture(scope="module")
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outcome of each case that this session tests, all in one process."""
    names = cases_of(request, "case")
    command = [sys.executable, "-m", "tests.support.registry_cases", str(tmp_path_factory.mktemp("cases")), *names]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize("case", one_in(10, CASES))
def test_a_case_raises_its_break(told: dict[str, Any], case: str) -> None:
    assert case in told[case]["raised"]
    assert bool(told[case]["error"]) == (case in RAISE), told[case]["error"]


@pytest.mark.parametrize("case", one_in(10, [f"{registry_id}+" for registry_id in FOLLOWED]))
def test_torchs_hint_that_is_followed_leaves_no_break(told: dict[str, Any], case: str) -> None:
    assert told[case] == {"raised": [], "error": "", "equal": True}
